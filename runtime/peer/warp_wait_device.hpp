// How a whole warp waits for requests, 32 at a time, and what it does meanwhile: it gives what has
// arrived to the receives that are posted, and reads what is short, with a packet in each lane.
// What takes all of a block is left to it.
//
// Invariant: lane 0 decides what others of the rank can change meanwhile; the lanes look at their
// own requests.
#pragma once

#include "../mpi/first_warp_device.hpp"
#include "wait_device.hpp"

namespace gmpi::device::peer {

// --- what has arrived ---

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
/// are `room` bytes, and gives its slots back. A warp, whole.
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
  __syncwarp();
  free_share(t.freed, next, next + slots_of(header), lane, 32);
}

/// Requests that are done, one in each lane, but nobody has been told.
struct DoneAsWarp {
  std::uint32_t index, count;

  GMPI_DEVICE void add(std::uint32_t request) {
    if (lane_index() == count)
      index = request;
    ++count;
  }
  GMPI_DEVICE void tell(State &state) {
    __syncwarp();
    if (lane_index() < count) {
      release_device(); // what the whole warp has read is there before that
      note_state(state.requests[index], RequestState::done);
    }
    if (lane_index() == 0 && count != 0)
      atomicSub(&state.summary.posted, count);
    count = 0;
  }
};

/// A warp, whole, that gives what arrives from this host's ranks to the receives that are posted. It
/// keeps the lock from turn to turn, and the channels, while nobody wants that: so it knows how far
/// those have been read and, as long as nothing is in lists and nothing is kept, what is posted.
struct Matcher {
  State &state;
  bool holds = false;    ///< the lock
  unsigned channels = 0; ///< of which ranks it holds them; bits
  /// Lane p: of the channels from rank p of this host, the common one first.
  Position at{};
  std::uint64_t *in[2];
  bool lists = false; ///< what is posted is in lists
  /// Lane i: the i-th receive from number `first` on that the ring has.
  std::uint32_t first = 0, count = 0; ///< so many lanes have one
  unsigned long long gone = 0;        ///< as the ring's
  unsigned open = 0;                  ///< lanes whose receive has no message yet; bits
  bool all = false;                   ///< none is posted that no lane has
  std::uint32_t index;
  Wanted wanted;
  unsigned char *data;
  unsigned long long room;

  static constexpr std::uint32_t most_peers = 32;

  GMPI_DEVICE explicit Matcher(State &state) : state(state) {}

  GMPI_DEVICE bool take_hold() {
    if (holds)
      return true;
    holds = of_lane(int(lane_index() == 0 && try_lock(state)), 0) != 0;
    if (holds) {
      first = of_lane(state.posts.first, 0);
      gone = of_lane(state.posts.gone, 0);
      count = 0;
      open = 0;
      lists = false;
    }
    return holds;
  }

  GMPI_DEVICE void let_go() {
    if (!holds)
      return;
    note_gone();
    __syncwarp();
    if ((channels >> lane_index() & 1) != 0)
      unlock_channels(state, lane_index(), at);
    __syncwarp();
    if (lane_index() == 0)
      unlock(state);
    channels = 0;
    holds = false;
  }

  /// Tells the ring which of its receives have got their messages. What the lanes know of it, they
  /// have to look up again.
  GMPI_DEVICE void note_gone() {
    const std::uint32_t over = __ffsll(static_cast<long long>(~gone)) - 1;
    first += over;
    gone >>= over; // no more than there are lanes
    count = 0;
    open = 0;
    if (lane_index() == 0) {
      state.posts.gone = gone;
      store_relaxed_device(&state.posts.first, first);
    }
  }

  /// Puts what is posted into lists.
  GMPI_DEVICE void use_lists() {
    note_gone();
    __syncwarp();
    if (lane_index() == 0)
      list_posts(state);
    first = of_lane(state.posts.first, 0);
    gone = 0;
    lists = true;
  }

