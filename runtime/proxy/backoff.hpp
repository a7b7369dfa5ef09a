// How a polling thread waits: poll while an answer is microseconds away, then give the core up,
// then sleep. The longer nothing happens, the less it costs: a thread that sleeps 100 µs between
// polls uses under 4 % of a core.
#pragma once

#include <chrono>
#include <sched.h>
#include <thread>

namespace gmpi {

class Backoff {
public:
  /// Something happened: be quick again.
  void reset() { turns_ = 0; }

  void wait() {
    ++turns_;
    if (turns_ < polls())
      return; // no pause: on virtual machines a loop of them is interrupted by the host
    if (turns_ < polls() + yields)
      sched_yield();
    else
      std::this_thread::sleep_for(
          std::chrono::microseconds(turns_ < polls() + 4 * yields ? 20 : 100));
  }

  /// The same where nothing is waited for, and others need what polling takes: MPI's locks. Until
  /// `ends()` at most.
  template <class Ends> void wait_aside(Ends ends) {
    if (polls() == few_polls)
      return wait();
    const auto until = std::chrono::steady_clock::now() + std::chrono::microseconds(10);
    while (!ends() && std::chrono::steady_clock::now() < until) {
    }
  }

private:
  static constexpr int few_polls = 50;
  /// Some tens of milliseconds, as long as a large message takes; on a machine with few cores
  /// another thread needs this one's to give the answer.
  static int polls() {
    static const int value = std::thread::hardware_concurrency() > 4 ? 500000 : few_polls;
    return value;
  }
  static constexpr int yields = 200;
  int turns_ = 0;
};

} // namespace gmpi
