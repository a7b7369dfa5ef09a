// Short messages that threads of a warp send, or receive, at the same time, each for itself: the
// lanes that have come together take slots of the common channel at once, and look together at what
// has arrived.
//
// Invariant: lanes of a group go to, or wait for, the same rank. None waits for another lane's
// message: who has its own leaves, and the group goes on without it. Where anything else is to be
// done, nothing has happened, and each lane goes another way.
#pragma once

#include "alone_device.hpp"

namespace gmpi::device::peer {

struct LaneGroup {
  std::uint32_t mask;

  GMPI_DEVICE std::uint32_t count() const { return static_cast<std::uint32_t>(__popc(mask)); }
  GMPI_DEVICE std::uint32_t first() const { return static_cast<std::uint32_t>(__ffs(mask)) - 1; }
  GMPI_DEVICE bool leads() const { return lane_index() == first(); }
  GMPI_DEVICE std::uint32_t rank() const {
    return static_cast<std::uint32_t>(__popc(mask & ((1u << lane_index()) - 1)));
  }
  /// The value that lane `lane`, or the first, has.
  template <class T> GMPI_DEVICE T of(T value, std::uint32_t lane) const {
    return __shfl_sync(mask, value, static_cast<int>(lane));
  }
  template <class T> GMPI_DEVICE T of_first(T value) const { return of(value, first()); }
  GMPI_DEVICE std::uint32_t those(bool which) const { return __ballot_sync(mask, which); }
};

/// Of the lanes of `mask`, all of which call it, those whose message goes to, or comes from, the
/// same rank as the caller's.
GMPI_DEVICE LaneGroup group_by_peer(std::uint32_t mask, std::uint32_t peer) {
  return {__match_any_sync(mask, peer)};
}

// --- sending ---

/// Takes `count` slots of the common channel to `peer`, if they are free. One thread.
GMPI_DEVICE bool take_free_slots(State &state, std::uint32_t peer, std::uint32_t count,
                                 Slots &taken) {
  unsigned long long free_until = load_relaxed_device(&state.sending[peer].free_until);
  unsigned long long word = load_relaxed_device(&state.sending[peer].next);
  GMPI_NO_UNROLL
  for (;;) {
    const unsigned long long end = common_of(word) + count;
    if (end > free_until) {
      if (!find_free(state, peer, end))
        return false;
      free_until = end;
    }
    const unsigned long long found =
        cas_relaxed_device(&state.sending[peer].next, word, word + count);
    if (found == word)
      break;
    word = found;
  }
  taken = {common_of(word), owned_of(word)};
  return true;
}

/// MPI_Send by those of the lanes here whose messages take one slot. Whether the caller's has been
/// sent; else nothing has happened.
GMPI_DEVICE bool send_in_lanes(const Arguments &a, const LanesHere &lanes) {
  const Comm *comm = find_comm(a.comm);
  const Buffers buffers = buffers_of(Function::Send, a, message_bytes);
  const bool can =
      comm != nullptr && sends_well(*comm, a, buffers) && buffers.in_bytes <= slot_bytes;
  const std::uint32_t able = LaneGroup{lanes.mask}.those(can);
  if (!can)
    return false;
  State &state = *context.peer;
  const std::uint32_t peer = comm->peer_of[a.dest];
  const LaneGroup group = group_by_peer(able, peer);
  const auto bytes = static_cast<std::uint32_t>(buffers.in_bytes);
  Slots taken{};
  bool has = false;
  if (group.leads()) {
    Patience patience;
    GMPI_NO_UNROLL
    for (unsigned turns = 0; !has; ++turns) {
      has = take_free_slots(state, peer, group.count(), taken);
      const Summary summary = look(state);
      if (has && summary.told != 0)
        tell_progress(state);
      if (is_contended(summary) || patience.ends(turns))
        break;
    }
  }
  if (group.of_first(int(has)) == 0)
    return false;
  const unsigned long long slot = group.of_first(taken.first) + group.rank();
  const Header header{MessageKind::eager,          comm->context, 0,    0, a.send_tag, bytes,
                      group.of_first(taken.after), Form::packets, false};
  const std::uint32_t lap = lap_of(slot);
  std::uint64_t *const to = packet_at(state.channels[peer].out, slot, 0);
  auto *from = static_cast<const unsigned char *>(buffers.in);
  GMPI_NO_UNROLL
  for (std::uint32_t at = 0; at < bytes; at += packet_bytes)
    store_packet(to + (header_packets + at / packet_bytes) * packet_words,
                 load_data(from + at, bytes - at), lap);
  GMPI_UNROLL
  for (std::uint32_t p = 0; p < header_packets; ++p)
    store_packet(to + p * packet_words, pack_header(header, p), lap);
  count_call(state, bytes);
  return true;
}

// --- receiving ---

/// What a lane sees of a slot that may hold a message of one slot.
struct SlotFront {
  std::uint64_t words[header_packets];
  bool there; ///< it does, and it comes with its data
  bool odd;   ///< it holds another message

