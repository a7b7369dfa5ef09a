// Messages of an exchange that all blocks of the grid carry together, where one alone would take
// longer than it takes to tell the others.
//
// Invariant: each warp of the grid carries its part of each message, which follows from the warp's
// number, in order of what the blocks are told: first what is written, then what has been found to
// be read, until they are told to stop. So all blocks have all of their threads; and they wait for
// nothing but packets whose writers have been told of them before. What the others have carried is
// done when they have stopped: before anybody is told that the call is over, or is asked for
// something else.
#pragma once

#include "series_device.hpp"

namespace gmpi::device::peer {

using gmpi::peer::SharedSpan;
using gmpi::peer::SharedSpans;

/// Fewer bytes are not worth it.
constexpr std::uint32_t least_shared = 160 * 1024;

constexpr std::uint32_t row_bytes = 32 * packet_bytes;
/// A message in units of what a warp carries at a time: a bundle, or a packet of each lane.
GMPI_DEVICE std::uint32_t units_of(const LeftCall &call) {
  return call.dense ? call.carried / bundle_bytes : (call.carried + row_bytes - 1) / row_bytes;
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
    if (of_lane(bytes, 31) < least_shared || !are_all_there())
      return;
  }
  SharedSpans &spans = block_state().launch->spans;
  const bool begins = !series.sharing;
  const std::uint32_t spans_before = begins ? 0 : series.told_spans;
  const std::uint32_t before = begins ? 0 : series.told_units;
  const std::uint32_t units = is_one ? units_of(call) : 0;
  const std::uint32_t end = before + sum_up_to_lane(units);
  __syncwarp(); // all have read what lane 0 writes
  if (is_one) {
    spans.of[spans_before + __popc(those & ((1u << lane) - 1))] = {
        call.ring,   static_cast<unsigned char *>(call.data),
        call.first,  call.carried,
        end - units, call.dense,
        reads,       static_cast<std::uint16_t>(call.rank % Routes::most)};
    if (!reads)
      for (std::uint32_t p = 0; p < header_packets; ++p)
        write_header_packet(call, p);
  }
  const std::uint32_t all = of_lane(end, 31);
  __syncwarp();
  if (lane == 0) {
    series.told_spans = spans_before + __popc(those);
    series.told_units = all;
    if (begins) {
      series.sharing = true;
      series.spans = 0;
      spans.ahead = reads || series.pending != 0 ? ~0u : (block_index() + 1) % grid_blocks();
      spans.wide = series.was_wide;
    }
    store_release_device(&spans.told, series.told_spans);
    if (begins)
      GridTeam::command_helpers({0, 0, 0, GridTask::carry_spans}, GridCommand::copy);
  }
  __syncwarp();
}

/// Until all that has been told of is carried. The first warp.
GMPI_DEVICE void await_sharers(Series &series) {
  if (lane_index() == 0) {
    SharedSpans &spans = block_state().launch->spans;
    store_relaxed_device(&spans.told, spans.told | SharedSpans::stop);
    GridTeam::await_helpers();
    series.sharing = false;
  }
  __syncwarp();
}

/// A thread's part of one, as `rank` of `size` threads.
template <bool reads>
GMPI_DEVICE void carry_shared(const SharedSpan &span, std::uint32_t rank, std::uint32_t size) {
  const SpanWindow window(span.ring, span.data, span.first, span.bytes);
  if (span.dense)
    carry_packets<true, reads>(window, rank, size, [] {});
  else if (is_in_words(span.data, span.bytes))
    carry_packets<false, reads>(window, rank, size, [] {});
  else
    carry_bytes<reads>(window, rank, window.packets(), size);
}

/// A warp's place among those of the grid for a message: where the one before it ends, the next
/// warps begin with it. And how many there are.
struct WarpsPlace {
  std::uint32_t own, all;

  GMPI_DEVICE explicit WarpsPlace(const SharedSpan &span) {
    all = grid_blocks() * (block_threads() / 32);
    const std::uint32_t number = thread_index() / 32 * grid_blocks() + block_index();
    const std::uint32_t first = span.before % all;
    own = number + (number < first ? all : 0) - first;
  }
  /// Whether it has a part: a bundle, or packets, of the rest behind bundles from the last one on.
  GMPI_DEVICE bool has_part(const SharedSpan &span) const {
    const std::uint32_t rest = span.dense ? span.bytes % bundle_bytes : span.bytes;
    const std::uint32_t bundles = span.dense ? span.bytes / bundle_bytes : 0;
    const std::uint32_t from_end = span.dense ? all - 1 - own : own;
    return own < bundles || from_end * row_bytes < rest;
  }
};