  /// Looks what is posted.
  GMPI_DEVICE void look_at_posts() {
    const std::uint32_t lane = lane_index();
    const std::uint32_t end = of_lane(load_relaxed_device(&state.posts.next), 0);
    const std::uint32_t listed = load_relaxed_device(&state.in_lists);
    const std::uint32_t kept = load_relaxed_device(&state.summary.kept);
    lists = of_lane(listed | kept, 0) != 0;
    if (lists) {
      if (end != first || gone != 0)
        use_lists();
      return;
    }
    if (open == 0 && count != 0)
      note_gone();
    if (end == first + count)
      return;
    if (count != 0)
      note_gone();
    const std::uint32_t number = first + lane;
    const bool has = lane < end - first;
    const unsigned long long entry =
        has ? load_relaxed_device(&state.posts.entry[number % PostRing::places]) : 0;
    const unsigned missing = ~__ballot_sync(whole_warp, has && entry >> 32 == number + 1);
    count = missing == 0 ? 32 : __ffs(static_cast<int>(missing)) - 1;
    all = count == end - first;
    acquire_device(); // their records
    const bool is_open = lane < count && (gone >> lane & 1) == 0;
    if (is_open) {
      index = static_cast<std::uint32_t>(entry);
      const Request &request = state.requests[index];
      wanted = wanted_by(request);
      data = request.data;
      room = request.room;
    }
    open = __ballot_sync(whole_warp, is_open);
  }

  /// Takes hold of the channels from those ranks that it can have.
  GMPI_DEVICE void hold_channels(unsigned those) {
    const std::uint32_t lane = lane_index();
    if ((those & ~channels) == 0)
      return;
    bool held = (channels >> lane & 1) != 0;
    if (!held && (those >> lane & 1) != 0 && state.channels[lane].in != nullptr) {
      const unsigned long long word = load_relaxed_device(&state.receiving[lane].next);
      held = try_lock_channels(state, lane, word);
      if (held) {
        at = position_of(state, lane, word);
        in[0] = state.channels[lane].in;
        in[1] = state.channels[owned_channel(lane)].in;
      }
    }
    channels = __ballot_sync(whole_warp, held);
  }

  /// Those ranks of which something may have arrived.
  GMPI_DEVICE unsigned look_at_channels() const {
    bool any = false;
    if ((channels >> lane_index() & 1) != 0) {
      const Packet common = Packet::load(packet_at(in[0], at.common, 0));
      const Packet owned = Packet::load(packet_at(in[1], at.owned, 0));
      any = common.shows(lap_of(at.common)) || owned.shows(lap_of(at.owned));
    }
    return __ballot_sync(whole_warp, any);
  }

