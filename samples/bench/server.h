// The host's end of a probe: a thread that polls mapped memory and answers.
#pragma once

#include <atomic>
#include <sched.h>
#include <thread>

namespace bench {

using Stopped = std::atomic<bool>;

/// Polls until the word has this value; false where the server is stopped first.
inline bool arrives(const volatile unsigned *word, unsigned value, const Stopped &stopped) {
  while (*word != value)
    if (stopped.load(std::memory_order_relaxed))
      return false;
  std::atomic_thread_fence(std::memory_order_acquire);
  return true;
}

/// Launchers may bind a rank to one core, where the program's own thread polls. GMPI's proxy leaves
/// such a core; so does what it is compared with.
inline void use_all_cores() {
  cpu_set_t all;
  CPU_ZERO(&all);
  for (int core = 0; core < CPU_SETSIZE; ++core)
    CPU_SET(core, &all);
  sched_setaffinity(0, sizeof all, &all); // if refused, all works, slower
}

/// A thread that calls serve(n, stopped) for n = 1, 2, ... until that returns false, as it must
/// soon once it is stopped: by the end of this object.
class Server {
public:
  template <class Serve> explicit Server(Serve serve) {
    thread_ = std::thread([this, serve] {
      use_all_cores();
      for (unsigned n = 1; serve(n, stopped_); ++n)
        ;
    });
  }
  ~Server() {
    stopped_ = true;
    thread_.join();
  }
  Server(const Server &) = delete;
  Server &operator=(const Server &) = delete;

private:
  Stopped stopped_ = false;
  std::thread thread_;
};

} // namespace bench
