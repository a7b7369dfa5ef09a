// What a grid's blocks know of the calls that they have left, and the requests that their launch
// has ready for these: see series_device.hpp.
//
// Invariant: call number n has the request that lies at its place, and nobody else takes it; the
// block that makes the calls puts others there for later ones.
#pragma once

#include "series_long_device.hpp"

namespace gmpi::device::peer {

using gmpi::peer::LeftStatuses;
using gmpi::peer::ReadyRequests;

/// Where a call has no request; the last one where that is known before the block's threads meet.
constexpr std::uint32_t cannot_be_left = ~0u, lacks_request = ~1u, is_not_to_be_left = ~2u;
/// Of ReadyRequests::place.
constexpr std::uint32_t none_is_ready = 0;
/// Longer messages are not left: a LeftCall counts bytes in 32 bits.
constexpr unsigned long long most_left = 1ull << 30;

/// The number of this thread's next call that is left. It needs no meeting: all find the same.
GMPI_DEVICE std::uint32_t next_call() {
  return block_state().series.left[thread_index() / 32].next;
}
/// Whether there are any before that which have not been made.
GMPI_DEVICE bool has_left() { return next_call() != block_state().series.first; }
/// Whether those that have been left, or made last, go by way of the proxy. Behind a barrier.
GMPI_DEVICE bool are_queued(const Series &series) { return series.call[0].comm == nullptr; }
/// Of which of them the wait has been left, too: bits by place.
GMPI_DEVICE std::uint32_t waited_calls() {
  const Series &series = block_state().series;
  return series.left[thread_index() / 32].waited_from(series.first);
}
/// Which of these are MPI_Sends.
GMPI_DEVICE std::uint32_t sent_calls() {
  const Series &series = block_state().series;
  return series.left[thread_index() / 32].sent_from(series.first);
}
/// Whether a call to F may be left behind those. (What has been waited for is over before something
/// else begins.)
template <Function F> GMPI_DEVICE bool may_come_behind(std::uint32_t waited, std::uint32_t sent) {
  return F == Function::Irecv || F == Function::Recv ? waited == 0 : waited == sent;
}
/// Whether its wait is left with it.
template <Function F> constexpr bool waits_itself = F == Function::Send || F == Function::Recv;
/// Whether this block is to make them now.
GMPI_DEVICE bool is_behind_others() { return block_state().series.count() != 0; }

/// Puts the request of that slot, 0: none, where call number `call` looks for it. One thread.
GMPI_DEVICE void put_ready(LaunchState &launch, std::uint32_t call, const NewSlot &slot) {
  const std::uint32_t number =
      slot.slot == 0 ? none_is_ready
                     : number_of_request(encode_request({slot.slot, peer_device, slot.serial}));
  store_relaxed_device(&launch.ready.place[call % ReadyRequests::most],
                       number | static_cast<unsigned long long>(call / ReadyRequests::most) << 32);
}
/// The same of a slot that it takes, if there is a free one.
GMPI_DEVICE void make_ready(LaunchState &launch, std::uint32_t call) {
  NewSlot slot{};
  if (launch.ready.reserved != 0 && !take_slot_at_once(context, reserve_of<Scope::grid>(), slot)) {
    const std::uint32_t found = try_acquire_slot(context);
    if (found != no_slot)
      slot = {found, context.records[found].serial};
  }
  put_ready(launch, call, slot);
}

/// Has requests ready for later calls, in place of those of the last `count` before number `next`:
/// from the reserve, whose count and slots, `spare` in each lane, have been loaded; or else as many
/// as are at hand. A warp, whole.
GMPI_DEVICE void refill_ready(LaunchState &launch, SlotReserve &reserve, std::uint32_t reserved,
                              const NewSlot &spare, std::uint32_t next, std::uint32_t count) {
  const std::uint32_t lane = lane_index();
  NewSlot slot{of_lane(spare.slot, reserved - 1 - lane),
               of_lane(spare.serial, reserved - 1 - lane)};
  GMPI_NO_UNROLL
  for (std::uint32_t i = reserved; i < count; ++i)
    if (lane == i && !take_slot_at_once(context, slot))
      slot.slot = 0;
  if (lane < count)
    put_ready(launch, next - count + lane + ReadyRequests::most, slot);
  if (lane == 0)
    reserve.count = reserved > count ? reserved - count : 0;
}
GMPI_DEVICE void refill_ready_as_warp(LaunchState &launch, const Series &series) {
  SlotReserve &reserve = reserve_of<Scope::grid>();
  const std::uint32_t reserved = reserve.count;
  const NewSlot spare = reserve.of[lane_index()];
  __syncwarp(); // all have looked at it
  refill_ready(launch, reserve, reserved, spare, series.next, series.count());
}
/// The same by one thread.
GMPI_DEVICE void refill_ready_alone(LaunchState &launch, const Series &series) {
  GMPI_NO_UNROLL
  for (std::uint32_t i = 0; i < series.count(); ++i)
    make_ready(launch, series.next - series.count() + i + ReadyRequests::most);
}

/// The request's number of call number `call`, or none_is_ready; which may be on its way.
GMPI_DEVICE std::uint32_t await_ready(const LaunchState &launch, std::uint32_t call) {
  unsigned long long found;
  GMPI_NO_UNROLL
  while ((found = load_relaxed_device(&launch.ready.place[call % ReadyRequests::most])) >> 32 !=
         call / ReadyRequests::most)
    relax();
  return static_cast<std::uint32_t>(found);
}

/// Meets the other blocks, one of which gets the launch requests for the next calls: the first
/// time, or where there were none. What has been left stays so.
GMPI_NOINLINE void fill_ready(BlockTeam team) {
  BlockState &block = BlockTeam::block();
  if (team.leads() && arrive(block) == GridCommand::lead) {
    LaunchState &launch = *block.launch;
    ReadyRequests &ready = launch.ready;
    if (ready.reserved == 0) {
      ready.reserved = ReadyRequests::most;
      if (atomicAdd(&context.slot_queue->reserved, ready.reserved) + ready.reserved >
          most_reserved) {
        atomicSub(&context.slot_queue->reserved, ready.reserved);
        ready.reserved = 0;
      }
    }
    const std::uint32_t next = block.series.next;
    GMPI_NO_UNROLL
    for (std::uint32_t i = 0; i < ReadyRequests::most - block.series.count(); ++i)
      if (await_ready(launch, next + i) == none_is_ready)
        make_ready(launch, next + i);
    command(block, GridCommand::done, arrivals(block));
  }
  __syncthreads();
}

/// What series.ready says of call number `call` whose request has this number.
GMPI_DEVICE std::uint32_t ready_entry(std::uint32_t call, std::uint32_t number) {
  return number | call / (2 * Series::most) << 28;
}
/// Where.
GMPI_DEVICE std::uint32_t &ready_of(Series &series, std::uint32_t call) {
  return series.ready[call % (2 * Series::most)];
}
/// Has a request at hand, if there is one.
GMPI_DEVICE void keep_ready(Series &series, std::uint32_t call, std::uint32_t number) {
  if (number != none_is_ready)
    ready_of(series, call) = ready_entry(call, number);
}

/// Has the requests for the next calls at hand, from call number `call` on, as far as they are
/// ready; that one is, or there is none. Returns its number, or none_is_ready. A warp; `whole`:
/// none of its threads is missing.
GMPI_DEVICE std::uint32_t look_up_ready(const LaunchState &launch, Series &series,
                                        std::uint32_t call, bool whole) {
  constexpr std::uint32_t most = ReadyRequests::most;
  static_assert(most == 32);
  if (!whole) {
    const std::uint32_t number = await_ready(launch, call);
    keep_ready(series, call, number);
    return number;
  }
  const std::uint32_t its = call + lane_index();
  unsigned long long found;
  bool shows;
  do {
    found = load_relaxed_device(&launch.ready.place[its % most]);
    shows = found >> 32 == its / most;
  } while ((__ballot_sync(whole_warp, shows) & 1) == 0);
  const auto number = static_cast<std::uint32_t>(found);
  if (shows)
    keep_ready(series, its, number);
  return of_lane(number, 0);
}

} // namespace gmpi::device::peer