  /// Deals with what has arrived from `peer`, whose channels it holds. `wanted_only`: up to the
  /// first message that is long, or that nobody has asked for.
  GMPI_DEVICE void take_messages(std::uint32_t peer, bool wanted_only, DoneAsWarp &done) {
    const std::uint32_t lane = lane_index();
    Position now{of_lane(at.common, peer), of_lane(at.owned, peer)};
    std::uint64_t *const rings[] = {pointer_of_lane(in[0], peer), pointer_of_lane(in[1], peer)};
    LookAsWarp seen(rings, now);
    bool is_late = false; // what it shows was there when the message before was still being read
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
      seen = LookAsWarp(rings, then);
      is_late = true;
      unsigned long long behind = next;
      Work work{};
      unsigned char *to = nullptr;
      unsigned long long to_room = 0;
      const bool is_new = header.kind != MessageKind::data; // not of one that has been announced
      unsigned those = 0;
      if (!lists && is_new) {
        those = __ballot_sync(whole_warp,
                              (open >> lane & 1) != 0 && wanted.is(header, peer));
        if (those == 0 && !all) // others have been posted that no lane has
          use_lists();
      }
      if (those != 0) {
        if (wanted_only && !has_data(header))
          break;
        const std::uint32_t its = __ffs(static_cast<int>(those)) - 1;
        open &= ~(1u << its);
        gone |= 1ull << its;
        work.index = of_lane(index, its);
        if (has_data(header) && header.bytes <= short_bytes) {
          work.kind = WorkKind::read;
          to = pointer_of_lane(data, its);
          to_room = of_lane(room, its);
        } else {
          behind = next + slots_of(header);
          if (lane == 0)
            give_to_posted(state, work.index, header, channel, next);
        }
      } else {
        if (lane == 0 && (!wanted_only || (lists && has_data(header) &&
                                           find_posted(state, header, peer).index != nothing)))
          behind = take_message(state, channel, header, next, work, true);
        behind = of_lane(behind, 0);
        work.kind = static_cast<WorkKind>(of_lane(static_cast<std::uint32_t>(work.kind), 0));
        work.index = of_lane(work.index, 0);
        if (work.kind == WorkKind::read) {
          to = state.requests[work.index].data;
          to_room = state.requests[work.index].room;
        }
      }
      const Channel &its = state.channels[channel];
      if (work.kind == WorkKind::read) {
        read_as_warp(its, next, header, packet, to, to_room);
        if (lane == 0) {
          Request &request = state.requests[work.index];
          request.peer = peer;
          request.header = header;
          if (header.kind == MessageKind::synchronous)
            acknowledge(state, peer, header);
        }
        done.add(work.index);
        if (done.count == 32)
          done.tell(state);
      } else if (work.kind == WorkKind::keep) {
        read_as_warp(its, next, header, packet, kept_memory(state, work.index), header.bytes);
        if (lane == 0)
          append_kept(state, work.index);
      } else if (behind == next) {
        break;
      }
      now = then;
      if (behind != next && behind != then.in(channel)) { // what had been announced
        now.move(channel, behind);
        seen = LookAsWarp(rings, now);
        is_late = false;
      }
    }
    if (lane == peer)
      at = now;
  }

  /// Deals with what has arrived from those ranks. It holds the lock.
  GMPI_DEVICE void take_messages_from(unsigned those, bool wanted_only) {
    hold_channels(those);
    look_at_posts();
    DoneAsWarp done{nothing, 0};
    those &= channels;
    if ((those & (those - 1)) != 0)
      those &= look_at_channels();
    GMPI_NO_UNROLL
    for (; those != 0; those &= those - 1)
      take_messages(__ffs(static_cast<int>(those)) - 1, wanted_only, done);
    done.tell(state);
  }

  /// A turn of one who waits.
  GMPI_DEVICE void turn() {
    const std::uint32_t peers = state.peers;
    if (take_hold())
      take_messages_from(peers < 32 ? (1u << peers) - 1 : ~0u, false);
  }
};
static_assert(header_packets == 3 && Matcher::most_peers == 32 && PostRing::places == 64);

// --- what is to be done ---

/// Reads a message as short as a warp may for a request, which the caller holds, and which is done
/// then. A warp, whole; false, and the request is held still, where it takes something else.
GMPI_OUT_OF_LINE bool carries_on_as_warp(State &state, std::uint32_t index) {
  const std::uint32_t lane = lane_index();
  Request &request = state.requests[index];
  bool reads = false;
  if (lane == 0) {
    const Header &header = request.header;
    reads = state_of(request) == RequestState::receiving && !is_data(header.kind) &&
            header.bytes <= short_bytes && !is_local(request.data);
  }
  if (!__any_sync(whole_warp, reads))
    return false;
  acquire_device();
  const Channel &channel = state.channels[request.channel];
  const Transfer t{channel.in,   channel.in_freed, request.first,
                   request.data, request.room,     request.header};
  const unsigned long long slots = slots_of(t.header);
  read_share(t, 0, slots, lane, 32);
  __syncwarp();
  if (lane == 0)
    set_done(state, index);
  free_share(t.freed, t.first, t.first + slots, lane, 32);
  return true;
}

/// Whether the request is done that the caller waits for: if its message is there and short, that
/// is read now. A warp, whole.
GMPI_OUT_OF_LINE bool is_done_as_warp(State &state, std::uint32_t index) {
  enum : unsigned { waits, over, there } now = waits;
  if (lane_index() == 0) {
    const Glance seen(state, index);
    if (is_done(state, index, seen))
      now = over;
    else if (seen.its == RequestState::receiving && try_carry_on(state, index, index))
      now = there;
  }
  now = static_cast<decltype(now)>(__shfl_sync(whole_warp, static_cast<unsigned>(now), 0));
  if (now == there) {
    if (carries_on_as_warp(state, index))
      return true;
    if (lane_index() == 0)
      let_go(state.requests[index]);
  }
  if (now == over)
    acquire_device();
  return now == over;
}

