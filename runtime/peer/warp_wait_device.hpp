// How a whole warp waits for requests, 32 at a time, and what it does meanwhile: it gives what has
// arrived to the receives that are posted (matcher_device.hpp). What takes all of a block is left
// to it.
//
// Invariant: lane 0 decides what others of the rank can change meanwhile; the lanes look at their
// own requests.
#pragma once

#include "matcher_device.hpp"

namespace gmpi::device::peer {

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
          index, false};
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
  copy = {nullptr, nullptr, request.header.bytes, index, false};
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
  const bool near = state.far_news == nullptr && state.peers <= Matcher::most_peers;
  Patience patience;
  Matcher matcher(state, index);
  GMPI_NO_UNROLL
  for (unsigned turns = 0;; ++turns, relax()) {
    if (near)
      matcher.glance();
    const Glance seen(state, index);
    const bool waits = index != nothing && !matcher.own_is_done && !is_done(state, index, seen);
    const unsigned waiting = __ballot_sync(whole_warp, waits);
    if (waiting == 0)
      break;
    if (matcher.is_in_the_way()) {
      matcher.let_go();
      continue;
    }
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
    if (work.kind != WorkKind::none) {
      if (do_work_as_warp(state, work))
        continue;
      matcher.let_go();
      return leave_to_all<S>(state, work, share);
    }
    if (!near)
      continue;
    if (of_lane(seen.summary.posted, 0) == 0) {
      matcher.let_go();
      continue;
    }
    if (matcher.turn() != 0) {
      matcher.let_go();
      if (lane_index() == 0)
        share.work.kind = WorkKind::copies;
      __syncwarp();
      return Begun::working;
    }
    if (!__any_sync(whole_warp, waits && !matcher.own_is_done))
      break;
    matcher.tell_done();
  }
  matcher.let_go();
  acquire_device();
  return Begun::over;
}

} // namespace gmpi::device::peer
