// A warp, whole, that gives what arrives from this host's ranks to the receives that are posted, and
// reads what is short, with a packet in each lane.
//
// Invariant: it looks at what is posted, and at the channels, under the lock, which it keeps from
// turn to turn while nobody wants that. So it knows how far the channels have been read and, as
// long as nothing is in lists and nothing is kept, which receives are posted: one in each lane, in
// their order. What trips to memory need nothing of each other are under way together.
#pragma once

#include "../mpi/first_warp_device.hpp"
#include "wait_device.hpp"

namespace gmpi::device::peer {

/// Takes hold of both channels from `peer`, and finds out how far this rank has come in them. A
/// warp, whole; false where somebody else holds them.
GMPI_DEVICE bool try_hold_channels(State &state, std::uint32_t peer, Position &at) {
  unsigned long long word = locked;
  if (lane_index() == 0) {
    unsigned long long found = load_relaxed_device(&state.receiving[peer].next);
    if (try_lock_channels(state, peer, found))
      word = found;
  }
  word = of_lane(word, 0);
  if (word == locked)
    return false;
  at = position_of(state, peer, word);
  at.owned = of_lane(at.owned, 0);
  return true;
}

/// A look at both channels from a rank, whose next slots are `at`: their first packets, one in each
/// lane of a warp.
struct LookAsWarp {
  Position at;
  Packet common, owned;

  /// `rings`: of the common channel, and of the owned one.
  GMPI_DEVICE LookAsWarp(std::uint64_t *const (&rings)[2], const Position &at)
      : at(at), common(Packet::load(packet_at(rings[0], at.common, lane_index()))),
        owned(Packet::load(packet_at(rings[1], at.owned, lane_index()))) {}

  /// The channel from `peer` whose turn it is, as find_next() says, and its packets; max_channels
  /// where nothing has come. The warp holds the channels.
  GMPI_DEVICE std::uint32_t find_next(std::uint32_t peer, Packet &packet) const {
    packet = common;
    if (has_come(peer, common))
      return peer;
    packet = owned;
    return has_come(owned_channel(peer), owned) ? owned_channel(peer) : max_channels;
  }

private:
  GMPI_DEVICE bool has_come(std::uint32_t channel, const Packet &its) const {
    constexpr unsigned headers = (1u << header_packets) - 1;
    const bool shows = its.shows(lap_of(at.in(channel)));
    // (Its turn it is, says the last packet of its header.)
    const bool may = lane_index() + 1 != header_packets || at.allows(channel, its.data());
    return (__ballot_sync(whole_warp, shows && may) & headers) == headers;
  }
};
GMPI_DEVICE std::uint32_t find_next_as_warp(const State &state, std::uint32_t peer,
                                            const Position &at, Packet &packet) {
  std::uint64_t *const rings[] = {state.channels[peer].in, state.channels[owned_channel(peer)].in};
  return LookAsWarp(rings, at).find_next(peer, packet);
}

/// A pointer that lane `from` has.
template <class T> GMPI_DEVICE T *pointer_of_lane(T *value, std::uint32_t from) {
  return reinterpret_cast<T *>(of_lane(reinterpret_cast<std::uint64_t>(value), from));
}

/// What a warp reads in one turn: a message of so many packets, with its header.
constexpr std::uint32_t turn_packets = 5 * 32;

/// Reads the data of a message, from slot number `next` on, of turn_packets at most, to an address
/// for eight bytes. A warp, whole.
GMPI_OUT_OF_LINE void read_turn(std::uint64_t *ring, unsigned long long next, std::uint32_t bytes,
                                unsigned char *to) {
  constexpr std::uint32_t each = turn_packets / 32;
  const std::uint32_t first = first_from(header_packets, lane_index(), 32);
  const auto all = static_cast<std::uint32_t>(packets_for(bytes));
  Packet found[each];
  GMPI_UNROLL
  for (std::uint32_t k = 0; k < each; ++k)
    if (first + 32 * k < all)
      found[k] = Packet::load(packet_at(ring, next, first + 32 * k));
  GMPI_UNROLL
  for (std::uint32_t k = 0; k < each; ++k)
    if (const std::uint32_t p = apart(first + 32 * k); p < all) {
      const std::uint32_t lap = lap_of(next + p / slot_packets);
      const std::uint32_t at = (p - header_packets) * packet_bytes;
      store_data(to + at, bytes - at,
                 found[k].shows(lap) ? found[k].data()
                                     : await_packet(packet_at(ring, next, p), lap));
    }
}

/// Reads a short message whose first packets the lanes have seen, `packet`, to `to`, where there
/// are `room` bytes. A warp, whole.
GMPI_DEVICE void read_as_warp(const Channel &channel, unsigned long long next, const Header &header,
                              const Packet &packet, unsigned char *to, unsigned long long room) {
  const std::uint32_t lane = lane_index();
  const Transfer t{channel.in, channel.in_freed, next, to, room, header};
  const std::uint64_t packets = packets_of(header);
  const bool eights = (reinterpret_cast<std::uint64_t>(to) & 7) == 0 && header.bytes <= room;
  if (packets > 32 && packets <= turn_packets && eights && !header.dense) {
    read_turn(channel.in, next, static_cast<std::uint32_t>(header.bytes), to);
  } else if (packets > 32) {
    read_share(t, 0, slots_of(header), lane, 32);
  } else {
    const unsigned long long at = (lane - header_packets) * packet_bytes, bytes = t.readable();
    if (lane >= header_packets && at < bytes)
      store_data(to + at, bytes - at,
                 packet.shows(lap_of(next))
                     ? packet.data()
                     : await_packet(packet_at(channel.in, next, lane), lap_of(next)));
  }
}

/// See above. A turn begins with glance().
struct Matcher {
  static constexpr std::uint32_t most_peers = 32;

