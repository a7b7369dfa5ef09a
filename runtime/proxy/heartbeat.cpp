// Looks four times in the time that is to be reported.
#include "heartbeat.hpp"

#include "report.hpp"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <utility>

namespace gmpi {

void Heartbeat::watch(double stall_seconds, double timeout_seconds) {
  thread_ = std::thread([=, this] { run(stall_seconds, timeout_seconds); });
}

Heartbeat::~Heartbeat() {
  {
    std::lock_guard lock(mutex_);
    ends_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable())
    thread_.join();
}

void Heartbeat::run(double stall_seconds, double timeout_seconds) {
  using Clock = std::chrono::steady_clock;
  const double least =
      timeout_seconds > 0 ? std::min(stall_seconds, timeout_seconds) : stall_seconds;
  const std::chrono::duration<double> between(std::clamp(least / 4, 0.05, 60.0));
  std::uint64_t last = 0;
  Clock::time_point since = Clock::now();
  bool said = false;
  std::unique_lock lock(mutex_);
  while (!changed_.wait_for(lock, between, [this] { return ends_; })) {
    const std::uint64_t beats = beats_.load(std::memory_order_relaxed);
    const Clock::time_point now = Clock::now();
    if (beats == 0 || beats != last) {
      last = beats;
      since = now;
      said = false;
      continue;
    }
    const double still = std::chrono::duration<double>(now - since).count();
    if (still >= stall_seconds && !std::exchange(said, true))
      say("MPI has not returned for %.0f s from a call that a kernel has asked for: it may wait "
          "for that kernel; GMPI_GPU_AWARE=0 keeps device memory from it",
          still);
    if (timeout_seconds > 0 && still >= timeout_seconds) {
      say("GMPI_TIMEOUT is passed");
      std::_Exit(1); // MPI_Abort might wait for the same call
    }
  }
}

} // namespace gmpi
