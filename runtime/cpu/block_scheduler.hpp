// Places blocks of kernels on the pretended multiprocessors and runs them on a few OS threads.
//
// Kernels are placed first come, first served: a later kernel's blocks get places once all of the
// earlier one's have theirs. A cooperative kernel gets places for all blocks at once or waits. A
// placed block keeps its place, and its OS thread, until it ends.
#pragma once

#include "block.hpp"

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

namespace gmpi::cpu {

class BlockScheduler {
public:
  static BlockScheduler &get();

  // How many blocks of this shape one multiprocessor holds.
  static unsigned blocks_per_multiprocessor(unsigned threads, std::size_t shared_bytes);

  void submit(std::unique_ptr<Kernel> kernel);
  // The name of the kernel that ended last, "none" before the first.
  const char *last_ended();

private:
  struct Multiprocessor {
    unsigned threads = 0, blocks = 0;
    std::size_t shared = 0;
  };
  struct Placed {
    Kernel *kernel;
    unsigned long long rank;
    unsigned multiprocessor;
  };
  struct Worker {
    FiberPool fibers;
    std::vector<std::unique_ptr<SharedMemory>> spare;
    std::vector<std::unique_ptr<Block>> resident;
    unsigned fruitless = 0; // passes in a row in which nothing went on
  };

  BlockScheduler();
  void work();
  Activity pass(Worker &worker);
  bool admit(Worker &worker, bool wait);
  std::optional<Placed> place_next();
  std::optional<unsigned> find_place(const Kernel &kernel) const;
  bool reserve_all(Kernel &kernel);
  void occupy(unsigned multiprocessor, const Kernel &kernel, bool take);
  void end_block(Block &block);
  static void back_off(Worker &worker, Activity activity);
  static void stop_at_exit();

  std::mutex mutex_;
  std::condition_variable work_to_do_;
  std::vector<Multiprocessor> multiprocessors_;
  std::deque<Kernel *> waiting_; // kernels with blocks that have no place yet
  std::vector<std::unique_ptr<Kernel>> kernels_;
  const char *last_ended_ = "none";
  bool stopping_ = false;
  unsigned running_workers_ = 0;
};

} // namespace gmpi::cpu