  State &state;
  const std::uint32_t own;  ///< the lane's request, or `nothing`: its warp waits for these
  bool own_is_done = false; ///< its message has been read here
  bool holds = false;       ///< the lock
  unsigned channels = 0;    ///< of which ranks it holds them; bits

  GMPI_DEVICE Matcher(State &state, std::uint32_t own) : state(state), own(own) {}

  /// Looks what there is to do, before turn(): nobody waits for what that loads before it is used.
  GMPI_DEVICE void glance() {
    free_slots();
    const std::uint32_t lane = lane_index();
    wanted_ = load_relaxed_device(&state.wanted);
    end_ = load_relaxed_device(&state.posts.next);
    if (!holds) {
      lock_ = load_relaxed_device(&state.lock);
      begin_ = load_relaxed_device(&state.posts.first);
      if (lane < state.peers) {
        word_ = load_relaxed_device(&state.receiving[lane].next);
        owned_ = load_relaxed_device(&state.receiving[owned_channel(lane)].next);
        rings_[0] = state.channels[lane].in;
        rings_[1] = state.channels[owned_channel(lane)].in;
      }
    } else if ((channels >> lane & 1) != 0) {
      load_packets();
    }
  }

  /// Whether somebody else needs the lock.
  GMPI_DEVICE bool is_in_the_way() const { return holds && of_lane(wanted_, 0) != 0; }

  /// Deals with what has arrived, if it gets the lock. Returns how many messages all of the block
  /// are to read now: block.copies says which.
  GMPI_DEVICE std::uint32_t turn() {
    if (holds) {
      hold_channels();
      look_at_posts(of_lane(end_, 0));
    } else if (!take_hold()) {
      return 0;
    }
    unsigned news = look_at_channels();
    reads_ = 0;
    GMPI_NO_UNROLL
    for (; news != 0; news &= news - 1)
      take_messages(__ffs(static_cast<int>(news)) - 1);
    if (lane_index() == 0)
      block_state().copies.count = reads_;
    __syncwarp();
    return reads_;
  }

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
  std::uint32_t wanted_, end_, lock_, begin_;
  unsigned long long word_ = 0, owned_ = 0;
  Packet common_packet_, owned_packet_;
  // Lane p: how far the channels from rank p have been read; and where they are, the common one
  // first.
  std::uint64_t *rings_[2] = {nullptr, nullptr};
  Position at_{};
  // Lane i: the i-th receive from number first_ on that the ring has.
  std::uint32_t first_ = 0, count_ = 0; ///< so many lanes have one
  unsigned long long gone_ = 0;         ///< as the ring's
  unsigned open_ = 0;                   ///< lanes whose receive has no message yet; bits
  bool all_ = false;                    ///< none is posted that no lane has
  bool lists_ = false;                  ///< what is posted is in lists
  bool kept_ = false;                   ///< something has been kept
  std::uint32_t index_;
  Wanted wanted_by_;
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

