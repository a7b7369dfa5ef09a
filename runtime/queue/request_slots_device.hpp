// Request slots as kernels use them: taking and giving back a slot, waiting for the Replies that
// arrive in it.
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

/// The Reply after number `last_turn` in `slot`, if it has arrived. The message's source, tag and
/// length are read only where `want_status`.
GMPI_DEVICE bool try_reply(const Context &context, std::uint32_t slot, std::uint32_t last_turn,
                           bool want_status, Reply &reply) {
  std::uint32_t turn = (last_turn + 1) & 0xffff;
  const std::uint64_t *from = context.replies + slot * reply_words;
  std::uint64_t words[reply_words];
  load_system(from, words[0], words[1]);
  if (generation_of(words[0]) != turn || generation_of(words[1]) != turn)
    return false;
  reply = unpack_reply_head(words);
  if (want_status || asks_for_copy(reply.kind)) {
    do {
      load_system(from + 2, words[2], words[3]);
      load_system(from + 4, words[4], words[5]);
      load_system(from + 6, words[6], words[7]);
    } while (generation_of(words[2]) != turn || generation_of(words[3]) != turn ||
             generation_of(words[4]) != turn || generation_of(words[5]) != turn ||
             generation_of(words[6]) != turn);
    reply = unpack_reply(words);
  }
  if (reply.bytes != 0) // for whoever reads the data that came with it
    fence_system();
  context.records[slot].turn = turn;
  return true;
}

} // namespace gmpi::device