/// What the first warp of a block leaves to all of it, shared.work, which it cannot do alone.
/// Returns working; or elsewhere where it is for all blocks: then it is done the general way.
template <Scope S> GMPI_DEVICE Begun leave_to_all(State &state, const Work &work, Share &share) {
  bool shares = false;
  if (lane_index() == 0) {
    Request &request = state.requests[work.index];
    shares = S == Scope::grid && can_share(request);
    if (shares)
      let_go(request);
    share.work = work;
  }
  return __any_sync(whole_warp, shares) ? Begun::elsewhere : Begun::working;
}

/// Does what lane 0 has found, if a warp can. Where a request takes something else it is held
/// still.
GMPI_DEVICE bool do_work_as_warp(State &state, const Work &work) {
  if (work.kind == WorkKind::carry_on)
    return carries_on_as_warp(state, work.index);
  const Kept &kept = state.kept[work.index];
  const Channel &channel = state.channels[kept.channel];
  const Transfer t{channel.in,        channel.in_freed, kept.first, kept_memory(state, work.index),
                   kept.header.bytes, kept.header};
  const unsigned long long slots = slots_of(t.header);
  read_share(t, 0, slots, lane_index(), 32);
  __syncwarp();
  free_share(t.freed, t.first, t.first + slots, lane_index(), 32);
  __syncwarp();
  if (lane_index() == 0)
    end_keeping(state, work.index);
  return true;
}

/// Whether the caller's own send, of which the answer has come, can be stored where that says; it
/// is held then, and noted as such. `most`: bytes that it may have.
GMPI_DEVICE bool claim_store(State &state, std::uint32_t index, unsigned long long most,
                             Copies::Copy &copy) {
  Request &request = state.requests[index];
  if (load_relaxed_device(&request.busy) != 0 || cas_acquire_device(&request.busy, 0, 1) != 0)
    return false;
  const std::uint32_t lap = lap_of_serial(request.serial);
  const std::uint64_t *from = ack_of(state, index, request.serial);
  const Packet answer = Packet::load(from), offset = Packet::load(from + packet_words);
  const Match match = unpack_match(answer.data());
  const Packet mapped = Packet::load(state.mapped[request.peer][match.place]);
  const unsigned long long bytes = request.header.bytes;
  const bool can = load_relaxed_device(&request.state) ==
                       static_cast<std::uint32_t>(RequestState::awaiting_match) &&
                   request.header.kind == MessageKind::announced && !request.own &&
                   answer.shows(lap) && match.number != 0 && offset.shows(lap) &&
                   mapped.shows(match.number) && bytes <= most;
  if (!can) {
    atomicExch(&request.busy, 0u); // nothing has been written
    return false;
  }
  copy = {reinterpret_cast<unsigned char *>(mapped.data()) + offset.data(), request.data, bytes,
          index};
  request.match = match;
  note_state(request, RequestState::storing);
  return true;
}

/// Whether the message of the caller's own receive is all in the channel, or on its way there, and
/// the receive is held then.
GMPI_DEVICE bool claim_read(State &state, std::uint32_t index, Copies::Copy &copy) {
  Request &request = state.requests[index];
  if (load_relaxed_device(&request.busy) != 0 || cas_acquire_device(&request.busy, 0, 1) != 0)
    return false;
  const bool can =
      load_relaxed_device(&request.state) == static_cast<std::uint32_t>(RequestState::receiving) &&
      !is_data(request.header.kind) && !request.own;
  if (!can)
    atomicExch(&request.busy, 0u); // nothing has been written
  copy = {nullptr, nullptr, request.header.bytes, index};
  return can;
}

/// Claims those of the lanes' requests for which all of the block can store or, `reads`, read the
/// message now, if there are any: block.copies says which. `those`: lanes that may have one.
template <Scope S>
GMPI_DEVICE bool claim_copies(State &state, std::uint32_t index, unsigned those, bool reads,
                              Share &share) {
  Copies &copies = block_state().copies;
  const std::uint32_t lane = lane_index();
  // No more than there is room for, the first of them, and together not much more than a step.
  const int before = __popc(those & ((1u << lane) - 1));
  const unsigned long long most = before == 0 ? step_bytes<S> : step_bytes<S> / Copies::most;
  Copies::Copy copy{};
  const bool has = (those >> lane & 1) != 0 && before < int(Copies::most) &&
                   (reads ? claim_read(state, index, copy) : claim_store(state, index, most, copy));
  const unsigned all = __ballot_sync(whole_warp, has);
  if (has)
    copies.copy[__popc(all & ((1u << lane) - 1))] = copy;
  if (lane == 0) {
    copies.count = static_cast<std::uint32_t>(__popc(all));
    share.work.kind = WorkKind::copies;
  }
  __syncwarp();
  return all != 0;
}

