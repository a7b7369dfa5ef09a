// What a wait receives of the calls that its grid has left, if these are what it waits for: from
// the channels, which it holds, for receives that its block knows, the lanes' ones.
//
// Invariant: as of whoever begins (series_wait_device.hpp, series_posted_device.hpp): no other
// receive of the rank comes before those, and nobody else reads from these channels meanwhile. What
// is not for one of them, or not as it should be, is left where it is.
#pragma once

#include "series_device.hpp"

namespace gmpi::device::peer {

/// Whether `count` requests are those of all calls that have been left, but for those whose wait
/// has been left, too; and null ones. A warp, whole.
GMPI_DEVICE bool are_of_series(const Series &series, const MPI_Request *requests, int count) {
  const std::uint32_t lane = lane_index();
  const std::uint32_t all = series.count(); // (whoever returns may change it)
  const MPI_Request its =
      lane < static_cast<std::uint32_t>(count) ? requests[lane] : MPI_Request(MPI_REQUEST_NULL);
  const bool is_null = its == MPI_Request(MPI_REQUEST_NULL) || its == null_peer_request();
  const std::uint32_t slot = is_null || !is_kernel_request(its) ? 0 : decode_request(its).slot;
  const std::uint32_t waited = waited_calls();
  // Mostly they are named in the order in which they have been made.
  const unsigned theirs = __ballot_sync(whole_warp, !is_null);
  const std::uint32_t place = __popc(theirs & ((1u << lane) - 1));
  if (waited == 0 && __all_sync(whole_warp, is_null || slot == series.call[place].slot))
    return static_cast<std::uint32_t>(__popc(theirs)) == all;
  std::uint32_t found = 0; // of the series
  bool known = is_null;
  GMPI_NO_UNROLL
  for (std::uint32_t i = 0; i < all; ++i) {
    const bool is_it = slot == series.call[i].slot && (waited >> i & 1) == 0;
    known = known || is_it;
    found += __any_sync(whole_warp, is_it) || (waited >> i & 1) != 0;
  }
  return found == all && __all_sync(whole_warp, known);
}

/// The channels that a series' receives come by: of a lane that receives, those from its rank. A
/// warp, whole; its functions call none.
struct ReceivingChannels {
  bool receives;
  std::uint32_t peer, first; ///< the lane of the first receive from that rank
  bool is_first, held;
  unsigned long long word;
  Position at;
  std::uint64_t *common, *owned; ///< rings

  /// They are under way when it returns.
  GMPI_DEVICE ReceivingChannels(const State &state, const Series &series) {
    const std::uint32_t lane = lane_index();
    const LeftCall &call = series.call[lane];
    receives = lane < series.count() && !call.sends;
    peer = receives ? call.peer : max_peers;
    held = false;
    word = at.common = at.owned = 0; // (nvcc would load initial values of a struct)
    common = owned = nullptr;
    if (receives) {
      word = load_relaxed_device(&state.receiving[peer].next);
      at.owned = load_relaxed_device(&state.receiving[owned_channel(peer)].next);
      common = state.channels[peer].in;
      owned = state.channels[owned_channel(peer)].in;
    }
    first = __ffs(static_cast<int>(__match_any_sync(whole_warp, peer))) - 1;
    is_first = receives && first == lane;
  }

  /// Whether nobody had hold of the lane's ones.
  GMPI_DEVICE bool are_free() const { return !is_first || (word & locked) == 0; }
  /// Tries to take hold of the lane's ones.
  GMPI_DEVICE void take_hold(State &state) {
    held = is_first && try_lock_channels(state, peer, word);
    word = of_lane(word, first);
    at = position_of(word, of_lane(at.owned, first));
  }
  GMPI_DEVICE bool has_hold() const { return held || !is_first; }
  GMPI_DEVICE void let_go(State &state) const {
    if (held)
      let_channels_go(state, peer, at);
  }
  /// Notes in the series how far they have been read: its receives are open.
  GMPI_DEVICE void note(Series &series) const {
    LeftCall &call = series.call[lane_index()];
    if (receives) {
      call.received.rings[0] = common;
      call.received.rings[1] = owned;
      call.received.common = at.common;
      call.received.owned = at.owned;
    }
    const unsigned open = __ballot_sync(whole_warp, receives);
    const unsigned ranks = __ballot_sync(whole_warp, is_first);
    if (lane_index() == 0) {
      series.open = open;
      series.ranks = ranks;
    }
  }
};

/// What a lane sees of a message that may begin at a slot.
struct FrontOfMessage {
  Packet packets[header_packets + 1];

