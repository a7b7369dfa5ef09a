// The exchange of one long message each way that is left to a grid's wait. It is made as
// MPI_Sendrecv is (quick_long_device.hpp, exchange_device.hpp), with the requests that its calls
// have.
//
// Invariant: where it has not been made, what is under way, or done, is noted as such, and nothing
// is held; the wait goes on in the general way. What may be streamed has been sent then: who reads
// it may wait for nothing else.
#pragma once

#include "exchange_device.hpp"
#include "series_pair_device.hpp"

namespace gmpi::device::peer {

/// Whether two calls have been left, one of each kind, and both are longer than a wide one.
GMPI_DEVICE bool is_long_pair(const Series &series) {
  const LeftCall *const calls = series.call;
  return is_one_each_way(series) & (calls[0].bytes > wide_bytes) & (calls[1].bytes > wide_bytes);
}

/// Announces the one that is sent, and awaits its answer, or the other one, as
/// go_on_exchanging(). Or returns nothing, and nothing has happened. The first warp, whole.
template <class = void> GMPI_NOINLINE Begun announce_of_long_pair(bool tells) {
  State &state = *context.peer;
  Series &series = block_state().series;
  Share &share = block_state().peer;
  const LeftCall &out = send_of_pair(series), &in = receive_of_pair(series);
  const std::uint32_t i = static_cast<std::uint32_t>(out.rank) % Routes::most, lane = lane_index();
  Route route;
  if (out.over || in.over ||
      !find_slot(state, *out.comm, i, out.rank, out.tag, out.datatype, route) || route.near == 0)
    return Begun::nothing;
  if (lane < ack_packets) { // the request may have had the same serial before
    store_packet(ack_at(state.acks, out.slot) + lane * packet_words, 0, 0);
    release_device(); // whoever answers comes after
  }
  __syncwarp();
  LongCall call = sending_call(Begun::sent, tells);
  const LongRoute by{i, route.context, out.comm->handle, route.order, route.next, route.out};
  if (announce_by_route<Scope::grid>(state, by, out.slot, out.tag, out.data, out.bytes, true, call,
                                     share) == nullptr)
    return Begun::nothing;
  return go_on_exchanging<Scope::grid>(state, *in.comm, in.rank, in.tag, in.data, in.bytes, in.slot,
                                       call, share);
}

/// Goes on with the one that is received, where the other one is there. The same warp.
template <class = void> GMPI_NOINLINE Begun receive_of_long_pair(bool tells) {
  Share &share = block_state().peer;
  const LeftCall &in = receive_of_pair(block_state().series);
  if (share.long_call.receiving != nothing)
    return end_exchange(in.rank, in.bytes, tells, share);
  LongCall call = sending_call(Begun::over, tells);
  call.sending = nothing;
  return go_on_exchanging<Scope::grid, false>(*context.peer, *in.comm, in.rank, in.tag, in.data,
                                              in.bytes, in.slot, call, share);
}

/// Has come as far as `begun`: notes what is under way, or done, and sends what may be streamed.
/// `sent`: it is there. All of the block.
GMPI_NOINLINE void leave_long_pair(Begun begun, bool sent) {
  const GridTeam team{BlockTeam{thread_index() == 0}};
  State &state = *context.peer;
  Share &share = block_state().peer;
  LeftCall &out = send_of_pair(block_state().series), &in = receive_of_pair(block_state().series);
  if (team.leads()) {
    if (sent)
      note_made(state, out);
    out.over = true;
    if (begun == Begun::received) {
      in.tag = share.result.tag;
      in.carried = static_cast<std::uint32_t>(share.result.bytes);
      note_made(state, in);
    }
    in.over = begun == Begun::received || begun == Begun::matched;
  }
  team.sync();
  if (sent || !state.requests[out.slot].header.streams)
    return;
  if (!in.over) {
    if (team.leads())
      post_left(state, in, share);
    begin_to_receive(team, *in.comm, in.rank, in.tag, in.data, in.bytes, true, false);
    team.sync();
    if (team.leads())
      in.over = true;
  }
  if (team.leads())
    share.wait = {Wait::request_done,
                  {Function::Isend, Scope::grid, block_state().series.waits_at},
                  out.comm,
                  nullptr,
                  out.slot,
                  0,
                  0,
                  0,
                  out.rank,
                  out.tag,
                  0,
                  nothing};
  wait_for(team);
  stream_if_answered(team, out.slot, Begun::sent);
}

/// Makes a pair of long messages for a grid's wait, if all is usual. Returns answered then;
/// elsewhere, where the wait is to go on in the general way; or nothing, and nothing has happened.
/// All of the block that makes the wait, in whose number none is missing.
GMPI_NOINLINE Begun exchange_long_pair(int count, const MPI_Request *requests, bool tells) {
  LaunchState &launch = *block_state().launch;
  Begun begun = Begun::over;
  if (thread_index() < 32) {
    begun = Begun::nothing;
    if (are_pair_as_warp(count, requests)) {
      if (tells)
        note_statuses<true>(block_state().series, launch, count, requests);
      begun = go_on_long<Scope::grid, true>(announce_of_long_pair(tells));
    }
  }
  begun = tell_all(begun);
  const bool sent = begun == Begun::storing;
  if (sent) {
    store_message<Scope::grid, false>();
    begun = Begun::over;
    if (thread_index() < 32)
      begun = go_on_long<Scope::grid, true>(receive_of_long_pair(tells));
    begun = tell_all(begun);
  }
  if (begun == Begun::sharing)
    begun = carry_with_grid();
  if (is_made_pair(begun)) {
    end_pair(tells);
    return Begun::answered;
  }
  if (tells && thread_index() == 0)
    launch.statuses.next = 0;
  if (begun == Begun::nothing)
    return begun;
  leave_long_pair(begun, sent);
  return Begun::elsewhere;
}

} // namespace gmpi::device::peer
