// The cpu device's memory is the host's: MPI knows nothing of its kernels, and waits for none.
#include "busy_device.hpp"

namespace gmpi::gpu_aware {

std::unique_ptr<Occupation> launch_busy_kernel(double seconds) {
  return occupy_device(Busy::stream, seconds);
}

bool remote_writes_need_no_flush() { return true; }

} // namespace gmpi::gpu_aware
