#include "block_scheduler.hpp"

#include "fault.hpp"
#include "preemption.hpp"
#include "settings.hpp"

#include <sched.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <thread>

namespace gmpi::cpu {
namespace {

std::size_t shared_taken(const Kernel &kernel) {
  return kernel.launch.shared_bytes + shared_per_block_reserved;
}

// Threads are given out by whole warps.
unsigned threads_taken(unsigned threads) {
  return (threads + warp_threads - 1) / warp_threads * warp_threads;
}

void pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

} // namespace

// Never destroyed: its threads end with the process.
BlockScheduler &BlockScheduler::get() {
  static BlockScheduler *scheduler = new BlockScheduler;
  return *scheduler;
}

BlockScheduler::BlockScheduler() : multiprocessors_(settings().multiprocessors) {
  report_faults();
  running_workers_ = settings().workers;
  for (unsigned i = 0; i < settings().workers; ++i)
    std::thread([this] { work(); }).detach();
  std::atexit(stop_at_exit);
}

unsigned BlockScheduler::blocks_per_multiprocessor(unsigned threads, std::size_t shared_bytes) {
  if (threads == 0 || threads > threads_per_block_limit || shared_bytes > shared_per_block_limit)
    return 0;
  const std::size_t by_shared =
      shared_per_multiprocessor / (shared_bytes + shared_per_block_reserved);
  return static_cast<unsigned>(
      std::min<std::size_t>({threads_per_multiprocessor / threads_taken(threads),
                             blocks_per_multiprocessor_limit, by_shared}));
}

void BlockScheduler::submit(std::unique_ptr<Kernel> kernel) {
  {
    std::lock_guard lock(mutex_);
    waiting_.push_back(kernel.get());
    kernels_.push_back(std::move(kernel));
  }
  work_to_do_.notify_all();
}

const char *BlockScheduler::last_ended() {
  std::lock_guard lock(mutex_);
  return last_ended_;
}

void BlockScheduler::work() {
  handle_faults_on_this_thread();
  may_be_preempted();
  Worker &worker = *new Worker; // fibers suspended in kernels cannot be destroyed
  for (;;) {
    if (worker.resident.empty()) {
      admit(worker, true);
      worker_is_busy(true);
    } else {
      admit(worker, false);
    }
    back_off(worker, pass(worker));
    if (worker.resident.empty())
      worker_is_busy(false);
  }
}

// One turn for every resident block. A block is admitted in each turn, so that what the resident
// ones wait for comes to run even if they never stop being busy.
Activity BlockScheduler::pass(Worker &worker) {
  Activity most = Activity::none;
  for (std::size_t i = 0; i < worker.resident.size();) {
    Block &block = *worker.resident[i];
    most = std::max(most, block.pass());
    if (!block.ended()) {
      ++i;
      continue;
    }
    worker.spare.push_back(block.take_shared());
    end_block(block);
    worker.resident[i] = std::move(worker.resident.back());
    worker.resident.pop_back();
  }
  return most;
}

bool BlockScheduler::admit(Worker &worker, bool wait) {
  std::unique_lock lock(mutex_);
  std::optional<Placed> placed = place_next();
  while (stopping_ || (wait && !placed)) {
    if (stopping_) {
      --running_workers_;
      work_to_do_.notify_all();
      work_to_do_.wait(lock, [] { return false; });
    }
    work_to_do_.wait(lock);
    placed = place_next();
  }
  lock.unlock();
  if (!placed)
    return false;
  if (worker.spare.empty())
    worker.spare.push_back(std::make_unique<SharedMemory>());
  worker.resident.push_back(std::make_unique<Block>(*placed->kernel, placed->rank,
                                                    placed->multiprocessor, worker.fibers,
                                                    std::move(worker.spare.back())));
  worker.spare.pop_back();
  return true;
}

std::optional<BlockScheduler::Placed> BlockScheduler::place_next() {
  if (waiting_.empty())
    return std::nullopt;
  Kernel &kernel = *waiting_.front();
  if (kernel.launch.cooperative && kernel.reserved.empty() && !reserve_all(kernel))
    return std::nullopt;
  unsigned place;
  if (kernel.launch.cooperative) {
    place = kernel.reserved[kernel.placed];
  } else {
    const std::optional<unsigned> found = find_place(kernel);
    if (!found)
      return std::nullopt;
    place = *found;
    occupy(place, kernel, true);
  }
  const Placed placed{&kernel, kernel.placed++, place};
  if (kernel.placed == kernel.blocks)
    waiting_.pop_front();
  return placed;
}

// The multiprocessor with the fewest threads that has room.
std::optional<unsigned> BlockScheduler::find_place(const Kernel &kernel) const {
  std::optional<unsigned> best;
  for (unsigned i = 0; i < multiprocessors_.size(); ++i) {
    const Multiprocessor &m = multiprocessors_[i];
    if (m.threads + threads_taken(kernel.threads) > threads_per_multiprocessor ||
        m.blocks + 1 > blocks_per_multiprocessor_limit ||
        m.shared + shared_taken(kernel) > shared_per_multiprocessor)
      continue;
    if (!best || m.threads < multiprocessors_[*best].threads)
      best = i;
  }
  return best;
}

bool BlockScheduler::reserve_all(Kernel &kernel) {
  while (kernel.reserved.size() < kernel.blocks) {
    const std::optional<unsigned> place = find_place(kernel);
    if (!place) {
      for (unsigned taken : kernel.reserved)
        occupy(taken, kernel, false);
      kernel.reserved.clear();
      return false;
    }
    occupy(*place, kernel, true);
    kernel.reserved.push_back(*place);
  }
  return true;
}

void BlockScheduler::occupy(unsigned multiprocessor, const Kernel &kernel, bool take) {
  Multiprocessor &m = multiprocessors_[multiprocessor];
  const unsigned threads = threads_taken(kernel.threads);
  m.threads = take ? m.threads + threads : m.threads - threads;
  m.blocks = take ? m.blocks + 1 : m.blocks - 1;
  m.shared = take ? m.shared + shared_taken(kernel) : m.shared - shared_taken(kernel);
}

void BlockScheduler::end_block(Block &block) {
  Kernel &kernel = block.kernel();
  std::unique_ptr<Kernel> ended;
  {
    std::lock_guard lock(mutex_);
    occupy(block.multiprocessor(), kernel, false);
    if (++kernel.ended == kernel.blocks) {
      last_ended_ = kernel.launch.name;
      auto it = std::find_if(kernels_.begin(), kernels_.end(),
                             [&](const auto &k) { return k.get() == &kernel; });
      ended = std::move(*it);
      kernels_.erase(it);
    }
    if (!waiting_.empty())
      work_to_do_.notify_all();
  }
  if (!ended)
    return;
  const std::function<void()> done = std::move(ended->done);
  ended.reset(); // its arguments are gone before anyone learns that it ended
  done();
}

// What waits here waits for another OS thread or process: first stay ready for it, then leave it
// the core. Polling atomics may also be work, so those passes give way but never sleep.
void BlockScheduler::back_off(Worker &worker, Activity activity) {
  if (activity == Activity::none)
    return;
  if (activity == Activity::progress) {
    worker.fruitless = 0;
    return;
  }
  const unsigned n = ++worker.fruitless;
  if (n < 4) {
    pause();
  } else if (n < 8 || activity == Activity::polled) {
    sched_yield();
  } else {
    const unsigned microseconds = std::min(100u, n - 7);
    std::this_thread::sleep_for(std::chrono::microseconds(microseconds));
  }
}

// A process may exit while a kernel runs. Its workers are given a moment to stop between blocks, so
// that they do not run into what exit destroys.
void BlockScheduler::stop_at_exit() {
  if (in_kernel())
    return;
  BlockScheduler &scheduler = get();
  std::unique_lock lock(scheduler.mutex_);
  scheduler.stopping_ = true;
  scheduler.work_to_do_.notify_all();
  scheduler.work_to_do_.wait_for(lock, std::chrono::milliseconds(200),
                                 [&] { return scheduler.running_workers_ == 0; });
}

} // namespace gmpi::cpu
