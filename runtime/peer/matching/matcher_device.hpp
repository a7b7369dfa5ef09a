// How a warp, whole, waits where nothing is unusual: it gives what arrives from this host's ranks
// to the receives that are posted, and reads what is short, with a packet in each lane.
//
// Invariant: it looks at what is posted, and at the channels, under the lock, which it keeps from
// turn to turn while nobody wants that. So it knows how far the channels have been read and, as
// long as nothing is in lists and nothing is kept, which receives are posted: one in each lane, in
// their order. What trips to memory need nothing of each other are under way together. It calls no
// function: all of what it knows would have to be saved. Whatever is unusual is left to others
// (warp_wait_device.hpp), before anything has happened.
#pragma once

#include "../../mpi/first_warp_device.hpp"
#include "../channel/rows_device.hpp"
#include "../general/wait_device.hpp"

namespace gmpi::device::peer {

/// A look at both channels from a rank: their first packets, one in each lane of a warp.
struct LookAsWarp {
  Packet common, owned;

  /// `rings`: of the common channel, and of the owned one.
  GMPI_DEVICE void load(std::uint64_t *const (&rings)[2], const Position &at) {
    common = Packet::load(packet_at(rings[0], at.common, lane_index()));
    owned = Packet::load(packet_at(rings[1], at.owned, lane_index()));
  }

  /// The channel from `peer` whose turn it is, as find_next() says, and its packets; max_channels
  /// where nothing has come. The warp holds the channels, whose next slots are `at`.
  GMPI_DEVICE std::uint32_t find_next(std::uint32_t peer, const Position &at,
                                      Packet &packet) const {
    packet = common;
    if (has_come(peer, at, common))
      return peer;
    packet = owned;
    return has_come(owned_channel(peer), at, owned) ? owned_channel(peer) : max_channels;
  }

private:
  GMPI_DEVICE static bool has_come(std::uint32_t channel, const Position &at, const Packet &its) {
    constexpr unsigned headers = (1u << header_packets) - 1;
    const bool shows = its.shows(lap_of(at.in(channel)));
    // (Its turn it is, says the last packet of its header.)
    const bool may = lane_index() + 1 != header_packets || at.allows(channel, its.data());
    return (__ballot_sync(whole_warp, shows && may) & headers) == headers;
  }
};

/// A pointer that lane `from` has.
template <class T> GMPI_DEVICE T *pointer_of_lane(T *value, std::uint32_t from) {
  return reinterpret_cast<T *>(of_lane(reinterpret_cast<std::uint64_t>(value), from));
}

/// Reads the data of a message that is not dense, from slot number `next` on, of rows_bytes at
/// most, to an address for eight bytes. A warp, whole; `packet`: the lanes' first ones, as they
/// were seen.
GMPI_DEVICE void read_turn(std::uint64_t *ring, unsigned long long next, std::uint32_t bytes,
                           const Packet &packet, unsigned char *to) {
  constexpr std::uint32_t each = row_count;
  const std::uint32_t lane = lane_index();
  const auto all = static_cast<std::uint32_t>(packets_for(bytes));
  Packet found[each];
  found[0] = packet;
  GMPI_UNROLL
  for (std::uint32_t k = 1; k < each; ++k)
    if (lane + 32 * k < all)
      found[k] = Packet::load(packet_at(ring, next, lane + 32 * k));
  GMPI_UNROLL
  for (std::uint32_t k = 0; k < each; ++k)
    if (const std::uint32_t p = apart(lane + 32 * k); p >= header_packets && p < all) {
      const std::uint32_t lap = lap_of(next + p / slot_packets);
      const std::uint32_t at = (p - header_packets) * packet_bytes;
      store_data(to + at, bytes - at,
                 found[k].shows(lap) ? found[k].data()
                                     : await_packet(packet_at(ring, next, p), lap));
    }
}

/// See above. A turn begins with glance().
struct Matcher {
  static constexpr std::uint32_t most_peers = 32;

