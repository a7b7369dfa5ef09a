// The shape of the pretended device, and how much of this machine it may use. Read from the
// environment once, at the device's first use.
#pragma once

#include <cstddef>

namespace gmpi::cpu {

struct Settings {
  unsigned workers;         // GMPI_CPU_THREADS: OS threads that run blocks; min(2, cores)
  unsigned multiprocessors; // GMPI_CPU_MULTIPROCESSORS: 8
  std::size_t stack_bytes;  // GMPI_CPU_STACK_KB: of each GPU thread; 64 KB, 256 KB under sanitizers
};
const Settings &settings();

// A multiprocessor's limits, those of a present-day GPU.
inline constexpr unsigned warp_threads = 32;
inline constexpr unsigned threads_per_block_limit = 1024;
inline constexpr unsigned threads_per_multiprocessor = 2048;
inline constexpr unsigned blocks_per_multiprocessor_limit = 32;
inline constexpr std::size_t shared_per_multiprocessor = 228 * 1024;
inline constexpr std::size_t shared_per_block_reserved = 1024;
inline constexpr std::size_t shared_per_block_limit = 227 * 1024;

} // namespace gmpi::cpu