  GMPI_DEVICE void load(std::uint64_t *ring, unsigned long long slot) {
    GMPI_UNROLL
    for (std::uint32_t p = 0; p <= header_packets; ++p)
      packets[p] = Packet::load(packet_at(ring, slot, p));
  }
  /// Whether it is there, and its turn.
  GMPI_DEVICE bool has_come(std::uint32_t channel, unsigned long long slot,
                            const Position &at) const {
    bool shows = true;
    GMPI_UNROLL
    for (std::uint32_t p = 0; p < header_packets; ++p)
      shows = shows && packets[p].shows(lap_of(slot));
    return shows && at.allows(channel, packets[header_packets - 1].data());
  }
};

/// A message that a lane has found: where, and what it says.
struct FoundMessage {
  std::uint32_t channel;
  std::uint64_t *ring;
  unsigned long long slot;
  Header header;

  GMPI_DEVICE unsigned long long end() const { return slot + slots_of(header); }
  GMPI_DEVICE FoundMessage of(std::uint32_t lane) const {
    FoundMessage its = *this;
    its.channel = of_lane(channel, lane);
    its.ring = pointer_of_lane(ring, lane);
    its.slot = of_lane(slot, lane);
    its.header.tag = of_lane(header.tag, lane);
    its.header.context = of_lane(header.context, lane);
    its.header.kind = static_cast<MessageKind>(of_lane(static_cast<int>(header.kind), lane));
    its.header.bytes = of_lane(header.bytes, lane);
    its.header.form = static_cast<Form>(of_lane(static_cast<int>(header.form), lane));
    its.header.request = static_cast<std::uint16_t>(of_lane(int(header.request), lane));
    its.header.serial = static_cast<std::uint16_t>(of_lane(int(header.serial), lane));
    return its;
  }
};

/// The caller's lane receives a message, if it can be. `data`: its packet behind the header, as it
/// was seen. It reads no more than that; returns whether there is more in the channel.
template <bool with_long>
GMPI_DEVICE bool take_front(State &state, LeftCall &call, const FoundMessage &found,
                            const Packet &data) {
  const auto bytes = static_cast<std::uint32_t>(found.header.bytes);
  call.ring = found.ring;
  call.first = found.slot;
  call.carried = bytes;
  call.dense = found.header.form == Form::dense;
  call.received.channel = found.channel;
  call.tag = found.header.tag;
  call.over = true;
  call.announced = with_long && found.header.kind == MessageKind::announced;
  if (call.announced) {
    take_announced_left(state, call, found.channel, found.header);
    return false;
  }
  if constexpr (with_long)
    call.received.use = found.header.serial;
  if (bytes > packet_bytes)
    return true;
  const std::uint32_t lap = lap_of(found.slot);
  if (bytes != 0)
    store_data(static_cast<unsigned char *>(call.data), bytes,
               data.shows(lap)
                   ? data.data()
                   : await_packet(packet_at(found.ring, found.slot, header_packets), lap));
  return false;
}

/// Turns of receive_left() between two times that it asks this:
constexpr unsigned between_looks = 16;
/// whether a message that is to be stored, `lands` in this lane, comes through the channels
/// instead: who sends it has not mapped where it belongs, and may have written all of it. `at`: how
/// far they have been read. A warp, whole.
GMPI_DEVICE bool come_by_channels(const LeftCall &call, bool lands, const Position &at) {
  bool comes = false;
  if (lands) {
    FrontOfMessage front, owned;
    front.load(call.received.rings[0], at.common);
    owned.load(call.received.rings[1], at.owned);
    const bool by_owned = owned.has_come(owned_channel(call.peer), at.owned, at);
    if (by_owned)
      front = owned;
    comes = (by_owned || front.has_come(call.peer, at.common, at)) &&
            unpack_header(front.packets[0].data(), front.packets[1].data(), 0).kind ==
                MessageKind::data;
  }
  return __any_sync(whole_warp, comes) != 0;
}

/// When receive_left() has waited in vain for a while: its `shares`.
struct Pause {
  static constexpr unsigned patient = 4;           // turns
  static constexpr std::uint32_t most_tries = 128; // see series_pending_device.hpp
  unsigned turns = 0;

