// Request slots as kernels use them: taking and giving back a slot.
//
// Invariant: a slot is free (its bit set), or held by one call or one unfinished request. The
// holder counts the Replies it has seen in record.turn; the next Reply carries the next turn. The
// first launch_slots belong to launches, for their blocking calls of grid scope, and are never
// free. The next block_slots are for blocks, which keep them until their end; nobody waits for
// those.
#pragma once

#include "attribute_ring_device.hpp"

namespace gmpi::device {

/// Takes back slots that the host has finished with (a host MPI_Wait on a kernel's request). Of the
/// threads that come here one looks, and only where there is something new.
GMPI_OUT_OF_LINE void collect_host_releases(const Context &context) {
  auto *releases = reinterpret_cast<const std::uint64_t *>(context.host_releases);
  auto all = static_cast<std::uint32_t>(load_system(releases));
  std::uint32_t known = load_acquire_device(context.seen_releases);
  if (all == known || atomicCAS(context.seen_releases, known, all) != known)
    return;
  acquire_system();
  constexpr std::uint32_t at_once = 8; // loads of the host's memory that are under way together
  GMPI_NO_UNROLL
  for (std::uint32_t first = common_slots; first < request_slots; first += at_once) {
    std::uint64_t found[at_once];
    for (std::uint32_t i = 0; i < at_once; ++i)
      found[i] = load_weak(releases + first + i);
    GMPI_NO_UNROLL
    for (std::uint32_t i = 0; i < at_once; ++i) {
      std::uint32_t slot = first + i;
      auto count = static_cast<std::uint32_t>(found[i]);
      std::uint32_t seen = load_acquire_device(context.seen_releases + slot);
      if (count == seen || atomicCAS(context.seen_releases + slot, seen, count) != seen)
        continue;
      context.records[slot].turn = static_cast<std::uint32_t>(found[i] >> 32);
      ++context.records[slot].serial;
      release_device();
      atomicOr(context.free_slots + slot / 32, 1u << slot % 32);
    }
  }
}

/// In place of a slot: there is none; nobody has looked.
constexpr std::uint32_t no_slot = request_slots, unknown_slot = request_slots + 1;

/// A free slot of those in word `word` of the bits, or no_slot.
GMPI_DEVICE std::uint32_t take_slot_of(const Context &context, std::uint32_t word) {
  std::uint32_t free = load_relaxed_device(context.free_slots + word);
  while (free != 0) {
    // The lanes of a warp often come together: each takes the next bit from its own on.
    std::uint32_t own = free & ~0u << threadIdx.x % 32;
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
    slot = take_slot_of(context, first + (blockIdx.x + i) % words);
  return slot;
}

/// A free slot, or no_slot where none is found at once.
GMPI_OUT_OF_LINE std::uint32_t try_acquire_slot(const Context &context) {
  constexpr std::uint32_t first = common_slots / 32, words = request_slots / 32 - first;
  std::uint32_t slot = no_slot;
  GMPI_NO_UNROLL
  for (std::uint32_t i = 0; i < words && slot == no_slot; ++i)
    slot = take_slot_of(context, first + (blockIdx.x * 31 + i) % words);
  return slot;
}

/// A free slot; waits while there is none.
GMPI_OUT_OF_LINE std::uint32_t acquire_slot(const Context &context) {
  constexpr std::uint32_t first = common_slots / 32, words = request_slots / 32 - first;
  std::uint32_t start = (blockIdx.x * 31 + threadIdx.x / 32) % words;
  for (std::uint32_t attempt = 0;; ++attempt) {
    std::uint32_t slot = take_slot_of(context, first + (start + attempt) % words);
    if (slot != no_slot)
      return slot;
    if (attempt >= words) // none anywhere, it seems: far more threads than slots, perhaps
      rest();
    if (attempt % words == words - 1)
      collect_host_releases(context);
  }
}

/// From now on what named the request that held it names none, whoever has it.
GMPI_DEVICE void release_slot(const Context &context, std::uint32_t slot) {
  ++context.records[slot].serial;
  release_device();
  atomicOr(context.free_slots + slot / 32, 1u << slot % 32);
}

} // namespace gmpi::device
