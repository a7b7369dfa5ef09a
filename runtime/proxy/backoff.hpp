// How a polling thread waits: spin while an answer is microseconds away, then give the core up,
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
    if (turns_ < spins()) {
      __builtin_ia32_pause();
    } else if (turns_ < spins() + yields) {
      sched_yield();
    } else {
      std::this_thread::sleep_for(std::chrono::microseconds(turns_ < spins() + 4 * yields ? 20 : 100));
    }
  }

private:
  /// On a machine with few cores another thread needs this one to give the answer.
  static int spins() {
    static const int value = std::thread::hardware_concurrency() > 4 ? 20000 : 50;
    return value;
  }
  static constexpr int yields = 200;
  int turns_ = 0;
};

} // namespace gmpi