/// All of a block carry their part of those that have been told of, from number `from` to before
/// `end`. They have met when it returns.
GMPI_NOINLINE void carry_spans(std::uint32_t from, std::uint32_t end) {
  const SharedSpans &spans = block_state().launch->spans;
  const std::uint32_t lane = lane_index();
  GMPI_NO_UNROLL
  for (; from < end && thread_index() / 32 < block_threads() / 32; from += 32) {
    // Each lane looks at another one.
    const bool is_one = from + lane < end;
    const SharedSpan its = spans.of[is_one ? from + lane : from];
    const bool has_part = is_one && WarpsPlace(its).has_part(its);
    GMPI_NO_UNROLL
    for (unsigned those = __ballot_sync(whole_warp, has_part); those != 0; those &= those - 1) {
      const SharedSpan span =
          spans.of[from + static_cast<std::uint32_t>(__ffs(static_cast<int>(those))) - 1];
      const WarpsPlace place(span);
      const std::uint32_t rank = place.own * 32 + lane, size = place.all * 32;
      span.reads ? carry_shared<true>(span, rank, size) : carry_shared<false>(span, rank, size);
    }
  }
  __syncthreads();
}

/// Carries messages together with the other blocks, if that is worth it, or they are at it. All of
/// the block that makes the calls; they have met when it returns.
GMPI_NOINLINE bool carry_with_others(bool reads) {
  Series &series = block_state().series;
  if (thread_index() < 32)
    tell_spans(reads);
  __syncthreads();
  if (!series.sharing)
    return false;
  carry_spans(series.spans, series.told_spans);
  if (thread_index() == 0)
    series.spans = series.told_spans;
  return true;
}

/// Has slots at hand for as many messages as those of the first 32 spans that are written. A warp,
/// whole, of a block other than that which makes the calls, and sends nothing else meanwhile.
GMPI_NOINLINE void look_for_as_many(const SharedSpans &spans, std::uint32_t count) {
  State &state = *context.peer;
  const std::uint32_t lane = lane_index();
  const SharedSpan &span = spans.of[lane];
  const bool is_one = lane < count && !span.reads;
  const std::uint32_t route = is_one ? span.route : Routes::most;
  const auto own = static_cast<std::uint32_t>(is_one ? slots_for(span.bytes, span.dense) : 0);
  const unsigned same = __match_any_sync(whole_warp, route);
  const std::uint32_t slots = sum_of_lanes(own, same); // of all that take this route
  GMPI_NO_UNROLL
  for (unsigned firsts = __ballot_sync(whole_warp, is_one && (same & ((1u << lane) - 1)) == 0);
       firsts != 0; firsts &= firsts - 1) {
    const std::uint32_t first = __ffs(static_cast<int>(firsts)) - 1, i = of_lane(route, first);
    const Route its = load_route<Scope::grid>(i);
    const unsigned long long end = its.next + of_lane(slots, first);
    if (end <= its.free_until)
      continue;
    const std::uint32_t channel = routes_of<Scope::grid>().channel[i];
    find_free_as_warp(state, channel, end, lane);
    __syncwarp();
    if (lane == 0)
      note_free_until<Scope::grid>(i, load_relaxed_device(&state.sending[channel].free_until));
  }
}

/// Another block's part, until it is told to stop.
GMPI_NOINLINE void help_spans() {
  BlockState &block = block_state();
  const SharedSpans &spans = block.launch->spans;
  std::uint32_t told = 0;
  do {
    const std::uint32_t known = told;
    if (thread_index() == 0) {
      GMPI_NO_UNROLL
      while ((told = load_relaxed_device(&spans.told)) == known)
        relax();
      acquire_device();
      block.series.spans = told;
      block.series.was_wide = spans.wide;
    }
    __syncthreads();
    told = block.series.spans;
    const std::uint32_t count = told & ~SharedSpans::stop;
    carry_spans(known, count);
    if (known == 0 && spans.ahead == block_index() &&
        thread_index() / 32 + 1 == block_threads() / 32)
      look_for_as_many(spans, count);
  } while ((told & SharedSpans::stop) == 0);
}

} // namespace gmpi::device::peer