/// All of the block, or grid, have made the copies of block.copies: who waits for them is told. A
/// warp, whole.
GMPI_DEVICE void end_copies(State &state) {
  const Copies &copies = block_state().copies;
  const std::uint32_t lane = lane_index();
  const bool reads = copies.copy[0].to == nullptr;
  if (lane < copies.count) {
    const std::uint32_t index = copies.copy[lane].request;
    Request &request = state.requests[index];
    const Match match = request.match;
    release_system(); // what all have stored is there before that
    if (!reads)
      store_packet(landed_at(state.peer_acks[request.peer], match.request), 0,
                   lap_of_serial(match.serial));
    deactivate(state, index);
    note_state(request, RequestState::done);
  }
  if (lane == 0 && !reads)
    increase_relaxed_device(&state.stored, copies.count);
  __syncwarp();
}

/// Waits for the requests of its lanes, `nothing` in those that have none, and works meanwhile. A
/// warp, whole. Returns over; working, where all of the block are to do shared.work before it waits
/// on; or elsewhere, where the general way is to go on.
template <Scope S>
GMPI_NOINLINE Begun wait_as_warp(State &state, std::uint32_t index, Share &share) {
  const bool near = state.far_news == nullptr && state.peers <= Matcher::most_peers;
  Patience patience;
  Matcher matcher(state);
  GMPI_NO_UNROLL
  for (unsigned turns = 0;; ++turns) {
    const std::uint32_t wanted = load_relaxed_device(&state.wanted);
    const Glance seen(state, index);
    const unsigned waiting =
        __ballot_sync(whole_warp, index != nothing && !is_done(state, index, seen));
    if (waiting == 0) {
      matcher.let_go();
      acquire_device();
      return Begun::over;
    }
    if (of_lane(wanted, 0) != 0) // others need the lock
      matcher.let_go();
    const unsigned unmatched =
        __ballot_sync(whole_warp, seen.its == RequestState::awaiting_match && !seen.acknowledged);
    const unsigned answered =
        __ballot_sync(whole_warp, seen.its == RequestState::awaiting_match && seen.acknowledged);
    const unsigned arrived = __ballot_sync(whole_warp, seen.its == RequestState::receiving);
    if ((answered != 0 && claim_copies<S>(state, index, answered, false, share)) ||
        (arrived != 0 && claim_copies<S>(state, index, arrived, true, share))) {
      matcher.let_go();
      return Begun::working;
    }
    const std::uint32_t own = of_lane(index, __ffs(static_cast<int>(waiting)) - 1);
    Work work{};
    if (lane_index() == 0) {
      const Summary &summary = seen.summary;
      // All that is active may be these requests, whose matches have not come.
      if (summary.active != 0 && summary.active != static_cast<std::uint32_t>(__popc(unmatched)))
        work = look_for_active(state, own);
      if (work.kind == WorkKind::none && !near)
        work = look_at_messages(state, summary);
      if (work.kind == WorkKind::none && patience.ends(turns))
        work.kind = WorkKind::over;
    }
    work.kind = static_cast<WorkKind>(of_lane(static_cast<std::uint32_t>(work.kind), 0));
    work.index = of_lane(work.index, 0);
    if (work.kind == WorkKind::over) {
      matcher.let_go();
      return Begun::elsewhere;
    }
    if (work.kind != WorkKind::none && !do_work_as_warp(state, work)) {
      matcher.let_go();
      return leave_to_all<S>(state, work, share);
    }
    if (work.kind == WorkKind::none && near && of_lane(seen.summary.posted, 0) != 0)
      matcher.turn();
    relax();
  }
}

} // namespace gmpi::device::peer