  GMPI_DEVICE void load(const Channel &channel, unsigned long long slot) {
    const std::uint64_t *from = packet_at(channel.in, slot, 0);
    Packet packets[header_packets];
    GMPI_UNROLL
    for (std::uint32_t p = 0; p < header_packets; ++p)
      packets[p] = Packet::load(from + p * packet_words);
    there = true;
    GMPI_UNROLL
    for (std::uint32_t p = 0; p < header_packets; ++p) {
      there = there && packets[p].shows(lap_of(slot));
      words[p] = packets[p].data();
    }
    const Header its = header();
    odd = there && (its.kind != MessageKind::eager || its.bytes > slot_bytes);
    there = there && !odd;
  }
  GMPI_DEVICE Header header() const { return unpack_header(words[0], words[1], words[2]); }
};

/// How many of the group's first lanes `there` holds for.
GMPI_DEVICE std::uint32_t run_of(const LaneGroup &group, bool there) {
  const std::uint32_t missing = group.mask & ~group.those(there);
  const std::uint32_t before = missing != 0 ? (missing & (~missing + 1)) - 1 : ~0u;
  return static_cast<std::uint32_t>(__popc(group.mask & before));
}

/// Reads a message of one slot.
GMPI_DEVICE void read_slot(const Channel &channel, unsigned long long slot, std::uint32_t bytes,
                           unsigned char *to) {
  const std::uint32_t lap = lap_of(slot);
  const std::uint64_t *from = packet_at(channel.in, slot, header_packets);
  GMPI_NO_UNROLL
  for (std::uint32_t at = 0; at < bytes; at += packet_bytes)
    store_data(to + at, bytes - at, await_packet(from + at / packet_bytes * packet_words, lap));
  store_relaxed_system(channel.in_freed + slot % channel_slots, lap);
}

/// What lanes wait for, each its own.
struct LaneReceive {
  const Comm *comm;
  int tag;
  unsigned char *data;
  unsigned long long room;

