// Device memory that the host writes itself, where NVIDIA's GDRCopy is installed: its library and
// driver map the memory, by way of the bus, into the process. A kernel that polls such memory looks
// no further than its own cache; polling the host's, each look crosses the bus twice.
//
// The library is found when the program runs (libgdrapi.so.2); nothing is needed to build or link.
//
// Invariant: nothing is read through a mapping (that takes microseconds), and nothing mapped is
// freed before the mapping is.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <string>

namespace gmpi {

/// Stands between stores to mapped memory that have to arrive in order, and behind the last: the
/// processor collects them ("write combining"), sends them in any order, and may keep the last
/// ones. Stores to the host's own memory are in order with them, too.
inline void fence_mapped_writes() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_sfence();
#elif defined(__aarch64__)
  asm volatile("dsb st" ::: "memory");
#else
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
#endif
}

/// The functions of GDRCopy's library; see gdrcopy.cpp.
struct GdrLibrary;

class GdrMapping {
public:
  /// The size of a GPU's page. What is mapped begins at a multiple of it, and is one.
  static constexpr std::size_t page_bytes = 65536;

  GdrMapping() = default;
  ~GdrMapping();
  GdrMapping(const GdrMapping &) = delete;

  /// Connects to GDRCopy, for the current device, which has to find such stores in order while a
  /// kernel runs. Says in some words why it cannot; nothing where it can.
  std::string open();
  /// Behind open(): maps `bytes` of cudaMalloc's memory on that device, which are 0 behind this;
  /// that stores to the mapping arrive is tried. The same result. Waits for `stream`; nobody else
  /// may use the memory yet. `memory` has to outlive this.
  std::string map(void *memory, std::size_t bytes, cudaStream_t stream);

  /// What is mapped. For stores of eight bytes, and never for loads.
  std::uint64_t *words() const { return static_cast<std::uint64_t *>(mapped_); }

private:
  std::string arrives(const void *memory, std::uint64_t factor, cudaStream_t stream);

  const GdrLibrary *library_ = nullptr;
  void *connection_ = nullptr;
  unsigned long pinned_ = 0;
  bool is_pinned_ = false;
  void *mapped_ = nullptr;
  std::size_t bytes_ = 0;
};

} // namespace gmpi
