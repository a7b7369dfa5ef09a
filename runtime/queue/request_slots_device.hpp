// Request slots as kernels use them: taking and giving back a slot.
//
// Invariant: a slot is free (its bit set), or held by one call or one unfinished request. The
// holder counts the Replies it has seen in record.turn; the next Reply carries the next turn. The
// first launch_slots belong to launches, for their blocking calls of grid scope, and are never
// free. The next block_slots are for blocks, which keep them until their end; nobody waits for
// those. For the others one queues: at most as many look for a free bit as there are slots that
// nobody has, so that thousands may wait without being in each other's way. Of those that its
// requests have had, a block keeps a few (SlotReserve), and so does a launch: a reserve's slots are
// nobody else's until its end.
#pragma once

#include "attribute_ring_device.hpp"

namespace gmpi::device {

/// From now on what named the request that held it names none, whoever has it; whoever takes the
/// slot sees what was written of it before.
GMPI_DEVICE void release_slot(const Context &context, std::uint32_t slot) {
  ++context.records[slot].serial;
  release_device();
  atomicOr(context.free_slots + slot / 32, 1u << slot % 32);
  if (slot >= common_slots)
    atomicAdd(&context.slot_queue->granted, 1u);
}

/// Takes back slots that the host has finished with (a host MPI_Wait on a kernel's request). Of the
/// threads that come here one looks: thousands would keep the bus busy.
GMPI_OUT_OF_LINE void collect_host_releases(const Context &context) {
  SlotQueue &queue = *context.slot_queue;
  if (load_relaxed_device(&queue.collecting) != 0 ||
      cas_acquire_device(&queue.collecting, 0, 1) != 0)
    return;
  auto *releases = reinterpret_cast<const std::uint64_t *>(context.host_releases);
  const auto all = static_cast<std::uint32_t>(load_system(releases));
  const bool any = all != context.seen_releases[0];
  context.seen_releases[0] = all;
  if (any)
    acquire_system();
  constexpr std::uint32_t at_once = 8; // loads of the host's memory that are under way together
  GMPI_NO_UNROLL
  for (std::uint32_t first = common_slots; any && first < request_slots; first += at_once) {
    std::uint64_t found[at_once];
    for (std::uint32_t i = 0; i < at_once; ++i)
      found[i] = load_weak(releases + first + i);
    GMPI_NO_UNROLL
    for (std::uint32_t i = 0; i < at_once; ++i) {
      const std::uint32_t slot = first + i;
      const auto count = static_cast<std::uint32_t>(found[i]);
      if (count == context.seen_releases[slot])
        continue;
      context.seen_releases[slot] = count;
      context.records[slot].turn = static_cast<std::uint32_t>(found[i] >> 32);
      release_slot(context, slot);
    }
  }
  store_release_device(&queue.collecting, 0);
}

/// In place of a slot: there is none; nobody has looked.
constexpr std::uint32_t no_slot = request_slots, unknown_slot = request_slots + 1;

/// A free slot of those in word `word` of the bits, or no_slot.
GMPI_DEVICE std::uint32_t take_slot_of(const Context &context, std::uint32_t word) {
  std::uint32_t free = load_relaxed_device(context.free_slots + word);
  while (free != 0) {
    // The lanes of a warp often come together: each takes the next bit from its own on.
    std::uint32_t own = free & ~0u << lane_index();
    if (own == 0)
      own = free;
    std::uint32_t bit = own & (~own + 1);
    std::uint32_t before = and_acquire_device(context.free_slots + word, ~bit);
    if (before & bit)
      return word * 32 + (__ffs(static_cast<int>(bit)) - 1);
    free = before & ~bit;
  }
  return no_slot;
}

/// A free slot for a block to keep, or no_slot.
GMPI_OUT_OF_LINE std::uint32_t acquire_block_slot(const Context &context) {
  constexpr std::uint32_t first = launch_slots / 32, words = block_slots / 32;
  std::uint32_t slot = no_slot;
  GMPI_NO_UNROLL
  for (std::uint32_t i = 0; i < words && slot == no_slot; ++i)
    slot = take_slot_of(context, first + (block_index() + i) % words);
  return slot;
}

/// The word of the bits, of the slots that all share, in which the caller looks first, or i-th; the
/// same for all of a warp.
GMPI_DEVICE std::uint32_t word_to_take(std::uint32_t i) {
  constexpr std::uint32_t first = common_slots / 32, words = request_slots / 32 - first;
  return first + (block_index() * 31 + thread_index() / 32 + i) % words;
}

/// Of the slots that all share, a free one for whose number is up: there is one, or will be at
/// once.
GMPI_DEVICE std::uint32_t take_granted_slot(const Context &context) {
  std::uint32_t slot = no_slot;
  GMPI_NO_UNROLL
  for (std::uint32_t i = 0; slot == no_slot; ++i)
    slot = take_slot_of(context, word_to_take(i));
  return slot;
}

/// A free slot, or no_slot where there is none, or others wait for it.
GMPI_OUT_OF_LINE std::uint32_t try_acquire_slot(const Context &context) {
  SlotQueue &queue = *context.slot_queue;
  std::uint32_t number = load_relaxed_device(&queue.asked);
  GMPI_NO_UNROLL
  while (static_cast<std::int32_t>(load_relaxed_device(&queue.granted) - number) > 0) {
    const std::uint32_t found = atomicCAS(&queue.asked, number, number + 1);
    if (found == number)
      return take_granted_slot(context);
    number = found;
  }
  return no_slot;
}

/// A slot that a request may have now, and which use of it that is.
using NewSlot = SlotReserve::Slot;

/// Takes a free slot if one is at hand: it asks once. One thread; it calls no function.
GMPI_DEVICE bool take_slot_at_once(const Context &context, NewSlot &slot) {
  SlotQueue &queue = *context.slot_queue;
  const std::uint32_t word = word_to_take(0);
  // These are under way together.
  const std::uint32_t asked = load_relaxed_device(&queue.asked);
  const std::uint32_t granted = load_relaxed_device(&queue.granted);
  const std::uint32_t free = load_relaxed_device(context.free_slots + word);
  const std::uint32_t bit = free & (~free + 1);
  if (static_cast<std::int32_t>(granted - asked) <= 0 || bit == 0 ||
      atomicCAS(&queue.asked, asked, asked + 1) != asked)
    return false;
  if ((and_acquire_device(context.free_slots + word, ~bit) & bit) == 0) {
    atomicAdd(&queue.granted, 1u);
    return false;
  }
  slot.slot = word * 32 + (__ffs(static_cast<int>(bit)) - 1);
  slot.serial = context.records[slot.slot].serial;
  return true;
}

/// Takes a slot that the reserve has, if there is one. One thread.
GMPI_DEVICE bool take_kept_slot(SlotReserve &reserve, NewSlot &slot) {
  const std::uint32_t count = reserve.count;
  if (count == 0)
    return false;
  slot = reserve.of[count - 1];
  reserve.count = count - 1;
  return true;
}
/// The same, or one that is free, if any is at hand. It calls no function.
GMPI_DEVICE bool take_slot_at_once(const Context &context, SlotReserve &reserve, NewSlot &slot) {
  return take_kept_slot(reserve, slot) || take_slot_at_once(context, slot);
}

/// As release_slot(), for the lanes that have one, of which the reserve keeps those that it may. A
/// warp, whole; `serial`: of the slot's use that is over.
GMPI_DEVICE void keep_or_release_slots(const Context &context, SlotReserve &reserve, bool has,
                                       std::uint32_t slot, std::uint32_t serial) {
  const std::uint32_t lane = lane_index();
  const unsigned those = __ballot_sync(0xffffffffu, has);
  const auto given = static_cast<std::uint32_t>(__popc(those));
  const auto number = static_cast<std::uint32_t>(__popc(those & ((1u << lane) - 1)));
  const std::uint32_t count = reserve.count;
  std::uint32_t allowed = reserve.allowed;
  if (allowed < SlotReserve::most && allowed - count < given) {
    const std::uint32_t lacking = given - (allowed - count), left = SlotReserve::most - allowed;
    const std::uint32_t more = lacking < left ? lacking : left;
    std::uint32_t all = most_reserved;
    if (lane == 0) {
      all = atomicAdd(&context.slot_queue->reserved, more);
      if (all + more > most_reserved)
        atomicSub(&context.slot_queue->reserved, more);
    }
    if (__shfl_sync(0xffffffffu, all, 0) + more <= most_reserved)
      allowed += more;
  }
  __syncwarp(); // all have looked at the reserve
  const std::uint32_t room = allowed - count;
  if (has && number < room) {
    context.records[slot].serial = serial + 1;
    reserve.of[count + number] = {slot, serial + 1};
  } else if (has) {
    release_slot(context, slot);
  }
  if (lane == 0) {
    reserve.count = count + (given < room ? given : room);
    reserve.allowed = allowed;
  }
  __syncwarp();
}

/// Gives all back that a reserve keeps; its block, or launch, ends. One thread.
GMPI_OUT_OF_LINE void release_reserve(const Context &context, SlotReserve &reserve) {
  GMPI_NO_UNROLL
  for (std::uint32_t i = 0; i < reserve.count; ++i)
    release_slot(context, reserve.of[i].slot);
  atomicSub(&context.slot_queue->reserved, reserve.allowed);
  reserve.count = reserve.allowed = 0;
}

/// Slots for lanes that come together, at once: each its own bit of one word. Else no_slot for all
/// of them, and nothing has happened.
GMPI_DEVICE std::uint32_t take_slots_together(const Context &context, const LanesHere &lanes) {
  SlotQueue &queue = *context.slot_queue;
  const std::uint32_t word = word_to_take(0);
  std::uint32_t *const bits = context.free_slots + word;
  std::uint32_t taken = 0;
  if (lanes.rank == 0) {
    const std::uint32_t asked = load_relaxed_device(&queue.asked);
    const std::uint32_t granted = load_relaxed_device(&queue.granted);
    if ((load_relaxed_device(bits) & lanes.mask) == lanes.mask &&
        static_cast<std::int32_t>(granted - asked - lanes.count) >= 0 &&
        atomicCAS(&queue.asked, asked, asked + lanes.count) == asked) {
      taken = and_acquire_device(bits, ~lanes.mask) & lanes.mask;
      if (taken != lanes.mask) {
        atomicOr(bits, taken);
        atomicAdd(&queue.granted, lanes.count);
      }
    }
  }
  taken = lanes.from_first(taken);
  lanes.sync(); // what the first has acquired
  return taken == lanes.mask ? word * 32 + lane_index() : no_slot;
}

/// Waits until as many slots have been given back as there were threads before this one.
GMPI_OUT_OF_LINE void await_grant(const Context &context, std::uint32_t number) {
  for (;;) {
    const std::uint32_t ahead = number - load_relaxed_device(&context.slot_queue->granted);
    if (static_cast<std::int32_t>(ahead) < 0)
      return;
    if (ahead == 0) // the first in the queue
      collect_host_releases(context);
    rest(ahead);
  }
}

/// A free slot; waits while there is none. Lanes that come together go on together where there are
/// enough for all of them; who has one must not wait for those who have none.
GMPI_OUT_OF_LINE std::uint32_t acquire_slot(const Context &context) {
  const LanesHere lanes = lanes_here();
  std::uint32_t first = 0, granted = 0;
  if (lanes.rank == 0) {
    granted = load_relaxed_device(&context.slot_queue->granted);
    first = atomicAdd(&context.slot_queue->asked, lanes.count);
  }
  first = lanes.from_first(first);
  granted = lanes.from_first(granted);
  if (static_cast<std::int32_t>(first + lanes.rank - granted) >= 0)
    await_grant(context, first + lanes.rank);
  const std::uint32_t slot = take_granted_slot(context);
  if (static_cast<std::int32_t>(first + lanes.count - granted) <= 0)
    lanes.sync();
  return slot;
}

} // namespace gmpi::device
