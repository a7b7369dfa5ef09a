// The request slots of a blocking call.
//
// Invariant: a block, or a launch, makes one blocking call at a time; so what it keeps for these is
// nobody else's meanwhile, and nothing has to be asked for. One of its block's threads,
// making a call of its own, holds the block's while block.slot_taken is set.
#pragma once

#include "../launch/participant_device.hpp"

namespace gmpi::device {

/// The slot that a block's blocking calls of scope S get without waiting for one, or no_slot. Of a
/// thread's own calls, nobody else's meanwhile.
template <Scope S> GMPI_DEVICE std::uint32_t kept_slot() {
  BlockState &block = block_state();
  if (S == Scope::grid && block.launch_index < launch_slots)
    return block.launch_index;
  if (block.own_slot == unknown_slot)
    block.own_slot = acquire_block_slot(context);
  return block.own_slot;
}

/// Another one, for a call that takes two.
template <Scope S> GMPI_DEVICE std::uint32_t other_kept_slot() {
  BlockState &block = block_state();
  if (S == Scope::grid && block.launch_index < launch_slots)
    return kept_slot<Scope::block>();
  if (block.second_slot == unknown_slot)
    block.second_slot = acquire_block_slot(context);
  return block.second_slot;
}

/// A call's slot for its Replies. A blocking call of grid scope has its launch's, another its
/// block's; only where these are taken it is one of those that all share.
template <Scope S> GMPI_DEVICE std::uint32_t take_slot(bool nonblocking) {
  if (nonblocking)
    return acquire_slot(context);
  BlockState &block = block_state();
  if (S == Scope::thread) {
    // (Lanes that come together would part here.)
    if (lanes_here().count != 1 || atomicExch(&block.slot_taken, 1u) != 0)
      return acquire_slot(context);
    __threadfence_block();
  }
  std::uint32_t slot = kept_slot<S>();
  if (slot != no_slot)
    return slot;
  if (S == Scope::thread)
    atomicExch(&block.slot_taken, 0u);
  return acquire_slot(context);
}

/// Gives it back; the one that leads does.
template <Scope S> GMPI_DEVICE void give_slot(std::uint32_t slot) {
  if (slot >= common_slots) {
    release_slot(context, slot);
  } else if (S == Scope::thread) {
    __threadfence_block();
    atomicExch(&block_state().slot_taken, 0u);
  }
}

} // namespace gmpi::device
