// A block of GPU threads that runs on one OS thread: a ready list of suspended fibers, the block's
// barrier, its warps' exchanges and its shared memory.
//
// Invariant: a thread that has begun and not ended is in exactly one place: running, in the ready
// list, or in the waiting list of a barrier or of a warp's exchange. So a block whose ready list is
// empty while threads wait within it can never go on.
#pragma once

#include "fiber_pool.hpp"
#include "gmpi/cpu/warp.hpp"
#include "kernel.hpp"
#include "shared_memory.hpp"

#include <deque>
#include <memory>
#include <vector>

namespace gmpi::cpu {

class Block;

// One operation of a warp: open until its last lane has come, then its lanes' to read.
struct Exchange {
  WarpKind kind;
  unsigned mask;
  unsigned readers; // lanes that may still read it
  WarpValues values;
};

enum class Wait : unsigned char { none, block_barrier, grid_barrier, warp };

struct GpuThread {
  Block *block = nullptr;
  Fiber *fiber = nullptr; // null before its start and after its end
  uint3 index{};
  unsigned rank = 0;
  Wait wait = Wait::none;
  Place place{};            // where it waits
  Exchange *last = nullptr; // in which it took part, which it may still read
};

// What a turn of a thread, or of all of a block's, amounted to. none: an exchange in a warp that waits
// for something else: the lanes tell each other what they have seen.
enum class Activity { none, waited, polled, progress };

class Block {
public:
  Block(Kernel &kernel, unsigned long long rank, unsigned multiprocessor, FiberPool &fibers,
        std::unique_ptr<SharedMemory> shared);

  // On the OS thread: lets each thread that can run do so once.
  Activity pass();
  bool ended() const { return living_ == 0; }

  // On the calling GPU thread.
  void yield(Activity activity);
  int barrier(Place place, Vote vote, int predicate);
  void grid_barrier(Place place);
  const WarpValues &exchange(WarpKind kind, unsigned mask, unsigned long long value, Place place);

  SharedMemory &shared() { return *shared_; }
  std::unique_ptr<SharedMemory> take_shared() { return std::move(shared_); }
  Kernel &kernel() { return kernel_; }
  uint3 index() const { return index_; }
  unsigned multiprocessor() const { return multiprocessor_; }

private:
  // More than a warp's look at what it waits for takes, and little more: what it does when it has
  // found that counts as looking, too, for so many.
  static constexpr unsigned exchanges_of_a_look = 16;
  struct Warp {
    unsigned living = 0;
    unsigned since_wait = exchanges_of_a_look; // exchanges since a lane waited last
    std::deque<Exchange> exchanges; // all that there ever were at once
    std::vector<Exchange *> open, unused;
  };
  struct Barrier {
    std::vector<GpuThread *> waiting;
    bool mixed = false; // not all at one place
    Vote vote = Vote::none;
    unsigned yes = 0;
    int result = 0;
  };

  static void run_thread(void *thread);
  void begin(unsigned rank);
  void resume(GpuThread &thread);
  void end(GpuThread &thread);
  void suspend(GpuThread &thread, Wait wait, Place place);
  void wake(GpuThread &thread);
  void wake(std::vector<GpuThread *> &waiting);
  bool open_barrier_if_complete();
  bool arrive_at_grid_if_complete();
  Exchange &open_exchange(Warp &warp, WarpKind kind, unsigned mask);
  bool deliver_if_complete(unsigned warp, const Exchange &exchange);
  void leave_last_exchange(GpuThread &thread);
  [[noreturn]] void report_divergence();

  Kernel &kernel_;
  uint3 index_;
  unsigned multiprocessor_;
  FiberPool &fibers_;
  std::unique_ptr<SharedMemory> shared_;
  std::vector<GpuThread> threads_;
  std::vector<Warp> warps_;
  std::vector<GpuThread *> ready_, running_;
  unsigned begun_ = 0, living_;
  Activity activity_ = Activity::progress; // of the thread that just ran
  Barrier barrier_;
  std::vector<GpuThread *> at_grid_;
  bool arrived_at_grid_ = false;
  unsigned grid_round_ = 0;
};

// The GPU thread that this OS thread is running; null between switches and on host threads.
GpuThread *current_thread() noexcept;

} // namespace gmpi::cpu
