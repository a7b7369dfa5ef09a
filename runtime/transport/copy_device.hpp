// Copies made by a kernel's own threads, between user buffers (any address space) and pinned host
// memory. The inline and staged transports move all message data this way: no CUDA call.
#pragma once

#include "../queue/memory_device.hpp"

namespace gmpi::device {

/// Stores the first `words` words of four bytes of 16 bytes, at an address for such; `whole`: at an
/// address for 16.
GMPI_DEVICE void store_sixteen(unsigned char *to, uint4 value, std::uint32_t words, bool whole) {
  if (whole && words >= 4) {
    *reinterpret_cast<uint4 *>(to) = value;
    return;
  }
  const std::uint32_t parts[4] = {value.x, value.y, value.z, value.w};
  GMPI_UNROLL
  for (std::uint32_t i = 0; i < 4; ++i)
    if (i < words)
      reinterpret_cast<std::uint32_t *>(to)[i] = parts[i];
}

/// One member's share of copying what lies at an address for 16 bytes to one for four: `count`
/// turns, in each of which it has `at_once` times 16 bytes under way together. Returns how many
/// bytes all members copy.
template <std::uint32_t at_once>
GMPI_DEVICE std::uint64_t read_turns(unsigned char *to, const uint4 *from, std::uint32_t count,
                                     std::uint32_t rank, std::uint32_t size) {
  const bool whole = (reinterpret_cast<std::uint64_t>(to) & 15) == 0;
  to += 16 * rank;
  from += rank;
  GMPI_NO_UNROLL
  for (std::uint32_t turn = 0; turn < count; ++turn) {
    uint4 values[at_once];
    GMPI_UNROLL
    for (std::uint32_t k = 0; k < at_once; ++k)
      values[k] = from[k * size];
    GMPI_UNROLL
    for (std::uint32_t k = 0; k < at_once; ++k)
      store_sixteen(to + 16 * k * size, values[k], 4, whole);
    to += 16 * at_once * size;
    from += at_once * size;
  }
  return std::uint64_t(count) * at_once * 16 * size;
}

/// Copies elements first, first + step, ... below `count`, of which there are eight at most: all
/// loads are in flight together.
template <class T>
GMPI_NOINLINE void copy_few(T *to, const T *from, std::uint32_t count, std::uint32_t first,
                            std::uint32_t step) {
  constexpr std::uint32_t most = 8;
  T values[most];
  GMPI_UNROLL
  for (std::uint32_t k = 0; k < most; ++k)
    values[k] = from[first + k * step < count ? first + k * step : first];
  GMPI_UNROLL
  for (std::uint32_t k = 0; k < most; ++k) {
    const std::uint32_t at = apart(first + k * step);
    if (at < count)
      to[at] = values[k];
  }
}

/// The same, however many there are, eight at a time.
template <class T>
GMPI_NOINLINE void copy_elements(T *to, const T *from, std::uint32_t count, std::uint32_t first,
                                 std::uint32_t step) {
  constexpr std::uint32_t at_once = 8;
  std::uint32_t i = first;
  GMPI_NO_UNROLL
  for (; i + (at_once - 1) * step < count; i += at_once * step) {
    T values[at_once];
    GMPI_UNROLL
    for (std::uint32_t k = 0; k < at_once; ++k)
      values[k] = from[i + k * step];
    GMPI_UNROLL
    for (std::uint32_t k = 0; k < at_once; ++k)
      to[i + k * step] = values[k];
  }
  if (i < count)
    copy_few(to, from, count, i, step);
}

/// The same for bytes; `to` and `from` are multiples of sizeof(T). Returns how many are left over.
template <class T>
GMPI_DEVICE std::uint32_t copy_as(unsigned char *to, const unsigned char *from, std::uint32_t bytes,
                                  std::uint32_t rank, std::uint32_t size) {
  copy_elements(reinterpret_cast<T *>(to), reinterpret_cast<const T *>(from),
                bytes / static_cast<std::uint32_t>(sizeof(T)), rank, size);
  return bytes % sizeof(T);
}

/// One member's share of a copy made by `size` threads, `rank` being this one's number. In pieces
/// that 32-bit numbers can count.
GMPI_OUT_OF_LINE void copy_share(void *to, const void *from, unsigned long long bytes,
                                 std::uint32_t rank, std::uint32_t size) {
  constexpr std::uint32_t largest = 1u << 30;
  auto *out = static_cast<unsigned char *>(to);
  auto *in = static_cast<const unsigned char *>(from);
  auto alignment = reinterpret_cast<std::uint64_t>(to) | reinterpret_cast<std::uint64_t>(from);
  GMPI_NO_UNROLL
  while (bytes != 0) {
    auto piece = bytes < largest ? static_cast<std::uint32_t>(bytes) : largest;
    std::uint32_t rest = piece;
    if ((alignment & 15) == 0)
      rest = copy_as<uint4>(out, in, piece, rank, size);
    else if ((alignment & 7) == 0)
      rest = copy_as<unsigned long long>(out, in, piece, rank, size);
    else if ((alignment & 3) == 0)
      rest = copy_as<unsigned>(out, in, piece, rank, size);
    copy_elements(out + (piece - rest), in + (piece - rest), rest, rank, size);
    out += piece;
    in += piece;
    bytes -= piece;
  }
}

} // namespace gmpi::device
