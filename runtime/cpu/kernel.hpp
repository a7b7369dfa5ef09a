// One kernel in flight: its launch, which of its blocks have been placed, and the barrier of its
// grid, which counts the blocks that have not ended.
#pragma once

#include "gmpi/cpu.hpp"

#include <atomic>
#include <mutex>
#include <vector>

namespace gmpi::cpu {

// Waits of whole blocks. A block arrives once all of its living threads have; blocks that end
// leave.
class GridBarrier {
public:
  explicit GridBarrier(unsigned blocks) : living_(blocks) {}

  // Returns the round to wait for: the barrier is open once passed(round).
  unsigned arrive(Place place);
  bool passed(unsigned round) const { return round_.load(std::memory_order_acquire) != round; }
  void leave();

private:
  void open_if_complete();

  std::mutex mutex_;
  std::atomic<unsigned> round_{0};
  unsigned living_, arrived_ = 0;
  Place first_{};
};

struct Kernel {
  explicit Kernel(KernelLaunch from);

  KernelLaunch launch;
  unsigned threads; // a block
  unsigned long long blocks;
  GridBarrier grid;
  std::function<void()> done; // called once by the worker that ends the last block

  // Guarded by the scheduler.
  unsigned long long placed = 0, ended = 0;
  std::vector<unsigned> reserved; // cooperative: the multiprocessor of each block, once all fit

  uint3 block_index(unsigned long long rank) const;
};

} // namespace gmpi::cpu
