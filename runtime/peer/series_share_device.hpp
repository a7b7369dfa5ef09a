// Messages of an exchange that all blocks of the grid carry together, where one alone would take
// longer than it takes to tell the others.
//
// Invariant: the other blocks take portions in order of what they are told: first what is written,
// then what has been found to be read, until they are told to stop; they wait with a portion in
// hand for nothing but packets that are on their way. What the others have carried is done when
// they have stopped: before anybody is told that the call is over, or is asked for something else.
#pragma once

#include "series_device.hpp"

namespace gmpi::device::peer {

using gmpi::peer::SharedSpan;
using gmpi::peer::SharedSpans;

/// Fewer bytes are not worth it.
constexpr std::uint32_t least_shared = 160 * 1024;
/// A portion: bundles, one for each warp of a block as they mostly are, or packets; the last one
/// has what is left behind these, too.
constexpr std::uint32_t portion_bundles = 8, portion_bytes = portion_bundles * bundle_bytes;
constexpr std::uint32_t portion_packets = portion_bytes / packet_bytes;
constexpr std::uint32_t no_portion = ~0u;

GMPI_DEVICE std::uint32_t portions_of(const LeftCall &call) {
  const std::uint32_t whole =
      call.dense ? call.carried / bundle_bytes * bundle_bytes : call.carried;
  return (whole + portion_bytes - 1) / portion_bytes;
}

/// The sum of what this lane and those before it have.
GMPI_DEVICE std::uint32_t sum_up_to_lane(std::uint32_t value) {
  const std::uint32_t lane = lane_index();
  GMPI_UNROLL
  for (std::uint32_t by = 1; by < 32; by *= 2) {
    const std::uint32_t before = of_lane(value, (lane - by) % 32);
    value += lane >= by ? before : 0;
  }
  return value;
}

/// Tells the other blocks of the messages of series.to_carry and to_share, if that is worth it, or
/// they are at it: series.sharing. Of those that are written it writes the headers. The first warp.
GMPI_NOINLINE void tell_spans(bool reads) {
  Series &series = block_state().series;
  const std::uint32_t lane = lane_index();
  const LeftCall &call = series.call[lane];
  const std::uint32_t those = series.to_carry | series.to_share;
  const bool is_one = (those >> lane & 1) != 0;
  if (!series.sharing) {
    const std::uint32_t bytes = sum_up_to_lane(is_one ? call.carried : 0);
    if (of_lane(bytes, 31) < least_shared || block_state().living_blocks == 1)
      return;
  }
  SharedSpans &spans = block_state().launch->spans;
  const bool begins = !series.sharing;
  const std::uint32_t spans_before = begins ? 0 : series.told_spans;
  const std::uint32_t before = begins ? 0 : series.told_portions;
  const std::uint32_t portions = is_one ? portions_of(call) : 0;
  const std::uint32_t end = before + sum_up_to_lane(portions);
  __syncwarp(); // all have read what lane 0 writes
  if (is_one) {
    spans.of[spans_before + __popc(those & ((1u << lane) - 1))] = {
        call.ring,      static_cast<unsigned char *>(call.data),
        call.first,     call.carried,
        end - portions, end,
        call.dense,     reads};
    if (!reads)
      for (std::uint32_t p = 0; p < header_packets; ++p)
        write_header_packet(call, p);
  }
  const std::uint32_t all = of_lane(end, 31);
  __syncwarp();
  if (lane == 0) {
    series.told_spans = spans_before + __popc(those);
    series.told_portions = all;
    if (begins) {
      series.sharing = true;
      series.claim = no_portion;
      spans.taken = 0;
    }
    store_release_device(&spans.told, all | static_cast<unsigned long long>(series.told_spans)
                                                << 32);
    if (begins)
      GridTeam::command_helpers({0, 0, 0, GridTask::carry_spans}, GridCommand::copy);
  }
  __syncwarp();
}

/// Until all that has been told of is carried. All of the block.
GMPI_DEVICE void await_sharers() {
  if (thread_index() == 0) {
    SharedSpans &spans = block_state().launch->spans;
    constexpr auto stop = static_cast<unsigned long long>(SharedSpans::stop) << 32;
    store_relaxed_device(&spans.told, spans.told | stop);
    GridTeam::await_helpers();
    block_state().series.sharing = false;
  }
  __syncthreads();
}

/// Finds this block a portion; `waits`: until it is told of one. Else it may be that there is none
/// yet: the one that it is to have is noted for the next time. The first warp, whole.
GMPI_DEVICE void take_portion(SharedSpans &spans, Series &series, bool waits) {
  const std::uint32_t lane = lane_index();
  std::uint32_t claim = of_lane(series.claim, 0);
  if (claim == no_portion)
    claim = of_lane(lane == 0 ? add_in_flight_device(&spans.taken, 1) : 0, 0);
  unsigned long long told;
  GMPI_NO_UNROLL
  for (;;) {
    told = of_lane(load_relaxed_device(&spans.told), 0);
    if (claim < static_cast<std::uint32_t>(told))
      break;
    if (!waits || (told >> 32 & SharedSpans::stop) != 0) {
      if (lane == 0) {
        series.claim = claim;
        series.portion = no_portion;
      }
      __syncwarp();
      return;
    }
    relax();
  }
  acquire_device();
  const std::uint32_t count = static_cast<std::uint32_t>(told >> 32) & ~SharedSpans::stop;
  std::uint32_t index = 0;
  GMPI_NO_UNROLL
  for (std::uint32_t i = lane; i - lane < count; i += 32) {
    const bool is_behind = i < count && spans.of[i].next <= claim;
    index += __popc(__ballot_sync(whole_warp, is_behind));
  }
  if (lane == 0) {
    series.span = spans.of[index];
    series.portion = claim - series.span.begin;
    series.claim = no_portion;
  }
  __syncwarp();
}

/// A portion of one message, as `rank` of `size` threads.
template <bool reads>
GMPI_DEVICE void carry_portion(const SharedSpan &span, std::uint32_t portion, std::uint32_t rank,
                               std::uint32_t size) {
  SpanWindow window(span.ring, span.data, span.first, span.bytes);
  const std::uint32_t from = portion * portion_packets, left = window.packets() - from;
  const std::uint32_t end = from + (left < portion_packets ? left : portion_packets);
  if (span.dense) {
    Bundles bundles = window.bundles();
    const bool is_last = portion + 1 == span.next - span.begin;
    window.skip(bundles);
    bundles.ring += portion * portion_bundles * bundle_packets * packet_words;
    bundles.data += portion * portion_bytes;
    bundles.count -= portion * portion_bundles;
    if (!is_last)
      bundles.count = portion_bundles;
    carry_bundles<reads>(bundles, rank, size, [] {});
    if (is_last)
      carry_span<reads, 1, true>(window, size - 1 - rank, window.packets(), size, [] {});
  } else if (is_in_words(span.data, span.bytes)) {
    carry_words<reads>(window, from + rank, end, size, [] {});
  } else {
    carry_bytes<reads>(window, from + rank, end, size);
  }
}

/// All of a block, in whose number none is missing, carry portions; `waits`: until they are told to
/// stop, else as long as there are any. They have met when it returns.
GMPI_NOINLINE void carry_spans(bool waits) {
  BlockState &block = block_state();
  Series &series = block.series;
  GMPI_NO_UNROLL
  for (;;) {
    if (thread_index() < 32)
      take_portion(block.launch->spans, series, waits);
    __syncthreads();
    const std::uint32_t portion = series.portion;
    if (portion == no_portion)
      break;
    const SharedSpan &span = series.span;
    span.reads ? carry_portion<true>(span, portion, thread_index(), block_threads())
               : carry_portion<false>(span, portion, thread_index(), block_threads());
    __syncthreads();
  }
}

/// Carries messages together with the other blocks, if that is worth it, or they are at it. All of
/// the block that makes the calls; they have met when it returns.
GMPI_NOINLINE bool carry_with_others(bool reads) {
  const Series &series = block_state().series;
  if (thread_index() < 32)
    tell_spans(reads);
  __syncthreads();
  const bool sharing = series.sharing;
  if (sharing)
    carry_spans(false);
  return sharing;
}

/// Another block's part, until it is told to stop. (One that lacks threads has none.)
GMPI_DEVICE void help_spans() {
  if (!BlockTeam::has_warp())
    return;
  if (thread_index() == 0)
    block_state().series.claim = no_portion;
  __syncthreads();
  carry_spans(true);
}

} // namespace gmpi::device::peer
