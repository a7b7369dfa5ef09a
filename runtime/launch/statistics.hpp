// What kernels' MPI calls have cost, told at MPI_Finalize where GMPI_STATS=1: a line for each
// kernel and lowering.
#pragma once

#include "lowering.hpp"

#include <chrono>

namespace gmpi::launch {

struct Counts {
  using Duration = std::chrono::steady_clock::duration;

  std::uint64_t launches = 0, calls = 0;
  // Split kernels only:
  std::uint64_t segments = 0;
  std::uint64_t saved_bytes = 0; ///< written to and read from frames, at most
  Duration in_segments{}, in_mpi{}, total{};
};

/// Any thread. Without GMPI_STATS it does nothing.
void count(const KernelEntry &kernel, Lowering lowering, const Counts &counts);
/// Says it all, once.
void report_statistics();

} // namespace gmpi::launch