  State &state;
  const std::uint32_t own;  ///< the lane's request, or `nothing`: its warp waits for these
  unsigned waiting = 0;     ///< lanes whose request is not done yet; bits
  bool own_is_done = false; ///< the lane's message has been read here
  bool holds = false;       ///< the lock
  unsigned channels = 0;    ///< of which ranks it holds them; bits

  GMPI_DEVICE Matcher(State &state, std::uint32_t own) : state(state), own(own) {}

  /// Looks what there is to do, before turn(): nobody waits for what that loads before it is used.
  GMPI_DEVICE void glance() {
    free_slots();
    const std::uint32_t lane = lane_index();
    lock_wanted_ = load_relaxed_device(&state.wanted);
    end_ = load_relaxed_device(&state.posts.next);
    if (!holds) {
      lock_ = load_relaxed_device(&state.lock);
      begin_ = load_relaxed_device(&state.posts.first);
      if (lane < state.peers) {
        at_.common = load_relaxed_device(&state.receiving[lane].next);
        at_.owned = load_relaxed_device(&state.receiving[owned_channel(lane)].next);
        rings_[0] = state.channels[lane].in;
        rings_[1] = state.channels[owned_channel(lane)].in;
      }
    } else {
      load_packets();
    }
  }

  /// Whether somebody else needs the lock.
  GMPI_DEVICE bool is_in_the_way() const { return holds && of_lane(lock_wanted_, 0) != 0; }

  /// Deals with what has arrived, if it gets the lock. Returns false where something is not for it.
  GMPI_DEVICE bool turn() {
    bool usual = true;
    if (holds) {
      hold_channels();
      look_at_posts(of_lane(end_, 0));
    } else if (!take_hold(usual)) {
      return usual;
    }
    const bool has_one = has_one_rank();
    GMPI_NO_UNROLL
    for (unsigned news = has_one ? channels : look_at_channels(); usual && news != 0;
         news &= news - 1) {
      const std::uint32_t peer = __ffs(static_cast<int>(news)) - 1;
      if (!has_one)
        look_at(peer);
      usual = take_messages(peer);
    }
    return usual;
  }
  /// So many messages all of the block are to read now: block.copies says which.
  GMPI_DEVICE std::uint32_t reads() const { return reads_; }

  /// Tells those who wait for what has been read.
  GMPI_DEVICE void tell_done() {
    __syncwarp();
    if (lane_index() < done_)
      release_device(); // what the whole warp has read is there before that
    note_done();
  }

  /// Gives all back. Those who wait for what has been read are told, too.
  GMPI_DEVICE void let_go() {
    if (!holds)
      return;
    note_gone();
    __syncwarp();
    release_device(); // what all lanes have written is there for whoever has the lock next
    note_done();
    if ((channels >> lane_index() & 1) != 0)
      let_channels_go(state, lane_index(), at_);
    if (lane_index() == 0)
      atomicExch(&state.lock, 0u);
    channels = 0;
    holds = false;
    free_slots();
  }

private:
  // What glance() has seen; of lane p: of rank p.
  std::uint32_t lock_wanted_, end_, lock_, begin_;
  LookAsWarp look_; ///< at the first packets of a single rank, or the first packet of each lane's
  // Lane p: how far the channels from rank p have been read (while it does not hold them: the
  // receiver's Lines of both); and where they are, the common one first.
  std::uint64_t *rings_[2] = {nullptr, nullptr};
  Position at_{};
  // Lane i: the i-th receive from number first_ on that the ring has.
  std::uint32_t first_ = 0, count_ = 0; ///< so many lanes have one
  unsigned long long gone_ = 0;         ///< as the ring's
  unsigned open_ = 0;                   ///< lanes whose receive has no message yet; bits
  std::uint32_t index_;
  Wanted wanted_;
  unsigned char *data_;
  unsigned long long room_;
  // Lane i: the i-th message that has been read, while nobody has been told: whose it is, and its
  // slots.
  std::uint32_t done_ = 0, freed_ = 0; ///< so many lanes have one
  std::uint32_t done_index_;
  std::uint32_t *freed_slots_;
  unsigned long long freed_first_, freed_end_;
  std::uint32_t reads_ = 0; ///< messages in block.copies

