// Who carries a collective call of more than one round: each carrier, a warp or a single thread,
// carries parts of the call that need nothing of the block's others, so they meet when all is over.
//
// Invariant: every part is one carrier's. What a block's share is does not depend on who carries it
// there: where threads have left, it has other carriers than the grid's other blocks.
#pragma once

#include "../general/receive_device.hpp"
#include "reduce_device.hpp"

namespace gmpi::device::peer {

/// One of those in a block that carry a call, of `count`: a warp, or one thread.
struct Carrier {
  std::uint32_t number, count;
  std::uint32_t lane, lanes;

  /// What its lanes have read, and written, is so for all of them.
  GMPI_DEVICE void sync() const {
    if (lanes != 1)
      __syncwarp();
  }
};

template <class Team> GMPI_DEVICE Carrier carrier_in(const Team &team) {
  if constexpr (Team::scope != Scope::thread)
    if (BlockTeam::has_warp() && block_threads() % 32 == 0)
      return {thread_index() / 32, block_threads() / 32, thread_index() % 32, 32};
  unsigned number = 0, count = 1;
  team.number(number, count);
  return {number, count, 0, 1};
}

/// The blocks of a grid that carry a call, and which of them this one is. Where they have met for
/// it, the first sees to what they wait for, and is spared `parts` if these are no more than the
/// others can carry with one for each of `most` in a block.
struct CarryingBlocks {
  std::uint32_t count, index;
  bool spare_this;

  GMPI_DEVICE CarryingBlocks(const Round &call, std::uint32_t parts, std::uint32_t most)
      : count(grid_blocks()), index(block_index()), spare_this(false) {
    if (!call.met || parts > (count - 1) * most)
      return;
    spare_this = index == 0;
    --count;
    --index;
  }
};

/// Every how manyth of a call's parts a carrier carries, and from which on; its block is, where the
/// call is shared, one of a grid's.
struct Turn {
  std::uint32_t first, step;

  GMPI_DEVICE Turn(const Round &call, const Carrier &carrier, std::uint32_t parts)
      : first(carrier.number), step(carrier.count) {
    if (!call.shared)
      return;
    const CarryingBlocks blocks(call, parts, block_threads() / 32);
    step = carrier.count * blocks.count;
    first = blocks.spare_this ? ~0u - step : blocks.index + carrier.number * blocks.count;
  }
};

/// One thread waits until `there()`, and tells of it when that is long.
template <class There> GMPI_DEVICE void await_and_tell(Wait &wait, There there) {
  State &state = *context.peer;
  wait.since = nanoseconds();
  wait.told = nothing;
  GMPI_NO_UNROLL
  for (unsigned turns = 0; !there(); ++turns) {
    tell_if_long(state, wait, turns);
    relax();
  }
  if (wait.told != nothing)
    tell_end(state, wait);
}

/// Waits until `carried` says that so many of the block's carriers have done their share. One
/// thread, which sees to what is told.
GMPI_OUT_OF_LINE void await_carriers(const std::uint32_t &carried, std::uint32_t count,
                                     Wait &wait) {
  await_and_tell(wait, [&] { return load_block(&carried) == count; });
}
/// The end of a carrier's share, in the team that makes the call, whose shared().carried was 0. One
/// thread returns when all have come so far.
GMPI_DEVICE void end_share(Share &shared, const Carrier &carrier, bool leads) {
  if (carrier.lane == 0)
    atomicAdd(&shared.carried, 1u);
  if (leads && load_block(&shared.carried) != carrier.count)
    await_carriers(shared.carried, carrier.count, shared.wait);
}

} // namespace gmpi::device::peer
