// Watches a thread that may not come back from a call: the proxy's, where the MPI library makes
// CUDA calls of its own. Such a call may wait for a kernel that waits for the proxy, which cannot
// report that itself.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>

namespace gmpi {

class Heartbeat {
public:
  /// Nobody watches before this. Once the thread has not moved for `stall_seconds` that is said;
  /// once it has not for `timeout_seconds` (0: ever so long) the process ends.
  void watch(double stall_seconds, double timeout_seconds);
  ~Heartbeat();

  // The watched thread's:

  /// It is awake and goes on.
  void beat() { beats_.store(++count_, std::memory_order_relaxed); }
  /// It is about to sleep.
  void rest() { beats_.store(0, std::memory_order_relaxed); }

private:
  void run(double stall_seconds, double timeout_seconds);

  std::uint64_t count_ = 0;
  std::atomic<std::uint64_t> beats_{0};
  std::mutex mutex_;
  std::condition_variable changed_;
  bool ends_ = false;
  std::thread thread_;
};

} // namespace gmpi