  /// What was read of the channels is given back: not before those who wait have been told, since a
  /// fence would wait until this has gone to the other ranks.
  GMPI_DEVICE void free_slots() {
    if (lane_index() < freed_)
      free_share(freed_slots_, freed_first_, freed_end_, 0, 1);
    freed_ = 0;
  }

  GMPI_DEVICE void note_done() {
    if (lane_index() < done_)
      note_state(state.requests[done_index_], RequestState::done);
    if (lane_index() == 0 && done_ != 0)
      atomicSub(&state.summary.posted, done_);
    done_ = 0;
  }
  GMPI_DEVICE void add_done(std::uint32_t request, std::uint32_t *freed, unsigned long long first,
                            unsigned long long end) {
    own_is_done = own_is_done || request == own;
    waiting &= ~__ballot_sync(whole_warp, request == own);
    if (freed_ == 32) {
      tell_done();
      free_slots();
    }
    if (lane_index() == freed_) {
      done_index_ = request;
      freed_slots_ = freed;
      freed_first_ = first;
      freed_end_ = end;
    }
    done_ = ++freed_;
  }

  GMPI_DEVICE bool has_one_rank() const {
    return channels != 0 && (channels & (channels - 1)) == 0;
  }
  GMPI_DEVICE void look_at(std::uint32_t peer) {
    std::uint64_t *const rings[] = {pointer_of_lane(rings_[0], peer),
                                    pointer_of_lane(rings_[1], peer)};
    look_.load(rings, {of_lane(at_.common, peer), of_lane(at_.owned, peer)});
  }
  GMPI_DEVICE void load_packets() {
    if (has_one_rank()) {
      look_at(__ffs(static_cast<int>(channels)) - 1);
    } else if ((channels >> lane_index() & 1) != 0) {
      look_.common = Packet::load(packet_at(rings_[0], at_.common, 0));
      look_.owned = Packet::load(packet_at(rings_[1], at_.owned, 0));
    }
  }

  /// Takes the lock, and hold of all channels that are nobody's. Not `usual`: there are lists, or
  /// kept messages.
  GMPI_DEVICE bool take_hold(bool &usual) {
    const std::uint32_t lane = lane_index();
    const bool may = lock_ == 0 && (lock_wanted_ == 0 || nanoseconds() / 1024 % 8 == 0);
    if (of_lane(int(may), 0) == 0)
      return false;
    const std::uint32_t begin = of_lane(begin_, 0);
    const unsigned long long entry = load_entry(begin, of_lane(end_, 0)); // if that is the first
    bool held = false;
    if (lane < state.peers && rings_[0] != nullptr)
      held = try_lock_channels(state, lane, at_.common);
    holds = of_lane(int(lane == 0 && atomicCAS(&state.lock, 0u, 1u) == 0), 0) != 0;
    at_ = {common_of(at_.common), at_.owned + owned_ahead(owned_of(at_.common), at_.owned)};
    if (!holds) {
      if (held)
        let_channels_go(state, lane, at_);
      return false;
    }
    acquire_device();
    channels = __ballot_sync(whole_warp, held);
    load_packets();
    const std::uint32_t first = state.posts.first, end = load_relaxed_device(&state.posts.next);
    const unsigned long long gone = state.posts.gone;
    const std::uint32_t unusual = state.in_lists | load_relaxed_device(&state.summary.kept);
    load_receive(entry, begin);
    first_ = of_lane(first, 0);
    gone_ = of_lane(gone, 0);
    count_ = open_ = 0;
    usual = of_lane(unusual, 0) == 0;
    if (usual && first_ == begin)
      note_receives(entry);
    else if (usual)
      look_at_posts(of_lane(end, 0));
    return usual;
  }

  /// Takes hold of the channels from those ranks that somebody else had them of.
  GMPI_DEVICE void hold_channels() {
    const std::uint32_t lane = lane_index();
    bool held = (channels >> lane & 1) != 0;
    if (!__any_sync(whole_warp, !held && rings_[0] != nullptr))
      return;
    if (!held && rings_[0] != nullptr) {
      const unsigned long long word = load_relaxed_device(&state.receiving[lane].next);
      held = try_lock_channels(state, lane, word);
      if (held)
        at_ = position_of(state, lane, word);
    }
    const unsigned now = __ballot_sync(whole_warp, held);
    if (now == channels)
      return;
    channels = now;
    load_packets();
  }