  GMPI_DEVICE void load_packets() {
    common_packet_ = Packet::load(packet_at(rings_[0], at_.common, 0));
    owned_packet_ = Packet::load(packet_at(rings_[1], at_.owned, 0));
  }

  /// Takes the lock, and hold of all channels that are nobody's.
  GMPI_DEVICE bool take_hold() {
    const std::uint32_t lane = lane_index();
    const bool may = lock_ == 0 && (wanted_ == 0 || nanoseconds() / 1024 % 8 == 0);
    if (of_lane(int(may), 0) == 0)
      return false;
    const std::uint32_t begin = of_lane(begin_, 0);
    const unsigned long long entry = load_entry(begin, of_lane(end_, 0)); // if that is the first
    bool held = false;
    if (lane < state.peers && rings_[0] != nullptr)
      held = try_lock_channels(state, lane, word_);
    holds = of_lane(int(lane == 0 && atomicCAS(&state.lock, 0u, 1u) == 0), 0) != 0;
    at_ = {common_of(word_), owned_ + owned_ahead(owned_of(word_), owned_)};
    if (!holds) {
      if (held)
        let_channels_go(state, lane, at_);
      return false;
    }
    acquire_device();
    channels = __ballot_sync(whole_warp, held);
    if (held)
      load_packets();
    const std::uint32_t first = state.posts.first, end = load_relaxed_device(&state.posts.next);
    const unsigned long long gone = state.posts.gone;
    const std::uint32_t unusual = state.in_lists | load_relaxed_device(&state.summary.kept);
    load_receive(entry, begin);
    first_ = of_lane(first, 0);
    gone_ = of_lane(gone, 0);
    count_ = open_ = 0;
    lists_ = of_lane(unusual, 0) != 0;
    kept_ = false;
    if (lists_)
      use_lists();
    else if (first_ == begin)
      note_receives(entry, of_lane(end, 0));
    else
      look_at_posts(of_lane(end, 0));
    return true;
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
      if (held) {
        at_ = position_of(state, lane, word);
        load_packets();
      }
    }
    channels = __ballot_sync(whole_warp, held);
  }

