// Keeps the current device busy as a program with MPI in kernels does, for a trial of what else
// goes on meanwhile; and what of a device decides whether others may write into its memory while it
// is.
//
// Invariant: it ends by itself when its time is over, whatever the host does.
#pragma once

#include <memory>

namespace gmpi::gpu_aware {

enum class Busy {
  stream, ///< the default stream waits for the host, as behind the launch of a split kernel
  kernel, ///< a kernel there fills the device and waits for the host (cpu device: as `stream`)
};

/// The device is busy while this lives, but for no longer than it was to be. Its end waits until
/// the device is idle.
class Occupation {
public:
  virtual ~Occupation() = default;
  /// Whether its time is not over yet. Makes no CUDA call.
  virtual bool lasts() const = 0;
};

/// From here on, for `seconds` at most. Null where that cannot be had.
std::unique_ptr<Occupation> occupy_device(Busy how, double seconds);
/// The same by a kernel; one implementation for each device.
std::unique_ptr<Occupation> launch_busy_kernel(double seconds);

/// How long the trial keeps the device busy at most, in seconds: enough for messages that need not
/// wait.
extern const double trial_seconds;

/// Whether a running kernel finds what another device, a network card for one, has written into its
/// memory once the host has been told of it.
bool remote_writes_need_no_flush();
/// Whether it finds them in the order in which they were written: the current device says so
/// itself.
bool orders_remote_writes();

} // namespace gmpi::gpu_aware