  /// The ranks of which something has arrived.
  GMPI_DEVICE unsigned look_at_channels() const {
    const bool any =
        (channels >> lane_index() & 1) != 0 &&
        (look_.common.shows(lap_of(at_.common)) || look_.owned.shows(lap_of(at_.owned)));
    return __ballot_sync(whole_warp, any);
  }

  // --- what is posted ---

  GMPI_DEVICE unsigned long long load_entry(std::uint32_t first, std::uint32_t end) const {
    const std::uint32_t number = first + lane_index();
    return lane_index() < end - first
               ? load_relaxed_device(&state.posts.entry[number % PostRing::places])
               : 0;
  }
  GMPI_DEVICE bool shows(unsigned long long entry, std::uint32_t first) const {
    return entry >> 32 == static_cast<std::uint32_t>(first + lane_index() + 1) && entry != 0;
  }
  GMPI_DEVICE void load_receive(unsigned long long entry, std::uint32_t first) {
    if (!shows(entry, first))
      return;
    index_ = static_cast<std::uint32_t>(entry);
    const Request &request = state.requests[index_];
    wanted_ = wanted_by(request);
    data_ = request.data;
    room_ = request.room;
  }
  /// The lanes have loaded theirs, from first_ on.
  GMPI_DEVICE void note_receives(unsigned long long entry) {
    const std::uint32_t lane = lane_index();
    const unsigned missing = ~__ballot_sync(whole_warp, shows(entry, first_));
    count_ = missing == 0 ? 32 : __ffs(static_cast<int>(missing)) - 1;
    open_ = __ballot_sync(whole_warp, lane < count_ && (gone_ >> lane & 1) == 0);
  }

  /// Tells the ring which of its receives have got their messages. What the lanes know of it, they
  /// have to look up again.
  GMPI_DEVICE void note_gone() {
    const std::uint32_t over = __ffsll(static_cast<long long>(~gone_)) - 1;
    first_ += over;
    gone_ >>= over; // no more than there are lanes
    count_ = open_ = 0;
    if (lane_index() == 0) {
      state.posts.gone = gone_;
      store_relaxed_device(&state.posts.first, first_);
    }
  }

  /// Looks what has been posted, up to number `end`.
  GMPI_DEVICE void look_at_posts(std::uint32_t end) {
    if (open_ == 0 && count_ != 0)
      note_gone();
    const bool none_is_free = count_ == 32 && (gone_ & 1) == 0; // of the lanes
    if (end == first_ + count_ || none_is_free)
      return;
    if (count_ != 0)
      note_gone();
    const unsigned long long entry = load_entry(first_, end);
    acquire_device(); // their records
    load_receive(entry, first_);
    note_receives(entry);
  }

  // --- what has arrived ---

