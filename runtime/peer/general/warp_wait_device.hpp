// How a whole warp waits for requests, 32 at a time, where that is not as usual as
// matcher_device.hpp has it, and what it does meanwhile: it gives what has arrived to the receives
// that are posted, carries on what others have begun, and keeps what nobody has asked for. What
// takes all of a block is left to it.
//
// Invariant: lane 0 decides what others of the rank can change meanwhile; the lanes look at their
// own requests.
#pragma once

#include "../matching/matcher_device.hpp"

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

/// The channel from `peer` whose turn it is, as LookAsWarp says of a first look.
GMPI_DEVICE std::uint32_t find_next_as_warp(const State &state, std::uint32_t peer,
                                            const Position &at, Packet &packet) {
  std::uint64_t *const rings[] = {state.channels[peer].in, state.channels[owned_channel(peer)].in};
  LookAsWarp look;
  look.load(rings, at);
  return look.find_next(peer, at, packet);
}

/// Reads a short message whose first packets the lanes have seen, `packet`, to `to`, where there
/// are `room` bytes, and gives its slots back. A warp, whole.
GMPI_DEVICE void read_as_warp(const Channel &channel, unsigned long long next, const Header &header,
                              const Packet &packet, unsigned char *to, unsigned long long room) {
  const std::uint32_t lane = lane_index();
  const Transfer t{channel.in, channel.in_freed, next, to, room, header};
  if (header.bytes > warp_bytes) {
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

/// Deals with what has arrived from `peer`, under the lock.
GMPI_DEVICE void take_messages_as_warp(State &state, std::uint32_t peer) {
  const std::uint32_t lane = lane_index();
  Position at;
  if (!try_hold_channels(state, peer, at))
    return;
  DoneAsWarp done{nothing, 0};
  GMPI_NO_UNROLL
  for (;;) {
    Packet packet;
    const std::uint32_t channel = find_next_as_warp(state, peer, at, packet);
    if (channel == max_channels)
      break;
    const Header header = unpack_header(of_lane(packet.data(), 0), of_lane(packet.data(), 1),
                                        of_lane(packet.data(), 2));
    const unsigned long long next = at.in(channel);
    unsigned long long behind = next;
    Work work{};
    if (lane == 0)
      behind = take_message(state, channel, header, next, work, true);
    behind = of_lane(behind, 0);
    work.kind = static_cast<WorkKind>(of_lane(static_cast<std::uint32_t>(work.kind), 0));
    work.index = of_lane(work.index, 0);
    const Channel &its = state.channels[channel];
    if (work.kind == WorkKind::read) {
      Request &request = state.requests[work.index];
      read_as_warp(its, next, header, packet, request.data, request.room);
      if (lane == 0) {
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
    at.move(channel, behind != next ? behind : next + slots_of(header));
  }
  done.tell(state);
  if (lane == 0)
    unlock_channels(state, peer, at);
}
static_assert(header_packets == 3);

/// Takes the lock, if it can, and puts what is posted into lists. A warp, whole.
GMPI_DEVICE bool try_lock_as_warp(State &state) {
  const bool holds = of_lane(int(lane_index() == 0 && try_lock(state)), 0) != 0;
  if (holds && lane_index() == 0)
    list_posts(state);
  __syncwarp();
  return holds;
}

/// Deals with what has arrived from this host's ranks, or `has_kept` what may be wanted now. A
/// warp, whole.
GMPI_OUT_OF_LINE void match_as_warp(State &state, bool has_kept) {
  const std::uint32_t lane = lane_index(), peers = state.peers;
  bool holds = has_kept && try_lock_as_warp(state);
  GMPI_NO_UNROLL
  for (std::uint32_t first = 0; first < peers; first += 32) {
    const std::uint32_t peer = first + lane;
    const bool may =
        peer < peers &&
        may_have_messages(state, peer, load_relaxed_device(&state.receiving[peer].next));
    unsigned those = __ballot_sync(whole_warp, may);
    if (those == 0)
      continue;
    holds = holds || try_lock_as_warp(state);
    if (!holds)
      return;
    GMPI_NO_UNROLL
    for (; those != 0; those &= those - 1)
      take_messages_as_warp(state, first + __ffs(static_cast<int>(those)) - 1);
  }
  __syncwarp();
  if (holds && lane == 0)
    unlock(state);
}

// --- what is to be done ---

/// Reads a message as short as a warp may for a request, which the caller holds, and which is done
/// then. A warp, whole; false, and the request is held still, where it takes something else.
GMPI_OUT_OF_LINE bool carries_on_as_warp(State &state, std::uint32_t index) {
  const std::uint32_t lane = lane_index();
  Request &request = state.requests[index];
  bool reads = false;
  if (lane == 0) {
    const Header &header = request.header;
    reads = state_of(request) == RequestState::receiving && header.kind != MessageKind::data &&
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
    if constexpr (S == Scope::grid)
      shares = will_share(state, work.index);
    if (shares)
      let_go(state.requests[work.index]);
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
          index, false, false};
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
      request.header.kind != MessageKind::data && !request.own;
  if (!can)
    atomicExch(&request.busy, 0u); // nothing has been written
  copy = {nullptr, nullptr, request.header.bytes, index, false, false};
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
    if (copies.copy[lane].is_new)
      atomicSub(&state.summary.posted, 1u);
    else
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
  Patience patience;
  GMPI_NO_UNROLL
  for (unsigned turns = 0;; ++turns) {
    const Glance seen(state, index);
    const unsigned waiting =
        __ballot_sync(whole_warp, index != nothing && !is_done(state, index, seen));
    if (waiting == 0) {
      acquire_device();
      return Begun::over;
    }
    const unsigned unmatched =
        __ballot_sync(whole_warp, seen.its == RequestState::awaiting_match && !seen.acknowledged);
    const unsigned answered =
        __ballot_sync(whole_warp, seen.its == RequestState::awaiting_match && seen.acknowledged);
    const unsigned arrived = __ballot_sync(whole_warp, seen.its == RequestState::receiving);
    if (answered != 0 && claim_copies<S>(state, index, answered, false, share))
      return Begun::working;
    if (arrived != 0 && claim_copies<S>(state, index, arrived, true, share))
      return Begun::working;
    const std::uint32_t own = of_lane(index, __ffs(static_cast<int>(waiting)) - 1);
    const bool near = state.far_news == nullptr;
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
    if (work.kind == WorkKind::over)
      return Begun::elsewhere;
    if (work.kind != WorkKind::none && !do_work_as_warp(state, work))
      return leave_to_all<S>(state, work, share);
    if (work.kind == WorkKind::none && near && of_lane(seen.summary.posted, 0) != 0)
      match_as_warp(state, of_lane(int(may_want_kept(state, seen.summary)), 0) != 0);
    relax();
  }
}

} // namespace gmpi::device::peer