  /// The ranks of which something has arrived.
  GMPI_DEVICE unsigned look_at_channels() const {
    const bool any = (channels >> lane_index() & 1) != 0 &&
                     (common_packet_.shows(lap_of(at_.common)) ||
                      owned_packet_.shows(lap_of(at_.owned)));
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
    wanted_by_ = gmpi::device::peer::wanted_by(request);
    data_ = request.data;
    room_ = request.room;
  }
  /// The lanes have loaded theirs, from first_ on.
  GMPI_DEVICE void note_receives(unsigned long long entry, std::uint32_t end) {
    const std::uint32_t lane = lane_index();
    const unsigned missing = ~__ballot_sync(whole_warp, shows(entry, first_));
    count_ = missing == 0 ? 32 : __ffs(static_cast<int>(missing)) - 1;
    all_ = count_ == end - first_;
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

  /// Puts what is posted into lists.
  GMPI_DEVICE void use_lists() {
    note_gone();
    __syncwarp();
    if (lane_index() == 0)
      list_posts(state);
    first_ = of_lane(state.posts.first, 0);
    gone_ = 0;
    lists_ = true;
  }

  /// Looks what has been posted, up to number `end`.
  GMPI_DEVICE void look_at_posts(std::uint32_t end) {
    if (lists_) {
      const std::uint32_t unusual = state.in_lists | load_relaxed_device(&state.summary.kept);
      lists_ = of_lane(unusual, 0) != 0;
      kept_ = false;
    }
    if (open_ == 0 && count_ != 0)
      note_gone();
    if (end == first_ + count_)
      return;
    if (lists_ || kept_) // these go first
      return use_lists();
    if (count_ != 0)
      note_gone();
    const unsigned long long entry = load_entry(first_, end);
    acquire_device(); // their records
    load_receive(entry, first_);
    note_receives(entry, end);
  }

  // --- what has arrived ---

  /// Has all of the block read the message of a posted receive, whose slots begin at `next`.
  GMPI_DEVICE void leave_to_block(std::uint32_t request, const Header &header,
                                  std::uint32_t channel, unsigned long long next) {
    if (lane_index() == 0) {
      Request &its = state.requests[request];
      its.peer = peer_of_channel(channel);
      its.channel = channel;
      its.header = header;
      its.first = next;
      block_state().copies.copy[reads_] = {nullptr, nullptr, header.bytes, request, true};
      if (header.kind == MessageKind::synchronous)
        acknowledge(state, its.peer, header);
    }
    ++reads_;
  }

  /// Deals with what has arrived from `peer`, whose channels it holds.
  GMPI_DEVICE void take_messages(std::uint32_t peer) {
    const std::uint32_t lane = lane_index();
    Position now{of_lane(at_.common, peer), of_lane(at_.owned, peer)};
    std::uint64_t *const rings[] = {pointer_of_lane(rings_[0], peer),
                                    pointer_of_lane(rings_[1], peer)};
    LookAsWarp seen(rings, now);
    bool is_late = false; // what it shows was there while the message before was being read
    GMPI_NO_UNROLL
    for (;;) {
      Packet packet;
      const std::uint32_t channel = seen.find_next(peer, packet);
      if (channel == max_channels && !is_late)
        break;
      if (channel == max_channels) {
        seen = LookAsWarp(rings, now);
        is_late = false;
        continue;
      }
      const Header header = unpack_header(of_lane(packet.data(), 0), of_lane(packet.data(), 1),
                                          of_lane(packet.data(), 2));
      const unsigned long long next = now.in(channel);
      // Most messages' end is known now, and the next look under way with what follows.
      Position then = now;
      then.move(channel, next + slots_of(header));
      const unsigned long long end = then.in(channel);
      seen = LookAsWarp(rings, then);
      is_late = true;

      const Channel &its = state.channels[channel];
      const bool is_new = header.kind != MessageKind::data; // not of one that has been announced
      unsigned those = 0;
      if (!lists_ && is_new) {
        those =
            __ballot_sync(whole_warp, (open_ >> lane & 1) != 0 && wanted_by_.is(header, peer));
        if (those == 0 && !all_) // others have been posted that no lane has
          use_lists();
      }
      if (those != 0) {
        const std::uint32_t first = __ffs(static_cast<int>(those)) - 1;
        const std::uint32_t request = of_lane(index_, first);
        if (has_data(header) && header.bytes > short_bytes && reads_ == Copies::most)
          break; // in the next turn
        open_ &= ~(1u << first);
        gone_ |= 1ull << first;
        if (!has_data(header)) {
          if (lane == 0)
            give_to_posted(state, request, header, channel, next);
        } else if (header.bytes > short_bytes) {
          leave_to_block(request, header, channel, next);
        } else {
          read_as_warp(its, next, header, packet, pointer_of_lane(data_, first),
                       of_lane(room_, first));
          end_reading(request, peer, header, its, next, end);
        }
        now = then;
        continue;
      }
      unsigned long long behind = next;
      Work work{};
      if (lane == 0)
        behind = take_message(state, channel, header, next, work, true);
      behind = of_lane(behind, 0);
      work.kind = static_cast<WorkKind>(of_lane(static_cast<std::uint32_t>(work.kind), 0));
      work.index = of_lane(work.index, 0);
      if (work.kind == WorkKind::read) {
        const Request &request = state.requests[work.index];
        read_as_warp(its, next, header, packet, request.data, request.room);
        end_reading(work.index, peer, header, its, next, end);
      } else if (work.kind == WorkKind::keep) {
        read_as_warp(its, next, header, packet, kept_memory(state, work.index), header.bytes);
        __syncwarp();
        free_share(its.in_freed, next, end, lane, 32);
        if (lane == 0)
          append_kept(state, work.index);
        kept_ = true;
      } else if (behind == next) {
        break; // nowhere to keep it
      } else {
        kept_ = true; // perhaps
        if (behind != end) { // of what had been announced
          now.move(channel, behind);
          seen = LookAsWarp(rings, now);
          is_late = false;
          continue;
        }
      }
      now = then;
    }
    if (lane == peer)
      at_ = now;
  }

  GMPI_DEVICE void end_reading(std::uint32_t request, std::uint32_t peer, const Header &header,
                               const Channel &channel, unsigned long long next,
                               unsigned long long end) {
    if (lane_index() == 0) {
      state.requests[request].peer = peer;
      state.requests[request].header = header;
      if (header.kind == MessageKind::synchronous)
        acknowledge(state, peer, header);
    }
    add_done(request, channel.in_freed, next, end);
  }
};
static_assert(header_packets == 3 && Matcher::most_peers == 32 && PostRing::places == 64);

} // namespace gmpi::device::peer