  /// Deals with what has arrived from `peer`, whose channels it holds, and has looked at last.
  /// Returns false where a message is not for it.
  GMPI_DEVICE bool take_messages(std::uint32_t peer) {
    const std::uint32_t lane = lane_index();
    Position now{of_lane(at_.common, peer), of_lane(at_.owned, peer)};
    std::uint64_t *const rings[] = {pointer_of_lane(rings_[0], peer),
                                    pointer_of_lane(rings_[1], peer)};
    bool is_late = false; // what it has seen was there while the message before was being read
    bool usual = true;
    GMPI_NO_UNROLL
    for (;;) {
      Packet packet;
      const std::uint32_t channel = look_.find_next(peer, now, packet);
      if (channel == max_channels) {
        if (!is_late || waiting == 0)
          break;
        look_.load(rings, now);
        is_late = false;
        continue;
      }
      const Header header = unpack_header(of_lane(packet.data(), 0), of_lane(packet.data(), 1),
                                          of_lane(packet.data(), 2));
      const unsigned those =
          __ballot_sync(whole_warp, (open_ >> lane & 1) != 0 && wanted_.is(header, peer));
      // Nobody's, or perhaps of one of those that no lane has.
      usual = those != 0 && header.kind == MessageKind::eager && !is_wide(header) &&
              reads_ < Copies::most;
      if (!usual)
        break;
      // The next look is under way with what follows.
      const unsigned long long next = now.in(channel), end = next + slots_of(header);
      now.move(channel, end);
      look_.load(rings, now);
      is_late = true;
      const std::uint32_t first = __ffs(static_cast<int>(those)) - 1;
      const std::uint32_t request = of_lane(index_, first);
      unsigned char *const to = pointer_of_lane(data_, first);
      open_ &= ~(1u << first);
      gone_ |= 1ull << first;
      const auto bytes = static_cast<std::uint32_t>(header.bytes);
      if (lane == 0) {
        Request &its = state.requests[request];
        its.peer = peer;
        its.header = header;
      }
      if (bytes > rows_bytes || bytes > of_lane(room_, first) || header.form != Form::packets ||
          !is_in_eights(to)) {
        if (lane == 0) {
          state.requests[request].channel = channel;
          state.requests[request].first = next;
          block_state().copies.copy[reads_] = {nullptr, nullptr, bytes, request, true, false};
        }
        ++reads_;
        continue;
      }
      read_turn(rings[channel != peer], next, bytes, packet, to);
      add_done(request, state.channels[channel].in_freed, next, end);
    }
    if (lane == peer)
      at_ = now;
    return usual;
  }
};
static_assert(header_packets == 3 && Matcher::most_peers == 32 && PostRing::places == 64);

/// Whether nothing is left of the lanes' requests, which are done, but to give them back. A warp,
/// whole, which has acquired.
GMPI_DEVICE bool are_simple(const State &state, std::uint32_t index) {
  bool simple = true;
  if (index != nothing) {
    const Request &request = state.requests[index];
    simple = request.sends || (request.staging == nothing && request.header.bytes <= request.room);
  }
  return __all_sync(whole_warp, simple);
}

/// Waits for the requests of its lanes, `nothing` in those that have none. A warp, whole. Returns
/// over; working, where all of the block are to make block.copies before it waits on; nothing,
/// where wait_as_warp() is to go on; or elsewhere, where it takes long.
template <Scope S> GMPI_NOINLINE Begun wait_quickly(State &state, std::uint32_t index) {
  if (state.far_news != nullptr || state.peers > Matcher::most_peers)
    return Begun::nothing;
  Patience patience;
  Matcher matcher(state, index);
  Begun begun = Begun::over;
  bool is_others = false; // done elsewhere, and seen to be
  GMPI_NO_UNROLL
  for (unsigned turns = 0;; ++turns, relax()) {
    matcher.glance();
    const Summary summary = look(state);
    const auto its =
        index == nothing
            ? RequestState::done
            : static_cast<RequestState>(load_relaxed_device(&state.requests[index].state));
    const bool waits = !matcher.own_is_done && its != RequestState::done;
    is_others = index != nothing && !waits && !matcher.own_is_done;
    matcher.waiting = __ballot_sync(whole_warp, waits);
    if (matcher.waiting == 0)
      break;
    const bool usual = summary.active == 0 && summary.posted != 0 &&
                       (!waits || its == RequestState::posted || its == RequestState::idle);
    if (of_lane(int(patience.ends(turns)), 0) != 0)
      begun = Begun::elsewhere;
    else if (!__all_sync(whole_warp, usual) || matcher.is_in_the_way() || !matcher.turn())
      begun = Begun::nothing;
    if (matcher.reads() != 0)
      begun = Begun::working;
    if (begun != Begun::over || matcher.waiting == 0)
      break;
    matcher.tell_done();
  }
  matcher.let_go();
  if (begun == Begun::working && lane_index() == 0) {
    block_state().copies.count = matcher.reads();
    block_state().peer.work.kind = WorkKind::copies;
  }
  __syncwarp();
  if (begun != Begun::over || !__any_sync(whole_warp, is_others))
    return begun;
  acquire_device();
  return are_simple(state, is_others ? index : nothing) ? Begun::over : Begun::nothing;
}

} // namespace gmpi::device::peer
