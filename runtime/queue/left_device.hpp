// Nonblocking calls of a grid by way of the proxy that its blocks have left to the next one: its
// block hands them over all at once, a lane of its first warp for each.
//
// Invariant: as of ../peer/series/series_device.hpp, which notes them: all of a series go by way of
// the proxy, or none. What a call sends goes with its Attribute, in words with its generation or,
// if it is long, before it, and lies in global memory. Each has its request already, one that the
// launch had ready; from here on that is as any other.
#pragma once

#include "../peer/series/series_ready_device.hpp"
#include "quick_device.hpp"

namespace gmpi::device {

using gmpi::peer::LeftCall;
using gmpi::peer::Series;

/// Data that a lane writes beside its Attribute by itself.
constexpr std::uint32_t lane_left_pairs = 6;

/// What a call sends, and whether a lane writes it by itself.
GMPI_DEVICE std::uint32_t bytes_sent(const LeftCall &call) { return call.sends ? call.bytes : 0; }
GMPI_DEVICE bool is_by_lane(const LeftCall &call) {
  return bytes_sent(call) <= lane_left_pairs * pair_bytes &&
         is_in_words(call.data, bytes_sent(call));
}
/// Whether it goes beside the Attribute as it is, and is to be there before that.
GMPI_DEVICE bool goes_ahead(const LeftCall &call) { return bytes_sent(call) > tagged_bytes; }

/// What the call's Attribute says. `record`: its slot's.
template <Function F>
GMPI_DEVICE void pack_left(const LeftCall &call, Site site, const RequestRecord &record,
                           std::uint64_t *contents) {
  Arguments a{};
  a.comm = call.queued.comm;
  Attribute attribute = make_attribute(F, Scope::grid, site);
  attribute.inline_in = true;
  attribute.slot = call.slot;
  attribute.serial = record.serial;
  attribute.turn = record.turn;
  attribute.beside = reply_data_bytes;
  if constexpr (F == Function::Isend) {
    attribute.in_bytes = call.bytes;
    attribute.tagged = call.bytes != 0 && !goes_ahead(call);
    a.send_buffer = call.data;
    a.send_count = call.count;
    a.send_datatype = call.datatype;
    a.dest = call.rank;
    a.send_tag = call.tag;
  } else {
    attribute.direct_out = is_direct<F>(call.data, call.bytes);
    a.recv_buffer = call.data;
    a.recv_count = call.count;
    a.recv_datatype = call.datatype;
    a.source = call.rank;
    a.recv_tag = call.tag;
  }
  pack_call(F, site, a, contents);
  pack_head(attribute, contents);
}

/// Hands a call over by its ticket, call.first. Its data is beside its Attribute, or will be with
/// that one's generation. One thread.
GMPI_DEVICE void hand_over(const LeftCall &call, Site site, const RequestRecord &record) {
  std::uint64_t contents[attribute_words] = {};
  call.sends ? pack_left<Function::Isend>(call, site, record, contents)
             : pack_left<Function::Irecv>(call, site, record, contents);
  RequestRecord &its = context.records[call.slot];
  its.out = call.sends ? nullptr : call.data;
  its.expected = call.sends ? 0 : expected_beside(call.data, call.bytes);
  write_words_here(context, call.first, contents);
}

/// Hands all over, but for data that a lane does not write, and calls whose data goes ahead. The
/// block's first warp, whole.
GMPI_OUT_OF_LINE void hand_over_as_warp() {
  BlockState &block = block_state();
  Series &series = block.series;
  const std::uint32_t lane = lane_index(), count = series.count();
  LeftCall &call = series.call[lane];
  const bool is_one = lane < count;
  // All of these need nothing of each other.
  NextTicket next{};
  if (lane == 0)
    next = {load_relaxed_device(&context.ring_state->consumed),
            add_relaxed_device(&context.ring_state->ticket, count)};
  RequestRecord record{};
  if (is_one)
    record = context.records[call.slot];
  const bool by_lane = is_one && is_by_lane(call);
  const auto bytes = static_cast<std::int32_t>(by_lane ? bytes_sent(call) : 0);
  DataPair pairs[lane_left_pairs];
  GMPI_UNROLL
  for (std::int32_t k = 0; k < static_cast<std::int32_t>(lane_left_pairs); ++k)
    if (k * pair_bytes < bytes)
      pairs[k] = DataPair::load_words(
          static_cast<const unsigned char *>(call.data) + k * pair_bytes, bytes - k * pair_bytes);
  const bool is_direct_out =
      is_one && !call.sends && is_direct<Function::Irecv>(call.data, call.bytes);
  if (is_direct_out)
    release_system(); // MPI's stores come after those of these threads
  if (lane == 0)
    await_room_here(context, {next.consumed, next.ticket + count - 1});
  const unsigned long long ticket = of_lane(next.ticket, 0) + lane;
  if (is_one)
    call.first = ticket;
  GMPI_UNROLL
  for (std::int32_t k = 0; k < static_cast<std::int32_t>(lane_left_pairs); ++k)
    if (k * pair_bytes < bytes)
      pairs[k].store(reinterpret_cast<std::uint64_t *>(ring_payload(context, ticket)) + 2 * k,
                     ring_generation(ticket));
  if (is_one && !goes_ahead(call))
    hand_over(call, series.site[lane], record);
}
/// The other data that goes with its Attribute, a warp each. All of the block. Returns whether some
/// is to go ahead.
GMPI_OUT_OF_LINE bool write_left_data() {
  const Series &series = block_state().series;
  const std::uint32_t warp = thread_index() / 32, warps = block_threads() / 32;
  std::uint32_t turn = 0; // whose it is
  bool ahead = false;
  GMPI_NO_UNROLL
  for (std::uint32_t i = 0; i < series.count(); ++i)
    if (const LeftCall &call = series.call[i]; goes_ahead(call)) {
      ahead = true;
    } else if (!is_by_lane(call)) {
      if (turn == warp)
        write_data(context, call.first, call.data, static_cast<std::int32_t>(bytes_sent(call)),
                   static_cast<std::int32_t>(lane_index()), 32);
      turn = turn + 1 == warps ? 0 : turn + 1;
    }
  return ahead;
}

/// Writes what is to go ahead, and hands over what it belongs to: some calls at a time, so that the
/// host has something to do soon, and a fence is not waited for after each. All of the block.
GMPI_OUT_OF_LINE void hand_over_long(BlockTeam team) {
  constexpr std::uint32_t enough = 32 * 1024;
  const Series &series = BlockTeam::block().series;
  const std::uint32_t thread = thread_index(), count = series.count();
  std::uint32_t first = 0, bytes = 0; // since the last ones
  GMPI_NO_UNROLL
  for (std::uint32_t i = 0; i < count; ++i) {
    const LeftCall &call = series.call[i];
    if (goes_ahead(call)) {
      copy_share(ring_payload(context, call.first), call.data, call.bytes, thread, block_threads());
      bytes += bytes_sent(call);
    }
    if (bytes == 0 || (bytes < enough && i + 1 < count))
      continue;
    team.sync();
    if (const std::uint32_t its = first + thread; its <= i && goes_ahead(series.call[its])) {
      release_system(); // (lanes that wait for it together wait once)
      hand_over(series.call[its], series.site[its], context.records[series.call[its].slot]);
    }
    first = i + 1;
    bytes = 0;
  }
}

/// The same by one thread, where some of the block's have left.
GMPI_OUT_OF_LINE void hand_over_alone() {
  Series &series = block_state().series;
  GMPI_NO_UNROLL
  for (std::uint32_t i = 0; i < series.count(); ++i) {
    LeftCall &call = series.call[i];
    call.first = take_ticket(context);
    if (goes_ahead(call))
      copy_share(ring_payload(context, call.first), call.data, call.bytes, 0, 1);
    else
      write_data(context, call.first, call.data, static_cast<std::int32_t>(bytes_sent(call)), 0, 1);
    if (!call.sends || goes_ahead(call))
      release_system();
    hand_over(call, series.site[i], context.records[call.slot]);
  }
}

/// Hands the calls that have been left over to the proxy, in their order. All of the block that
/// makes the next one.
GMPI_OUT_OF_LINE void hand_over_left(BlockTeam team) {
  BlockState &block = BlockTeam::block();
  Series &series = block.series;
  if (BlockTeam::has_warp()) {
    if (thread_index() < 32)
      hand_over_as_warp();
    team.sync(); // with their tickets
    if (write_left_data())
      hand_over_long(team);
    if (thread_index() < 32)
      peer::refill_ready_as_warp(*block.launch, series);
  } else if (team.leads()) {
    hand_over_alone();
    peer::refill_ready_alone(*block.launch, series);
  }
  team.sync();
  if (team.leads())
    series.forget();
  team.sync();
}

} // namespace gmpi::device
