// Request slots as kernels use them: taking and giving back a slot.
//
// Invariant: a slot is free (its bit set), or held by one call or one unfinished request. The
// holder counts the Replies it has seen in record.turn; the next Reply carries the next turn. The first
// launch_slots belong to launches, for their blocking calls of grid scope, and are never free.
#pragma once

#include "attribute_ring_device.hpp"

namespace gmpi::device {

/// Takes back slots that the host has finished with (a host MPI_Wait on a kernel's request).
GMPI_OUT_OF_LINE void collect_host_releases(const Context &context) {
  for (std::uint32_t slot = 0; slot < request_slots; ++slot) {
    std::uint64_t release =
        load_system(reinterpret_cast<const std::uint64_t *>(context.host_releases + slot));
    auto count = static_cast<std::uint32_t>(release);
    std::uint32_t seen = load_acquire_device(context.seen_releases + slot);
    if (count == seen || atomicCAS(context.seen_releases + slot, seen, count) != seen)
      continue;
    context.records[slot].turn = static_cast<std::uint32_t>(release >> 32);
    fence_device();
    atomicOr(context.free_slots + slot / 32, 1u << slot % 32);
  }
}

/// A free slot; waits while there is none.
GMPI_OUT_OF_LINE std::uint32_t acquire_slot(const Context &context) {
  constexpr std::uint32_t first = launch_slots / 32, words = request_slots / 32 - first;
  std::uint32_t start = (blockIdx.x * 31 + threadIdx.x / 32) % words;
  for (std::uint32_t attempt = 0;; ++attempt) {
    std::uint32_t word = first + (start + attempt) % words;
    std::uint32_t free = load_acquire_device(context.free_slots + word);
    while (free != 0) {
      std::uint32_t bit = free & (~free + 1);
      std::uint32_t before = atomicAnd(context.free_slots + word, ~bit);
      if (before & bit) {
        fence_device();
        std::uint32_t slot = word * 32 + (__ffs(static_cast<int>(bit)) - 1);
        ++context.records[slot].serial;
        return slot;
      }
      free = before & ~bit;
    }
    if (attempt % words == words - 1) {
      collect_host_releases(context);
      relax();
    }
  }
}

GMPI_DEVICE void release_slot(const Context &context, std::uint32_t slot) {
  fence_device();
  atomicOr(context.free_slots + slot / 32, 1u << slot % 32);
}

} // namespace gmpi::device
