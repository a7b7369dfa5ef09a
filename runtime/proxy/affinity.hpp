// Where the proxy's thread may run, and does.
#pragma once

#include <algorithm>
#include <chrono>
#include <utility>

namespace gmpi {

/// Launchers often bind a rank to one core, and the program's own thread polls there, in
/// cudaDeviceSynchronize for instance: a proxy on the same core gets it for a time slice at a time,
/// and each MPI call of a kernel takes milliseconds. Lets the calling thread use every core that
/// the system grants the process, where the launcher's binding leaves it fewer than two.
void leave_single_core();

/// Has the calling thread go on on another of the cores that it may use, if it may use several.
void move_to_another_core();

/// Linux may wake two threads on one core that both poll without a pause, as proxies of ranks that
/// launch kernels at the same time do: each gets a time slice of milliseconds while the other waits
/// for what it would do, for a tenth of a second, though other cores are idle. Notices that of the
/// thread that calls it: it has been interrupted for as long as a time slice.
class CoreWatch {
public:
  using Clock = std::chrono::steady_clock;

  /// Behind a wait in which the thread may have slept.
  void rested(Clock::time_point now) { last_ = now; }

  /// Asked now and then in a loop that polls: whether the thread is to move. Not again soon, where
  /// that has not helped: there may be too few cores. `preemptions()`: how often it has had to give
  /// up its core so far.
  template <class Preemptions> bool is_crowded(Clock::time_point now, Preemptions preemptions) {
    const bool was_away = now - std::exchange(last_, now) >= time_slice;
    if (!was_away)
      return false;
    const long so_far = preemptions();
    const bool was_preempted = so_far != std::exchange(preempted_, so_far);
    if (!was_preempted || now < next_)
      return false;
    pause_ = now < next_ + pause_ ? std::min(2 * pause_, longest_pause) : shortest_pause;
    next_ = now + pause_;
    return true;
  }

  /// In every turn of that loop: asks, and moves.
  void turn() {
    if (++turns_ % turns_between == 0)
      look();
  }

private:
  void look();

  static constexpr unsigned turns_between = 16; ///< the clock takes as long as a turn
  static constexpr Clock::duration time_slice = std::chrono::milliseconds(2);
  static constexpr Clock::duration shortest_pause = std::chrono::milliseconds(10),
                                   longest_pause = std::chrono::seconds(2);

  Clock::time_point last_ = Clock::now(), next_{};
  Clock::duration pause_ = shortest_pause;
  long preempted_ = 0;
  unsigned turns_ = 0;
};

} // namespace gmpi
