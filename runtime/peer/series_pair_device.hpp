// The shortest exchange that is left to a grid's wait: one message each way, both up to wide_bytes.
// It is made as MPI_Sendrecv is (short_device.hpp, span_device.hpp, wide_device.hpp).
//
// Invariant: where it has not been made, the message may have been sent, and its call is over then;
// nothing is held, and the exchange goes on in the way of longer ones (series_wait_device.hpp).
#pragma once

#include "series_device.hpp"
#include "wide_device.hpp"

namespace gmpi::device::peer {

/// Whether two calls have been left, one of each kind, and neither is longer than a wide one.
GMPI_DEVICE bool is_pair(const Series &series) {
  const LeftCall *const calls = series.call;
  return series.count() == 2 && calls[0].sends != calls[1].sends &&
         (calls[0].bytes <= wide_bytes) & (calls[1].bytes <= wide_bytes);
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

/// Has all blocks read the message that has been found, if that is a wide one, and for the pair's
/// receive. The first warp, whole, which holds the channels.
GMPI_DEVICE bool receive_wide_as_pair(const LeftCall &call, const Arrived &arrived, bool tells) {
  const Header &header = arrived.header;
  if (!is_wide(header) || header.bytes > call.bytes || !is_for(header, *call.comm, call.tag))
    return false;
  if (tells && lane_index() == 0)
    note_short<Scope::grid>(block_state().peer, call.rank, header.tag,
                            static_cast<std::uint32_t>(header.bytes));
  if (lane_index() == 0)
    note_taken(*call.comm, call.rank, {arrived.common, arrived.owned}, arrived.channel, header);
  return receive_wide(*context.peer, call.peer, call.data, arrived,
                      tells ? Begun::answered : Begun::over) == Begun::sharing;
}

/// Receives, once its other message has been sent. Returns over, or answered where it `tells` what
/// it has received, in the launch's result; or that all of the block, or grid, are to carry a span;
/// or nothing. The first warp, whole.
template <bool tells> GMPI_NOINLINE Begun receive_as_pair() {
  BlockState &block = block_state();
  const LeftCall &call = receive_of_pair(block.series);
  const Begun begun = receive_short<Scope::grid, false>(
      call.comm->handle, call.rank, call.tag, call.data, call.count, call.datatype, tells);
  if (is_made_pair(begun) || is_span(begun))
    return begun;
  const Arrived &arrived = block.peer.arrived;
  if (begun == Begun::found && receive_wide_as_pair(call, arrived, tells))
    return Begun::sharing;
  if (lane_index() == 0) {
    if (begun != Begun::nothing)
      let_channels_go(*context.peer, call.peer, {arrived.common, arrived.owned});
    note_made(*context.peer, send_of_pair(block.series));
  }
  __syncwarp();
  return Begun::nothing;
}

/// Sends, and receives if all that has been written. Returns as receive_as_pair(). The same warp.
template <bool tells> GMPI_NOINLINE Begun send_as_pair() {
  Series &series = block_state().series;
  const LeftCall &call = send_of_pair(series), &receive = receive_of_pair(series);
  if (!is_in_words(receive.data, 0) || receive.rank < 0)
    return Begun::nothing;
  if (is_long(call))
    return send_wide(*call.comm, call.rank, call.tag, call.data, call.bytes, call.datatype,
                     Begun::sent);
  const Begun begun =
      send_short<Scope::grid, false>(call.comm->handle, call.rank, call.tag, call.data, call.count,
                                     call.datatype, receive.rank, Begun::sent);
  return begun == Begun::sent ? receive_as_pair<tells>() : begun;
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
      carry_wide();
    else
      begun == Begun::spanning ? write_span<Scope::grid, false>() : write_span<Scope::grid, true>();
    tell_of_span();
    begun = tell_all(thread_index() < 32 ? receive_as_pair<tells>() : Begun::over);
  }
  if (is_span(begun))
    begun =
        begun == Begun::spanning ? read_span<Scope::grid, false>() : read_span<Scope::grid, true>();
  if (begun == Begun::sharing)
    begun = carry_last_wide();
  return is_made_pair(begun);
}

} // namespace gmpi::device::peer
