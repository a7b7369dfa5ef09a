// Exchanges of long messages that are left to a grid's wait and made as MPI_Sendrecv is
// (quick_long_device.hpp, exchange_device.hpp), with the requests that their calls have: of one
// message each way; or of several, to one rank and from one, one behind the other, where they are
// too long to be stored together, or it is not known where those that come could be.
//
// Invariant: messages go, and are received, in the order of their calls. Where one has not been
// made so, what is under way, or done, is noted as such, and nothing is held; the wait goes on in
// the general way. What may be streamed has been sent then: who reads it may wait for nothing else.
// So that is waited for, once all others have begun: its reader may first want one of these.
#pragma once

#include "../quick/exchange_device.hpp"
#include "series_pair_device.hpp"

namespace gmpi::device::peer {

/// Whether two calls have been left, one of each kind, and both are longer than a wide one.
GMPI_DEVICE bool is_long_pair(const Series &series) {
  const LeftCall *const calls = series.call;
  return is_one_each_way(series) & (calls[0].bytes > wide_bytes) & (calls[1].bytes > wide_bytes);
}
/// Whether as many send as receive, all of them to one rank and from one, and all are so long. The
/// first warp.
GMPI_DEVICE bool are_long_pairs(const Series &series) {
  const std::uint32_t lane = lane_index(), count = series.count();
  const LeftCall &call = series.call[lane];
  const bool is_one = lane < count;
  const unsigned sends = __ballot_sync(whole_warp, is_one && call.sends);
  const unsigned receives = __ballot_sync(whole_warp, is_one && !call.sends);
  const unsigned its = call.sends ? sends : receives;
  const bool is_good = !is_one || (call.bytes > wide_bytes && !call.over && its != 0 &&
                                   call.peer == series.call[__ffs(static_cast<int>(its)) - 1].peer);
  return __popc(sends) == __popc(receives) && __all_sync(whole_warp, is_good);
}

/// The pair that is being made.
GMPI_DEVICE LeftCall &long_send(Series &series) { return series.call[series.long_send]; }
GMPI_DEVICE LeftCall &long_receive(Series &series) { return series.call[series.long_receive]; }
/// It is number `pair`. The first warp.
GMPI_DEVICE void choose_long_pair(Series &series, std::uint32_t pair) {
  const std::uint32_t lane = lane_index();
  const bool is_one = lane < series.count(), sends = series.call[lane].sends;
  unsigned out = __ballot_sync(whole_warp, is_one && sends);
  unsigned in = __ballot_sync(whole_warp, is_one && !sends);
  GMPI_NO_UNROLL
  for (; pair != 0; --pair)
    out &= out - 1, in &= in - 1;
  if (lane == 0) {
    series.long_send = static_cast<std::uint32_t>(__ffs(static_cast<int>(out))) - 1;
    series.long_receive = static_cast<std::uint32_t>(__ffs(static_cast<int>(in))) - 1;
  }
  __syncwarp();
}

/// Announces the one that is sent, and awaits its answer, or the other one, as
/// go_on_exchanging(). `goes_on`: as of LongCall. Or returns nothing, and nothing has happened. The
/// first warp, whole.
template <class = void> GMPI_NOINLINE Begun announce_of_long_pair(bool tells, bool goes_on) {
  State &state = *context.peer;
  Series &series = block_state().series;
  Share &share = block_state().peer;
  const LeftCall &out = long_send(series), &in = long_receive(series);
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
  call.goes_on = goes_on;
  const LongRoute by{i, route.context, out.comm->handle, route.order, route.next, route.out};
  if (announce_by_route<Scope::grid>(state, by, out.slot, out.tag, out.data, out.bytes, true, call,
                                     share) == nullptr)
    return Begun::nothing;
  return go_on_exchanging<Scope::grid>(state, *in.comm, in.rank, in.tag, in.data, in.bytes, in.slot,
                                       call, share);
}

/// Goes on with the one that is received, where the other one is there. The same warp.
template <class = void> GMPI_NOINLINE Begun receive_of_long_pair(bool tells, bool goes_on) {
  Share &share = block_state().peer;
  const LeftCall &in = long_receive(block_state().series);
  if (share.long_call.receiving != nothing)
    return end_exchange(in.rank, in.bytes, tells, share);
  LongCall call = sending_call(Begun::over, tells);
  call.goes_on = goes_on;
  call.sending = nothing;
  return go_on_exchanging<Scope::grid, false>(*context.peer, *in.comm, in.rank, in.tag, in.data,
                                              in.bytes, in.slot, call, share);
}

/// Notes what has been received of a pair. One thread.
GMPI_DEVICE void note_long_received(LeftCall &in, const Share &share) {
  in.tag = share.result.tag;
  in.carried = static_cast<std::uint32_t>(share.result.bytes);
}

/// The pair has come as far as `begun`: notes what is under way, or done, and sends what may be
/// streamed, once the calls behind it have begun. `sent`: it is there. All of the block.
GMPI_NOINLINE void leave_long_pair(Begun begun, bool sent) {
  const GridTeam team{BlockTeam{thread_index() == 0}};
  State &state = *context.peer;
  Share &share = block_state().peer;
  Series &series = block_state().series;
  LeftCall &out = long_send(series), &in = long_receive(series);
  if (team.leads()) {
    if (sent)
      note_made(state, out);
    out.over = true;
    if (begun == Begun::received) {
      note_long_received(in, share);
      note_made(state, in);
    }
    in.over = begun == Begun::received || begun == Begun::matched;
  }
  team.sync();
  if (sent || !state.requests[out.slot].header.streams)
    return;
  begin_one_by_one(team);
  if (team.leads()) {
    GMPI_NO_UNROLL
    for (std::uint32_t i = 0; i < series.count(); ++i)
      series.call[i].over = true;
    share.wait = {Wait::request_done,
                  {Function::Isend, Scope::grid, series.waits_at},
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
  }
  wait_for(team);
  stream_if_answered(team, out.slot, Begun::sent);
}

/// Makes a pair, as far as it can be. Returns over or answered, where it has been made; else how
/// far it has come, and `sent`: what it sends is there. The block that makes the wait, whose first
/// warp has `begun` it.
GMPI_DEVICE Begun make_long_pair(Begun begun, bool &sent, bool tells, bool goes_on) {
  begun = tell_all(begun);
  sent = begun == Begun::storing;
  if (sent) {
    store_message<Scope::grid, false>();
    begun = Begun::over;
    if (thread_index() < 32)
      begun = go_on_long<Scope::grid, true>(receive_of_long_pair(tells, goes_on));
    begun = tell_all(begun);
  }
  return begun == Begun::sharing ? carry_with_grid() : begun;
}

/// Makes long messages for a grid's wait, pair by pair, if all is usual: one, or (`several`) more.
/// Returns answered then; elsewhere, where the wait is to go on in the general way; or nothing, and
/// nothing has happened. All of the block that makes the wait, in whose number none is missing.
GMPI_NOINLINE Begun exchange_long_pairs(int count, const MPI_Request *requests, bool tells,
                                        bool several) {
  LaunchState &launch = *block_state().launch;
  Series &series = block_state().series;
  const std::uint32_t pairs = series.count() / 2;
  std::uint32_t made = 0;
  Begun begun;
  bool sent;
  GMPI_NO_UNROLL
  for (;; ++made) {
    const bool goes_on = made + 1 < pairs;
    begun = Begun::over;
    if (thread_index() < 32) {
      begun = Begun::nothing;
      if (made != 0 ||
          ((!several || are_long_pairs(series)) && are_all_left_as_warp(count, requests))) {
        choose_long_pair(series, made);
        if (tells && !goes_on)
          note_statuses(series, launch, count, requests, &long_receive(series));
        begun = go_on_long<Scope::grid, true>(announce_of_long_pair(tells || goes_on, goes_on));
      }
    }
    begun = make_long_pair(begun, sent, tells || goes_on, goes_on);
    if (!is_made_pair(begun))
      break;
    if (!goes_on) {
      end_pair(tells);
      return Begun::answered;
    }
    if (thread_index() == 0)
      note_long_received(long_receive(series), block_state().peer);
    __syncthreads();
  }
  if (thread_index() == 0) {
    if (tells)
      launch.statuses.next = 0;
    std::uint32_t left[] = {made, made}; // of those that receive, and that send
    GMPI_NO_UNROLL
    for (std::uint32_t i = 0; i < series.count(); ++i)
      if (LeftCall &call = series.call[i]; left[call.sends] != 0) {
        --left[call.sends];
        note_made(*context.peer, call);
      }
  }
  __syncthreads();
  if (begun == Begun::nothing)
    return made == 0 ? Begun::nothing : Begun::elsewhere;
  leave_long_pair(begun, sent);
  return Begun::elsewhere;
}

} // namespace gmpi::device::peer
