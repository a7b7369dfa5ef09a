// Packets as the host reads and writes them: in page-locked memory that kernels use at the same
// time, or in a copy of what goes to a device or comes from it. Relaxed, where a packet tells of
// nothing but itself.
#pragma once

#include "../channel/header.hpp"

namespace gmpi::peer {

/// A packet's data; false where it does not show that lap.
template <int order = __ATOMIC_RELAXED>
bool load_packet(const std::uint64_t *from, std::uint32_t lap, std::uint64_t &data) {
  const std::uint64_t low = __atomic_load_n(from, order);
  const std::uint64_t high = __atomic_load_n(from + 1, order);
  data = (low & 0xffffffffu) | high << 32;
  return low >> 32 == lap && high >> 32 == lap;
}
template <int order = __ATOMIC_RELAXED>
void store_packet(std::uint64_t *to, std::uint64_t data, std::uint32_t lap) {
  const std::uint64_t mark = std::uint64_t(lap) << 32;
  __atomic_store_n(to, (data & 0xffffffffu) | mark, order);
  __atomic_store_n(to + 1, data >> 32 | mark, order);
}

/// Copies what `count` packets bring that follow each other; false where not all show that lap.
inline bool load_packets(const std::uint64_t *from, std::size_t count, std::uint32_t lap,
                         std::uint64_t *to) {
  const std::uint64_t mark = std::uint64_t(lap) << 32;
  std::uint64_t differs = 0;
  for (std::size_t i = 0; i < count; ++i) { // without a branch: many are on their way at a time
    const std::uint64_t low = __atomic_load_n(from + packet_words * i, __ATOMIC_RELAXED);
    const std::uint64_t high = __atomic_load_n(from + packet_words * i + 1, __ATOMIC_RELAXED);
    differs |= (low ^ mark) | (high ^ mark);
    to[i] = (low & 0xffffffffu) | high << 32;
  }
  return differs >> 32 == 0;
}
/// Writes as many.
inline void store_packets(std::uint64_t *to, std::size_t count, std::uint32_t lap,
                          const std::uint64_t *data) {
  for (std::size_t i = 0; i < count; ++i)
    store_packet(to + packet_words * i, data[i], lap);
}

} // namespace gmpi::peer
