// Takes the processor from a GPU thread that neither ends nor calls anything of the device for a
// while, such as one that polls a volatile flag which another fiber of the same OS thread will set.
//
// A watching thread sends SIGURG to an OS thread whose fiber does not change; the handler suspends
// the fiber. It does so only in the program's own code: never within a library (malloc's locks
// would stay held) and never within the device (its lists would be half changed).
#pragma once

#include <csignal>

namespace gmpi::cpu {

// This OS thread executes a kernel's code. Off while a fiber is in one of the device's functions.
extern __thread volatile std::sig_atomic_t in_kernel_code;

// In the device's functions that kernels call.
class InDevice {
public:
  InDevice() : before_(in_kernel_code) { in_kernel_code = 0; }
  ~InDevice() { in_kernel_code = before_; }
  InDevice(const InDevice &) = delete;
  InDevice &operator=(const InDevice &) = delete;

private:
  const std::sig_atomic_t before_;
};

// Called by each worker: at its start, around each turn of a GPU thread, and when it begins and
// stops having blocks.
void may_be_preempted();
void turn_begins();
void turn_ends();
void worker_is_busy(bool busy);

} // namespace gmpi::cpu
