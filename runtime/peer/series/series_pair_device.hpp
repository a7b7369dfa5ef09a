// The shortest exchange that is left to a grid's wait: one message each way, both up to wide_bytes.
// It is made as MPI_Sendrecv is (short_send_device.hpp, short_receive_device.hpp, span_device.hpp,
// wide_device.hpp).
//
// Invariant: where it has not been made, the message may have been sent, and its call is over then;
// nothing is held, and the exchange goes on in the way of longer ones (series_wait_device.hpp).
// (Where both are longer than that: series_long_pair_device.hpp.)
#pragma once

#include "../channel/wide_device.hpp"
#include "series_receive_device.hpp"

namespace gmpi::device::peer {

/// Whether two calls have been left, one of each kind, from kernel to kernel.
GMPI_DEVICE bool is_one_each_way(const Series &series) {
  return series.count() == 2 && series.call[0].sends != series.call[1].sends && !are_queued(series);
}
/// The same, and neither is longer than a wide one.
GMPI_DEVICE bool is_pair(const Series &series) {
  const LeftCall *const calls = series.call;
  return is_one_each_way(series) && (calls[0].bytes <= wide_bytes) & (calls[1].bytes <= wide_bytes);
}
/// The one that receives.
GMPI_DEVICE LeftCall &receive_of_pair(Series &series) {
  return series.call[series.call[0].sends ? 1 : 0];
}
/// The one that sends.
GMPI_DEVICE LeftCall &send_of_pair(Series &series) {
  return series.call[series.call[0].sends ? 0 : 1];
}

/// While its block arrives, of which any may make the wait: see prepare_to_receive(). The first
/// warp.
GMPI_DEVICE void prepare_pair() {
  Series &series = block_state().series;
  if (!is_pair(series))
    return;
  const LeftCall &call = receive_of_pair(series);
  prepare_to_receive<Scope::grid>(call.comm->handle, call.rank);
}

/// Whether a pair has been made.
GMPI_DEVICE bool is_made_pair(Begun begun) {
  return begun == Begun::over || begun == Begun::answered;
}

/// Receives, once its other message has been sent. Returns over, or answered where it `tells` what
/// it has received, in the launch's result; or that all of the block are to carry a span; else what
/// end_receiving_as_pair() goes on with. The first warp, whole.
template <bool tells> GMPI_NOINLINE Begun receive_as_pair() {
  const LeftCall &call = receive_of_pair(block_state().series);
  return receive_short<Scope::grid, false, false>(call.comm->handle, call.rank, call.tag, call.data,
                                                  call.count, call.datatype, tells);
}
/// Goes on where it has come no further. Returns sharing, where all blocks are to read its
/// message; or nothing. The same warp.
template <bool tells> GMPI_NOINLINE Begun end_receiving_as_pair(Begun begun) {
  BlockState &block = block_state();
  const LeftCall &call = receive_of_pair(block.series);
  if (begun == Begun::found)
    begun = read_wide_found(call.comm->handle, call.rank, call.tag, call.data, call.count, tells);
  if (begun == Begun::found)
    begun = read_apart_found<Scope::grid, true>(call.comm->handle, call.rank, call.tag, call.data,
                                                call.count, tells);
  if (begun == Begun::sharing)
    return begun;
  if (lane_index() == 0) {
    const Arrived &arrived = block.peer.arrived;
    if (begun != Begun::nothing)
      let_channels_go(*context.peer, call.peer, {arrived.common, arrived.owned});
    note_made(*context.peer, send_of_pair(block.series));
  }
  __syncwarp();
  return Begun::nothing;
}
/// Both.
template <bool tells> GMPI_DEVICE Begun receive_of_pair_as_warp() {
  const Begun begun = receive_as_pair<tells>();
  return is_made_pair(begun) || is_span(begun) ? begun : end_receiving_as_pair<tells>(begun);
}

/// Sends, and receives if all that has been written. Returns as receive_as_pair(). The same warp.
template <bool tells> GMPI_NOINLINE Begun send_as_pair() {
  Series &series = block_state().series;
  const LeftCall &call = send_of_pair(series), &receive = receive_of_pair(series);
  if (!is_in_words(receive.data, 0) || receive.rank < 0)
    return Begun::nothing;
  if (is_long(call))
    return send_wide(*call.comm, call.rank, call.tag, call.data, call.count, call.bytes,
                     call.datatype, Begun::sent);
  const Begun begun =
      send_short<Scope::grid, false>(call.comm->handle, call.rank, call.tag, call.data, call.count,
                                     call.datatype, receive.rank, Begun::sent);
  return begun == Begun::sent ? receive_of_pair_as_warp<tells>() : begun;
}

/// Makes it, and tells the other blocks, if the first warp `may` and all is usual. All of the block
/// that makes the wait, in whose number none is missing. Returns whether it has.
template <bool tells> GMPI_DEVICE bool exchange_pair(bool may) {
  Begun begun = Begun::over;
  if (thread_index() < 32)
    begun = may ? send_as_pair<tells>() : Begun::nothing;
  begun = tell_all(begun);
  const Span &span = block_state().peer.span;
  const bool writes = is_span(begun) && is_to_be_written(span);
  if (writes || (begun == Begun::sharing && !span.reads)) {
    if (begun == Begun::sharing)
      carry_with_grid();
    else
      begun == Begun::spanning ? write_span<Scope::grid, false>() : write_span<Scope::grid, true>();
    tell_of_span();
    begun = tell_all(thread_index() < 32 ? receive_of_pair_as_warp<tells>() : Begun::over);
  }
  if (is_span(begun))
    begun =
        begun == Begun::spanning ? read_span<Scope::grid, false>() : read_span<Scope::grid, true>();
  if (begun == Begun::sharing)
    begun = carry_with_grid();
  return is_made_pair(begun);
}

// --- what both ends of it need ---

/// All have been made and waited for: their requests are ready for other calls. The same warp.
GMPI_DEVICE void end_series(State &state, Series &series, LaunchState &launch) {
  const std::uint32_t lane = lane_index(), count = series.count();
  const LeftCall &call = series.call[lane];
  if (lane < count)
    put_ready(launch, series.next - count + lane + ReadyRequests::most, {call.slot, call.serial});
  __syncwarp();
  if (lane == 0) {
    increase_relaxed_device(&state.left, count);
    increase_relaxed_device(&state.exchanged, count);
    series.end();
  }
}

/// Leaves to all blocks what has been received, by request; or, of the call `by_result`, that the
/// launch's result will tell. The first warp.
GMPI_DEVICE void note_statuses(const Series &series, LaunchState &launch, int count,
                               const MPI_Request *requests, const LeftCall *by_result = nullptr) {
  const std::uint32_t lane = lane_index();
  if (lane < static_cast<std::uint32_t>(count)) {
    const std::uint32_t slot = decode_request(requests[lane]).slot;
    auto &its = launch.statuses.of[lane];
    const CallResult none = nothing_received();
    its = {none.source, none.tag, 0};
    GMPI_NO_UNROLL
    for (std::uint32_t i = 0; i < series.count(); ++i)
      if (const LeftCall &call = series.call[i]; call.slot == slot && !call.sends)
        its = {&call == by_result ? LeftStatuses::is_result : call.rank, call.tag, call.carried};
  }
  if (lane == 0)
    launch.statuses.next = series.next;
  __syncwarp();
}

/// Whether these requests are those of all that has been left. The first warp, whole.
template <class = void>
GMPI_NOINLINE bool are_all_left_as_warp(int count, const MPI_Request *requests) {
  return are_of_series(block_state().series, requests, count);
}

/// Ends a series of which a pair has been made. All of the block, who meet once more before another
/// call is left: where they are given null requests, or (`meet`) here.
GMPI_DEVICE void end_pair(bool meet) {
  if (thread_index() < 32)
    end_series(*context.peer, block_state().series, *block_state().launch);
  if (meet)
    __syncthreads();
}

/// Makes a pair that the first warp carries by itself, if all is usual. Returns whether it has;
/// else see above. The warp, whole.
template <class = void>
GMPI_NOINLINE bool exchange_pair_as_warp(int count, const MPI_Request *requests) {
  if (!are_all_left_as_warp(count, requests) || !is_made_pair(send_as_pair<false>()))
    return false;
  end_series(*context.peer, block_state().series, *block_state().launch);
  return true;
}

} // namespace gmpi::device::peer
