// The cpu device's memory is the host's: MPI knows nothing of its kernels, and waits for none.
#include "busy_device.hpp"

namespace gmpi::gpu_aware {

/// Ranks, kernels and MPI share the processor, with everything else that runs there.
const double trial_seconds = 5;

std::unique_ptr<Occupation> launch_busy_kernel(double seconds) {
  return occupy_device(Busy::stream, seconds);
}

bool remote_writes_need_no_flush() { return true; }
bool orders_remote_writes() { return true; }

} // namespace gmpi::gpu_aware
