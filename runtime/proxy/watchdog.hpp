// Says who waits for whom when nothing moves. After GMPI_STALL seconds without progress each rank
// reports its outstanding calls once; the job is aborted when GMPI_TIMEOUT is set and passed, when
// a rank waits for one that has finished, or when ranks wait for each other in a cycle.
//
// Invariant: no false alarm ends a job. A call counts as blocked only while a kernel waits for it,
// a rank only while a call of grid scope blocks each of its launches and its host makes no MPI call;
// a cycle is shown by a probe that has travelled along blocked ranks and come back.
#pragma once

#include "operation.hpp"

#include <array>
#include <atomic>
#include <memory>

namespace gmpi {

class Progress;

class Watchdog {
public:
  Watchdog();
  ~Watchdog();

  /// Something moved. Any thread.
  void note_progress() { last_progress_ = Clock::now().time_since_epoch().count(); }
  /// This rank has called MPI_Finalize. Any thread.
  void note_finalizing() { finalizing_ = true; }

  /// The proxy calls it in each idle turn of its loop; it looks at the clock now and then only.
  template <std::size_t N>
  void check(const std::array<std::unique_ptr<Progress>, N> &devices, int launches) {
    if (++turns_ % 4096 == 0) {
      std::array<const Progress *, N> looked_at;
      for (std::size_t i = 0; i < N; ++i)
        looked_at[i] = devices[i].get();
      look(looked_at.data(), N, launches);
    }
  }
  /// Answers other ranks' questions. The proxy calls it while it has nothing else to do.
  void answer_peers();

private:
  void look(const Progress *const *devices, std::size_t count, int launches);

  std::atomic<Clock::rep> last_progress_;
  std::atomic<bool> finalizing_{false};
  unsigned turns_ = 0;
  bool reported_ = false;
};

} // namespace gmpi
