// Nonblocking calls of a grid by way of the proxy that its blocks have left to the next one: its
// block hands them over all at once, a lane of its first warp for each.
//
// Invariant: as of ../peer/series/series_device.hpp, which notes them: all of a series go by way of
// the proxy, or none. What a call sends lies in global memory, and goes with its Attribute, in
// words with its generation, or before it; longer data is copied once the proxy has said where to,
// before the next call is made. Each has its request already, one that the launch had ready; from
// here on that is as any other.
#pragma once

#include "../peer/series/series_ready_device.hpp"
#include "drain_device.hpp"

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
/// What is longer is copied where the proxy says, once it has: for one message that takes as long
/// as the copy that the host makes of what lies beside an Attribute, for several it takes less.
constexpr std::uint32_t left_staged_above = 16 * 1024;
static_assert(left_staged_above <= inline_bytes && left_staged_above >= tagged_bytes);
GMPI_DEVICE bool is_staged(const LeftCall &call) { return bytes_sent(call) > left_staged_above; }
/// Whether it goes beside the Attribute as it is, and is to be there before that.
GMPI_DEVICE bool goes_ahead(const LeftCall &call) {
  return bytes_sent(call) > tagged_bytes && !is_staged(call);
}

/// What the call's Attribute says. `record`: its slot's.
template <Function F>
GMPI_DEVICE void pack_left(const LeftCall &call, Site site, const RequestRecord &record,
                           std::uint64_t *contents) {
  Arguments a{};
  a.comm = call.queued.comm;
  Attribute attribute = make_attribute(F, Scope::grid, site);
  attribute.inline_in = !is_staged(call);
  attribute.slot = call.slot;
  attribute.serial = record.serial;
  attribute.turn = record.turn;
  attribute.beside = reply_data_bytes;
  if constexpr (F == Function::Isend) {
    attribute.in_bytes = call.bytes;
    attribute.tagged = call.bytes != 0 && call.bytes <= tagged_bytes;
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

/// How far calls are handed over together, of those that have not been, some of which are `staged`
/// and some `sent`, bits by place: MPI is to be given what a rank sends in its order, so nothing
/// that goes along follows, in these, what is copied only once the proxy has the call.
GMPI_DEVICE std::uint32_t end_of_those_together(std::uint32_t staged, std::uint32_t sent,
                                                std::uint32_t count) {
  const std::uint32_t behind = ~((staged & (~staged + 1)) * 2 - 1); // the first that is staged
  const std::uint32_t late = sent & ~staged & behind;
  return late == 0 ? count : __ffs(static_cast<int>(late)) - 1;
}

/// Hands these over, but for data that a lane does not write, and calls whose data goes ahead. The
/// block's first warp, whole.
GMPI_OUT_OF_LINE void hand_over_as_warp(std::uint32_t first) {
  Series &series = block_state().series;
  const std::uint32_t lane = lane_index(), all = series.count();
  LeftCall &call = series.call[lane];
  const bool is_left = lane >= first && lane < all;
  const unsigned staged = __ballot_sync(whole_warp, is_left && is_staged(call));
  std::uint32_t end = all;
  if (staged != 0)
    end = end_of_those_together(staged, __ballot_sync(whole_warp, is_left && call.sends), all);
  const std::uint32_t count = end - first;
  const bool is_one = is_left && lane < end;
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
  const unsigned long long ticket = of_lane(next.ticket, 0) + (lane - first);
  if (is_one)
    call.first = ticket;
  GMPI_UNROLL
  for (std::int32_t k = 0; k < static_cast<std::int32_t>(lane_left_pairs); ++k)
    if (k * pair_bytes < bytes)
      pairs[k].store(reinterpret_cast<std::uint64_t *>(ring_payload(context, ticket)) + 2 * k,
                     ring_generation(ticket));
  if (is_one && !goes_ahead(call))
    hand_over(call, series.site[lane], record);
  if (lane == 0) {
    series.made = end;
    series.announced = staged & static_cast<unsigned>((1ull << end) - 1);
  }
}
/// The other data that goes with its Attribute, a warp each. All of the block. Returns whether some
/// is to go ahead.
GMPI_OUT_OF_LINE bool write_left_data(std::uint32_t first) {
  const Series &series = block_state().series;
  const std::uint32_t end = series.made;
  const std::uint32_t warp = thread_index() / 32, warps = block_threads() / 32;
  std::uint32_t turn = 0; // whose it is
  bool ahead = false;
  GMPI_NO_UNROLL
  for (std::uint32_t i = first; i < end; ++i)
    if (const LeftCall &call = series.call[i]; goes_ahead(call)) {
      ahead = true;
    } else if (!is_by_lane(call) && !is_staged(call)) {
      if (turn == warp)
        write_data(context, call.first, call.data, static_cast<std::int32_t>(bytes_sent(call)),
                   static_cast<std::int32_t>(lane_index()), 32);
      turn = turn + 1 == warps ? 0 : turn + 1;
    }
  return ahead;
}

/// Writes what is to go ahead, and hands over what it belongs to: some calls at a time, so that the
/// host has something to do soon, and a fence is not waited for after each. All of the block.
GMPI_OUT_OF_LINE void hand_over_long(BlockTeam team, std::uint32_t first) {
  constexpr std::uint32_t enough = 32 * 1024;
  const Series &series = BlockTeam::block().series;
  const std::uint32_t thread = thread_index(), end = series.made;
  std::uint32_t bytes = 0; // since the last ones
  GMPI_NO_UNROLL
  for (std::uint32_t i = first; i < end; ++i) {
    const LeftCall &call = series.call[i];
    if (goes_ahead(call)) {
      copy_share(ring_payload(context, call.first), call.data, call.bytes, thread, block_threads());
      bytes += bytes_sent(call);
    }
    if (bytes == 0 || (bytes < enough && i + 1 < end))
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
GMPI_OUT_OF_LINE void hand_over_alone(std::uint32_t first) {
  Series &series = block_state().series;
  const std::uint32_t all = series.count();
  std::uint32_t staged = 0, sent = 0;
  GMPI_NO_UNROLL
  for (std::uint32_t i = first; i < all; ++i) {
    staged |= std::uint32_t(is_staged(series.call[i])) << i;
    sent |= std::uint32_t(series.call[i].sends) << i;
  }
  const std::uint32_t end = staged == 0 ? all : end_of_those_together(staged, sent, all);
  series.made = end;
  series.announced = staged & static_cast<std::uint32_t>((1ull << end) - 1);
  GMPI_NO_UNROLL
  for (std::uint32_t i = first; i < end; ++i) {
    LeftCall &call = series.call[i];
    call.first = take_ticket(context);
    if (goes_ahead(call))
      copy_share(ring_payload(context, call.first), call.data, call.bytes, 0, 1);
    else if (!is_staged(call))
      write_data(context, call.first, call.data, static_cast<std::int32_t>(bytes_sent(call)), 0, 1);
    if (!call.sends || goes_ahead(call))
      release_system();
    hand_over(call, series.site[i], context.records[call.slot]);
  }
}

/// Finds where the proxy says that those of series.announced are to be copied, a lane for each,
/// until it has said so of all, or of the first and of no more for a while: some may come to their
/// memory only once others have given theirs back. What can be copied now, in their order, is
/// series.answered, and block.copies; or else the first is one that goes in parts, series.storing.
/// The block's first warp, whole.
GMPI_OUT_OF_LINE void find_left_copies() {
  constexpr unsigned patient = 4; // turns
  BlockState &block = block_state();
  Series &series = block.series;
  const std::uint32_t lane = lane_index(), announced = series.announced;
  const std::uint32_t first = announced & (~announced + 1);
  const LeftCall &call = series.call[lane];
  const bool is_one = (announced >> lane & 1) != 0;
  const std::uint32_t slot = is_one ? call.slot : 0;
  const std::uint32_t turn = (context.records[slot].turn + 1) & 0xffff;
  Reply reply{};
  bool is_open = is_one;
  unsigned open = announced;
  GMPI_NO_UNROLL
  for (unsigned turns = 0; open != 0 && ((open & first) != 0 || turns < patient); ++turns) {
    if (is_open) {
      const CopyLook look = CopyLook::load(context, slot);
      is_open = !look.shows(turn);
      reply = look.reply();
    }
    const unsigned before = open;
    open = __ballot_sync(whole_warp, is_open);
    if (open != before)
      turns = 0;
    if (lane == 0)
      relax();
  }
  acquire_system();
  const bool in_parts = is_one && !is_open && reply.kind == ReplyKind::copy_in;
  const unsigned parted = __ballot_sync(whole_warp, in_parts);
  const bool comes_now = is_one && ((open | parted) & ((2u << lane) - 1)) == 0; // up to its own
  const bool at_once = comes_now && reply.kind == ReplyKind::copy_in_last;
  const unsigned ready = __ballot_sync(whole_warp, at_once);
  const std::uint32_t number = __popc(ready & ((1u << lane) - 1));
  const bool takes = at_once && number < Copies::most;
  const unsigned those = __ballot_sync(whole_warp, takes);
  // (What MPI has refused waits for who waits for it.)
  const unsigned refused = __ballot_sync(whole_warp, comes_now && !at_once);
  if (takes) {
    block.copies.copy[number] = {reply.address, call.data, reply.bytes, slot, false, true};
    context.records[slot].turn = turn;
  }
  if (lane == 0) {
    const unsigned left = announced & ~(refused | those);
    block.copies.count = static_cast<std::uint32_t>(__popc(those));
    series.announced = announced & ~refused;
    series.answered = those;
    series.storing = those == 0 ? (left & (~left + 1)) & parted : 0;
  }
}

/// Makes the copies of block.copies, and tells the proxy of each: the block's last warp does, while
/// the others make the next. All of the block.
GMPI_OUT_OF_LINE void copy_left_at_once(GridTeam team) {
  constexpr std::uint32_t enough = 128; // threads
  const Copies &copies = block_state().copies;
  const std::uint32_t thread = thread_index(), threads = block_threads(), count = copies.count;
  const std::uint32_t copying = threads < enough ? threads : (threads - 1) / 32 * 32;
  GMPI_NO_UNROLL
  for (std::uint32_t i = 0; i < count; ++i) {
    const Copies::Copy its = copies.copy[i];
    __syncthreads(); // (one by all blocks takes the place of the first)
    if (!is_for_block(its.bytes, shared_send_bytes)) {
      team.share_copy(its.to, its.from, its.bytes);
    } else {
      if (thread < copying)
        copy_share(its.to, its.from, its.bytes, thread, copying);
      __syncthreads();
    }
    if (thread == threads - 1)
      say_copied(its.request, Scope::grid);
  }
}

/// Copies what one of the calls sends in the general way, in parts. All of the block.
GMPI_OUT_OF_LINE void copy_left_in_parts(GridTeam team, std::uint32_t place) {
  BlockState &block = BlockTeam::block();
  const LeftCall &call = block.series.call[place];
  const std::uint32_t slot = call.slot;
  if (team.leads())
    block.waiting = {slot,  context.records[slot].turn, 0,       false,
                     false, block.series.site[place],   nullptr, nullptr};
  drain_rest(team, call.data, nullptr, false);
  // What MPI has refused waits for who waits for it.
  if (team.leads() && !asks_for_copy(unpack_reply_head(block.reply).kind))
    context.records[slot].turn = (context.records[slot].turn - 1) & 0xffff;
}

/// Copies what is too long to go along, series.announced, as the proxy asks for it. All of the
/// block.
GMPI_OUT_OF_LINE void copy_left(BlockTeam team) {
  Series &series = BlockTeam::block().series;
  const GridTeam grid{team};
  for (bool is_over = false; !is_over;) {
    team.sync(); // all have looked
    if (!BlockTeam::has_warp()) {
      if (team.leads()) {
        series.answered = 0;
        series.storing = series.announced & (~series.announced + 1);
      }
    } else if (thread_index() < 32) {
      find_left_copies();
    }
    team.sync();
    const std::uint32_t in_parts = series.storing;
    if (series.answered != 0)
      copy_left_at_once(grid);
    if (in_parts != 0)
      copy_left_in_parts(grid, __ffs(static_cast<int>(in_parts)) - 1);
    team.sync();
    if (team.leads())
      series.announced &= ~(series.answered | in_parts);
    team.sync();
    is_over = series.announced == 0;
  }
  team.sync(); // all have looked
}

/// Hands the calls that have been left over to the proxy, in their order. All of the block that
/// makes the next one.
GMPI_OUT_OF_LINE void hand_over_left(BlockTeam team) {
  BlockState &block = BlockTeam::block();
  Series &series = block.series;
  const std::uint32_t count = series.count();
  std::uint32_t first = 0;
  do {
    if (BlockTeam::has_warp()) {
      if (thread_index() < 32)
        hand_over_as_warp(first);
      team.sync(); // with their tickets
      if (write_left_data(first))
        hand_over_long(team, first);
      if (series.made == count && thread_index() < 32)
        peer::refill_ready_as_warp(*block.launch, series);
    } else if (team.leads()) {
      hand_over_alone(first);
      if (series.made == count)
        peer::refill_ready_alone(*block.launch, series);
    }
    team.sync();
    first = series.made;
    if (series.announced != 0)
      copy_left(team);
  } while (first < count); // (what has been announced parts them)
  if (team.leads())
    series.forget();
  team.sync();
}

} // namespace gmpi::device
