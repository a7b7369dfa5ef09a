// Copies made by a kernel's own threads, between user buffers (any address space) and pinned host
// memory. The inline and staged transports move all message data this way: no CUDA call.
#pragma once

#include "../queue/memory_device.hpp"

namespace gmpi::device {

/// Copies elements first, first + step, ... of `count`, a few loads in flight at a time.
template <class T>
GMPI_DEVICE void copy_elements(void *to, const void *from, unsigned long long count,
                               unsigned long long first, unsigned long long step) {
  T *out = static_cast<T *>(to);
  const T *in = static_cast<const T *>(from);
  unsigned long long i = first;
  for (; i + 3 * step < count; i += 4 * step) {
    T a = in[i], b = in[i + step], c = in[i + 2 * step], d = in[i + 3 * step];
    out[i] = a;
    out[i + step] = b;
    out[i + 2 * step] = c;
    out[i + 3 * step] = d;
  }
  for (; i < count; i += step)
    out[i] = in[i];
}

/// One member's share of a copy made by `size` threads, `rank` being this one's number.
GMPI_OUT_OF_LINE void copy_share(void *to, const void *from, unsigned long long bytes,
                            unsigned long long rank, unsigned long long size) {
  auto alignment = reinterpret_cast<std::uint64_t>(to) | reinterpret_cast<std::uint64_t>(from);
  unsigned long long done = 0;
  if ((alignment & 15) == 0) {
    copy_elements<uint4>(to, from, bytes / 16, rank, size);
    done = bytes / 16 * 16;
  } else if ((alignment & 7) == 0) {
    copy_elements<unsigned long long>(to, from, bytes / 8, rank, size);
    done = bytes / 8 * 8;
  } else if ((alignment & 3) == 0) {
    copy_elements<unsigned>(to, from, bytes / 4, rank, size);
    done = bytes / 4 * 4;
  }
  copy_elements<unsigned char>(static_cast<unsigned char *>(to) + done,
                               static_cast<const unsigned char *>(from) + done, bytes - done, rank,
                               size);
}

} // namespace gmpi::device