  GMPI_DEVICE bool takes(const Header &header) const {
    return is_for(header, *comm, tag) && header.bytes <= room;
  }
};

/// What a group sees that looks at what has arrived, without holding the channels.
enum class Seen {
  nothing,   ///< no message, or nobody can tell
  own,       ///< a message for one of its lanes is next
  others,    ///< one that is not, or somebody else holds the channels
  elsewhere, ///< there is something else to do
};

/// Looks at the next messages from `peer`; `word` is that of the channels then.
GMPI_DEVICE Seen look_in_lanes(State &state, const LaneGroup &group, std::uint32_t peer,
                               const LaneReceive &receive, unsigned long long &word) {
  bool stop = false;
  if (group.leads()) {
    word = load_relaxed_device(&state.receiving[peer].next);
    stop = is_contended(look(state)); // a message that came before may be kept
  }
  word = group.of_first(word);
  if (group.of_first(int(stop)) != 0)
    return Seen::elsewhere;
  if ((word & locked) != 0)
    return Seen::others;
  Position at = position_of(state, peer, word);
  at.owned = group.of_first(at.owned);
  SlotFront common, owned;
  common.load(state.channels[peer], at.common);
  owned.load(state.channels[owned_channel(peer)], at.owned);
  const bool by_common = common.there && at.allows(peer, common.words[header_packets - 1]);
  const bool by_owned =
      owned.there && at.allows(owned_channel(peer), owned.words[header_packets - 1]);
  const bool mine =
      (by_common && receive.takes(common.header())) || (by_owned && receive.takes(owned.header()));
  if (group.those(mine) != 0)
    return Seen::own;
  if (group.those(common.odd || owned.odd) != 0)
    return Seen::elsewhere;
  return group.those(by_common || by_owned) != 0 ? Seen::others : Seen::nothing;
}

/// Gives the group's lanes what has arrived for them from `peer`, whose channels it holds, and
/// gives these back. Whether the caller has got its message.
GMPI_DEVICE bool take_in_lanes(State &state, const LaneGroup &group, std::uint32_t peer,
                               Position at, const LaneReceive &receive) {
  const std::uint32_t rank = group.rank();
  SlotFront front, owned;
  front.load(state.channels[peer], at.common + rank);
  owned.load(state.channels[owned_channel(peer)], at.owned + rank);
  const bool stop = group.leads() && is_contended(look(state)); // as nobody keeps any from now on
  std::uint32_t channel = peer;
  std::uint32_t run =
      run_of(group, front.there && at.allows(peer, front.words[header_packets - 1]));
  const Header next =
      unpack_header(group.of_first(front.words[0]), group.of_first(front.words[1]), 0);
  if (run == 0 || group.those(receive.takes(next)) == 0) { // it may be the other's turn as well
    channel = owned_channel(peer);
    run = run_of(group, owned.there && at.allows(channel, owned.words[header_packets - 1]));
    front = owned;
  }
  if (group.of_first(int(stop)) != 0)
    run = 0;
  // In their order: each is the first lane's that it is for.
  const unsigned long long first = at.in(channel);
  std::uint32_t taken = 0, bytes = 0;
  unsigned long long slot = 0;
  bool has_own = false;
  GMPI_NO_UNROLL
  for (std::uint32_t left = group.mask; taken < run; ++taken, left &= left - 1) {
    const std::uint32_t lane = static_cast<std::uint32_t>(__ffs(static_cast<int>(left))) - 1;
    const Header header =
        unpack_header(group.of(front.words[0], lane), group.of(front.words[1], lane), 0);
    const std::uint32_t takers = group.those(!has_own && receive.takes(header));
    if (takers == 0)
      break;
    if (lane_index() + 1 == static_cast<std::uint32_t>(__ffs(static_cast<int>(takers)))) {
      has_own = true;
      slot = first + taken;
      bytes = static_cast<std::uint32_t>(header.bytes);
    }
  }
  if (group.leads()) {
    at.move(channel, first + taken);
    let_channels_go(state, peer, at);
  }
  if (has_own)
    read_slot(state.channels[channel], slot, bytes, receive.data);
  return has_own;
}

/// MPI_Recv by those of the lanes here that name a rank, and want no status. Whether the caller has
/// received its message; else nothing has happened.
GMPI_DEVICE bool receive_in_lanes(const Arguments &a, const LanesHere &lanes) {
  constexpr std::uint32_t most_looks = 256; // at a message that nobody takes
  const Comm *comm = find_comm(a.comm);
  const Buffers buffers = buffers_of(Function::Recv, a, message_bytes);
  const bool can =
      comm != nullptr && !wants_status(a) && a.source >= 0 && receives_well(*comm, a, buffers);
  const std::uint32_t able = LaneGroup{lanes.mask}.those(can);
  if (!can)
    return false;
  State &state = *context.peer;
  const std::uint32_t peer = comm->peer_of[a.source];
  LaneGroup group = group_by_peer(able, peer);
  const LaneReceive receive{comm, a.recv_tag, static_cast<unsigned char *>(buffers.out),
                            buffers.out_bytes};
  Patience patience;
  std::uint32_t looks = 0;
  unsigned long long before = 0;
  GMPI_NO_UNROLL
  for (unsigned turns = 0;; ++turns) {
    unsigned long long word = 0;
    const Seen seen = look_in_lanes(state, group, peer, receive, word);
    looks = seen == Seen::others && word == before ? looks + 1 : 0;
    before = word;
    const bool ends = group.of_first(int(patience.ends(turns))) != 0;
    if (seen == Seen::elsewhere || looks == most_looks || ends)
      return false;
    const bool holds = seen == Seen::own && group.leads() && try_lock_channels(state, peer, word);
    if (group.of_first(int(holds)) == 0) {
      relax();
      continue;
    }
    Position at = position_of(state, peer, word);
    at.owned = group.of_first(at.owned);
    const bool has_own = take_in_lanes(state, group, peer, at, receive);
    const std::uint32_t left = group.those(!has_own);
    if (has_own)
      return true;
    group.mask = left;
  }
}

/// As far as a single thread's call comes quickly: over, or nothing. A thread alone, or several of
/// a warp.
template <Function F> GMPI_DEVICE Begun begin_alone(const Arguments &a) {
  return (F == Function::Send ? send_alone(a) : receive_alone(a)) ? Begun::over : Begun::nothing;
}
template <Function F> GMPI_DEVICE Begun begin_in_lanes(const Arguments &a) {
  const LanesHere lanes = lanes_here();
  return (F == Function::Send ? send_in_lanes(a, lanes) : receive_in_lanes(a, lanes))
             ? Begun::over
             : Begun::nothing;
}
template <Function F> constexpr bool begins_alone = F == Function::Send || F == Function::Recv;

} // namespace gmpi::device::peer
