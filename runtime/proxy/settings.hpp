// The runtime's settings, from the environment, read once.
//
//   GMPI_TIMEOUT=S     end the job when a rank has made no progress for S seconds (default: never)
//   GMPI_STALL=S       report outstanding calls after S seconds without progress (default 60)
//   GMPI_STAGING_MB=N  page-locked memory a device for messages over 64 KiB (default 64)
//   GMPI_LOWER=L       queue or split: how kernels that have both make their MPI calls (default: queue
//                      where the grid is resident as a whole)
//   GMPI_PEER=1        messages go from kernel to kernel, to other hosts by way of the hosts' memory; the host
//                      program asserts that it exchanges none with kernels
//   GMPI_GPU_AWARE=A   auto: MPI is given the addresses of device memory where it says that it takes them, and a
//                      trial at start shows that it does; 1: that is asserted (default: 0, it is not)
//   GMPI_GPU_AWARE_KB=N  messages longer than N KiB are (default, and least, 64)
//   GMPI_GDRCOPY=1     Replies lie in the GPU's memory, which the host writes by way of GDRCopy, where that is
//                      installed (default: 0, in the host's memory)
//   GMPI_STATS=1       MPI_Finalize tells what each kernel's MPI calls have cost, and how messages went
#pragma once

#include <cstddef>

namespace gmpi {

enum class WantedLowering { any, queue, split };
enum class GpuAware { automatic, off, on };

struct Settings {
  double timeout_seconds; ///< 0: never
  double stall_seconds;
  std::size_t staging_bytes; ///< for whole messages
  std::size_t bounce_bytes;  ///< for messages that go through in parts
  std::size_t bounce_piece;  ///< one such part
  WantedLowering lowering;
  GpuAware gpu_aware;
  std::size_t gpu_aware_above; ///< bytes: messages up to so many are never given to MPI where they lie
  bool stats;
  bool peer;
  bool gdrcopy;
};

/// A value that is no number, or out of range, ends the program; its last words name the variable, the
/// value and what is allowed.
const Settings &settings();

} // namespace gmpi