  /// In another turn that nothing has come: whether to try what is pending may help, or to give
  /// back what has been read. `received`: whether this lane's receive has been, others being
  /// `open`. A warp, whole.
  GMPI_DEVICE bool is_due(const Series &series, unsigned open, bool received) {
    if (++turns < patient)
      return false;
    const unsigned unfreed = __ballot_sync(whole_warp, received) & ~series.freed;
    return series.pending != 0 || (series.refills && open != 0 && unfreed != 0);
  }
};

/// Receives, as far as the block's first warp can do it: it, whole. Returns answered, where all has
/// been received, and nothing is left but to end the call and to give slots back; bundling, where
/// all of the block are to read messages before it goes on; receiving, where it has read some by
/// itself (`alone`), and is to be called again; storing, where all blocks are to store some;
/// working, where the other blocks are to end what they carry before (`shares`: they may be at it);
/// sending, where it has waited for a while, and what is pending is to be tried again (so, too); or
/// elsewhere, where the rest of the calls are to be made the usual way. `posted`: they are posted,
/// and it has the lock. It calls no function.
///
/// Messages come in the order in which they are sent, and mostly that is the order of the receives,
/// and they are as long as there is room. So each lane looks where its message begins if it is so.
template <bool with_long, bool shares, bool posted, bool alone = false>
GMPI_DEVICE Begun receive_left(State &state, Series &series) {
  const std::uint32_t lane = lane_index();
  LeftCall &call = series.call[lane];
  const unsigned below = (1u << lane) - 1;
  const bool receives = lane < series.count() && !call.sends;
  const std::uint32_t peer = receives ? call.peer : max_peers;
  const unsigned group = __match_any_sync(whole_warp, peer);
  const Wanted wanted{call.context, peer, call.tag};
  const std::uint32_t room = receives ? call.bytes : 0;
  const auto own = static_cast<std::uint32_t>(__popc(__ballot_sync(whole_warp, receives)));
  const auto slots = with_long && room > (series.wide ? wide_bytes : eager_bytes)
                         ? 1
                         : static_cast<std::uint32_t>(slots_for(room, room >= least_dense));
  LongOnes ones(series);
  unsigned open = series.open, unread = 0;
  Position at{call.received.common, call.received.owned};
  Patience patience;
  bool usual = true, stores = false, pauses = false;
  const unsigned pending = shares ? series.pending : 0;
  Pause pause;
  GMPI_NO_UNROLL
  for (unsigned turns = 0; (open | pending) != 0 || (with_long && ones.any()); ++turns) {
    if constexpr (with_long) {
      usual = ones.look(state, call);
      stores = usual && ones.are_to_be_stored();
      if (!usual || stores)
        break;
    }
    const bool is_open = (open >> lane & 1) != 0;
    const Summary summary = look(state);
    std::uint32_t before = 0; // slots, if it is so
    GMPI_NO_UNROLL
    for (unsigned those = open; those != 0; those &= those - 1) {
      const std::uint32_t j = __ffs(static_cast<int>(those)) - 1;
      const std::uint32_t its = of_lane(slots, j);
      if (j < lane && (group >> j & 1) != 0)
        before += its;
    }
    FrontOfMessage front, owned;
    bool by_common = false, by_owned = false;
    if (is_open) {
      front.load(call.received.rings[0], at.common + before);
      owned.load(call.received.rings[1], at.owned + before);
      by_common = front.has_come(peer, at.common + before, at);
      by_owned = owned.has_come(owned_channel(peer), at.owned + before, at);
    }
    // All from a rank come by the channel by which the first has.
    const std::uint32_t first = __ffs(static_cast<int>(group & open)) - 1;
    const bool from_owned = (__ballot_sync(whole_warp, by_common) >> first % 32 & 1) == 0;
    const bool has_come = from_owned ? by_owned : by_common;
    if (from_owned)
      front = owned;
    const FoundMessage found{from_owned ? owned_channel(peer) : peer,
                             is_open ? call.received.rings[from_owned] : nullptr,
                             (from_owned ? at.owned : at.common) + before,
                             unpack_header(front.packets[0].data(), front.packets[1].data(), 0)};
    const auto may_take = [&](const Header &header) {
      return is_open && wanted.is(header, peer) && header.bytes <= room &&
             (header.kind == MessageKind::eager
                  ? header.form == Form::packets ||
                        (header.form == Form::dense && is_in_eights(call.data))
                  : with_long && header.kind == MessageKind::announced);
    };
    // They are there as far as each begins where the one before it ends.
    const unsigned ahead = group & open & below;
    const unsigned long long begin = of_lane(found.end(), 31 - __clz(static_cast<int>(ahead | 1)));
    const unsigned there =
        __ballot_sync(whole_warp, has_come && (ahead == 0 || begin == found.slot));
    const bool is_in_row = is_open && ((ahead | 1u << lane) & ~there) == 0;
    const unsigned good = __ballot_sync(whole_warp, is_in_row && may_take(found.header));
    const bool takes = is_in_row && ((ahead | 1u << lane) & ~good) == 0;
    const unsigned taken = __ballot_sync(whole_warp, takes);
    const bool has_more =
        takes && take_front<with_long>(state, call, found, front.packets[header_packets]);
    unread |= __ballot_sync(whole_warp, has_more);
    const unsigned theirs = group & taken;
    const unsigned long long end = of_lane(found.end(), 31 - __clz(static_cast<int>(theirs | 1)));
    if (theirs != 0)
      at.move(found.channel, end);
    open &= ~taken;
    if constexpr (with_long)
      ones.landing |= __ballot_sync(whole_warp, takes && call.announced);
    // What is behind one that is not for the receive at its place may be for any of the others.
    unsigned others = __ballot_sync(whole_warp, is_in_row && !takes);
    const bool nothing_new = (taken | others) == 0;
    GMPI_NO_UNROLL
    for (; others != 0 && usual; others &= others - 1) {
      const std::uint32_t its = __ffs(static_cast<int>(others)) - 1;
      const FoundMessage other = found.of(its);
      const bool may_be_its = (group & open & 1u << lane) != 0 && (group >> its & 1) != 0;
      const unsigned matching =
          __ballot_sync(whole_warp, may_be_its && wanted.is(other.header, peer));
      const bool is_mine = (matching & (1u << lane | below)) == 1u << lane;
      const bool can = is_mine && may_take(other.header);
      const unsigned taker = __ballot_sync(whole_warp, can);
      unread |= __ballot_sync(whole_warp, can && take_front<with_long>(state, call, other, {}));
      usual = taker != 0;
      open &= ~taker;
      if constexpr (with_long)
        ones.landing |= __ballot_sync(whole_warp, can && call.announced);
      if (usual && (group >> its & 1) != 0)
        at.move(other.channel, other.end());
    }
    if (unread != 0 || !usual)
      break;
    if (nothing_new) {
      Summary others = summary;
      if constexpr (posted)
        others.posted = (summary.posted ^ own) | load_relaxed_device(&state.wanted);
      usual = __any_sync(whole_warp, is_contended(others) || patience.ends(turns)) == 0;
      if constexpr (with_long)
        usual = usual && !(series.wide && ones.has_unstorable(state, call)) &&
                !((turns + 1) % between_looks == 0 &&
                  come_by_channels(call, (ones.landing >> lane & 1) != 0, at));
      if constexpr (shares) {
        usual = usual && series.tries < Pause::most_tries;
        pauses = usual && pause.is_due(series, open, receives && call.over);
      }
      if (!usual || pauses)
        break;
      relax();
    }
  }
  bool again = false;
  if constexpr (alone)
    if (unread != 0 && carry_alone<true>(series, unread)) {
      unread = 0;
      again = open != 0 && usual;
    }
  // What is pending may have room before all is carried.
  const bool tries = pauses && pending != 0 && series.tries % 2 == 0;
  const bool joins = shares && unread == 0 && series.sharing && !tries;
  const bool goes_on = unread != 0 || stores || joins || pauses || again;
  const bool all = (open | pending) == 0 && !(with_long && ones.any());
  if (with_long && !goes_on)
    all ? acquire_system() : leave_landing(state, ones);
  if (receives && goes_on) {
    call.received.common = at.common;
    call.received.owned = at.owned;
  } else if ((series.ranks >> lane & 1) != 0) {
    let_channels_go(state, peer, at);
  }
  __syncwarp();
  if (lane == 0)
    series.open = open;
  const bool carries = (unread >> lane & 1) != 0;
  if (with_long && carries && call.carried > eager_bytes)
    give_token_back(state, peer, call.received.use);
  note_to_carry(series, carries, call.carried);
  if constexpr (with_long) {
    if (lane == 0)
      ones.keep(series);
    if (stores && !joins)
      ones.leave_to_all(call, series);
  }
  return joins     ? Begun::working
         : stores  ? Begun::storing
         : pauses  ? Begun::sending
         : again   ? Begun::receiving
         : goes_on ? Begun::bundling
         : all     ? Begun::answered
                   : Begun::elsewhere;
}

/// The slots that a message which has been received has in its channel.
GMPI_DEVICE std::uint64_t received_slots(const LeftCall &call) {
  return call.announced ? 1 : slots_for(call.carried, call.dense);
}

/// Gives the slots back of all that has been received, but for those of `freed`. The same warp,
/// once who waits has been told, or will not be until more has been done.
GMPI_DEVICE void free_received(const State &state, const Series &series, std::uint32_t count,
                               unsigned freed = 0) {
  constexpr std::uint32_t most_by_one = 8;
  const std::uint32_t lane = lane_index();
  const LeftCall &call = series.call[lane];
  const bool frees = lane < count && !call.sends && call.over && (freed >> lane & 1) == 0;
  const auto slots = static_cast<std::uint32_t>(frees ? received_slots(call) : 0);
  std::uint32_t *const its = frees ? state.channels[call.received.channel].in_freed : nullptr;
  if (slots <= most_by_one)
    free_share(its, call.first, call.first + slots, 0, 1);
  GMPI_NO_UNROLL
  for (unsigned those = __ballot_sync(whole_warp, slots > most_by_one); those != 0;
       those &= those - 1) {
    const std::uint32_t i = __ffs(static_cast<int>(those)) - 1;
    const unsigned long long first = series.call[i].first;
    free_share(pointer_of_lane(its, i), first, first + of_lane(slots, i), lane, 32);
  }
}
/// The same by all of the block, a warp a message, of the calls that it has made last. They meet
/// before it leaves another one.
GMPI_DEVICE void free_made(const State &state, const Series &series) {
  const std::uint32_t warps = block_threads() / 32;
  GMPI_NO_UNROLL
  for (std::uint32_t i = thread_index() / 32; i < series.made_count(); i += warps) {
    const LeftCall &call = series.call[i];
    if (call.sends || (series.freed >> i & 1) != 0)
      continue;
    free_share(state.channels[call.received.channel].in_freed, call.first,
               call.first + received_slots(call), lane_index(), 32);
  }
}

} // namespace gmpi::device::peer
