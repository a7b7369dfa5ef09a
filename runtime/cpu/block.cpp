#define GMPI_CPU_INDEX_CONST // this file sets the built-in indices
#include "block.hpp"

#include "preemption.hpp"
#include "settings.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <exception>
#include <map>
#include <string>

namespace gmpi::cpu {

__thread uint3 threadIdx, blockIdx;
__thread dim3 blockDim, gridDim;

namespace {
__thread GpuThread *current = nullptr;

bool same(Place a, Place b) {
  return a.line == b.line && (a.file == b.file || std::strcmp(a.file, b.file) == 0);
}
} // namespace

GpuThread *current_thread() noexcept { return current; }

Block::Block(Kernel &kernel, unsigned long long rank, unsigned multiprocessor, FiberPool &fibers,
             std::unique_ptr<SharedMemory> shared)
    : kernel_(kernel), index_(kernel.block_index(rank)), multiprocessor_(multiprocessor),
      fibers_(fibers), shared_(std::move(shared)), threads_(kernel.threads),
      warps_((kernel.threads + warp_threads - 1) / warp_threads), living_(kernel.threads) {
  shared_->begin_block(kernel.launch.shared_bytes);
  for (unsigned i = 0; i < kernel.threads; ++i)
    warps_[i / warp_threads].living |= 1u << i % warp_threads;
}

Activity Block::pass() {
  blockIdx = index_;
  blockDim = kernel_.launch.block;
  gridDim = kernel_.launch.grid;
  if (arrived_at_grid_ && kernel_.grid.passed(grid_round_)) {
    arrived_at_grid_ = false;
    wake(at_grid_);
  }
  running_.swap(ready_);
  Activity most = running_.empty() ? Activity::waited : Activity::none;
  for (GpuThread *thread : running_) {
    resume(*thread);
    most = std::max(most, activity_);
  }
  running_.clear();
  for (; begun_ < threads_.size(); most = Activity::progress)
    begin(begun_++);
  if (ready_.empty() && living_ != 0 && !arrived_at_grid_)
    report_divergence();
  return most;
}

void Block::begin(unsigned rank) {
  GpuThread &thread = threads_[rank];
  const dim3 &b = kernel_.launch.block;
  thread.block = this;
  thread.rank = rank;
  thread.index = {rank % b.x, rank / b.x % b.y, rank / b.x / b.y};
  thread.fiber = fibers_.take();
  current = &thread;
  threadIdx = thread.index;
  turn_begins();
  thread.fiber->start(run_thread, &thread);
  turn_ends();
  current = nullptr;
  if (thread.fiber->finished())
    end(thread);
}

void Block::run_thread(void *argument) {
  GpuThread &thread = *static_cast<GpuThread *>(argument);
  try {
    in_kernel_code = 1;
    thread.block->kernel_.launch.thread();
    in_kernel_code = 0;
  } catch (const std::exception &e) {
    fail("uncaught exception: %s", e.what());
  } catch (...) {
    fail("uncaught exception");
  }
}

void Block::resume(GpuThread &thread) {
  activity_ = Activity::progress;
  current = &thread;
  threadIdx = thread.index;
  turn_begins();
  thread.fiber->resume();
  turn_ends();
  current = nullptr;
  if (thread.fiber->finished())
    end(thread);
}

// A thread that ends leaves the barrier and the masks of its warp: those that wait may now go on.
void Block::end(GpuThread &thread) {
  fibers_.give_back(thread.fiber);
  thread.fiber = nullptr;
  --living_;
  const unsigned warp = thread.rank / warp_threads;
  warps_[warp].living &= ~(1u << thread.rank % warp_threads);
  leave_last_exchange(thread);
  const std::vector<Exchange *> &open = warps_[warp].open;
  for (std::size_t i = open.size(); i-- > 0;) // one that is complete leaves it
    deliver_if_complete(warp, *open[i]);
  open_barrier_if_complete();
  arrive_at_grid_if_complete();
  if (living_ == 0) {
    shared_->check();
    kernel_.grid.leave();
  }
}

void Block::yield(Activity activity) {
  GpuThread &thread = *current;
  ready_.push_back(&thread);
  activity_ = activity;
  if (activity == Activity::waited)
    warps_[thread.rank / warp_threads].since_wait = 0;
  thread.fiber->suspend();
}

void Block::suspend(GpuThread &thread, Wait wait, Place place) {
  thread.wait = wait;
  thread.place = place;
  const bool looks = wait == Wait::warp &&
                     warps_[thread.rank / warp_threads].since_wait < exchanges_of_a_look;
  activity_ = looks ? Activity::none : Activity::progress;
  thread.fiber->suspend();
}

void Block::wake(GpuThread &thread) {
  thread.wait = Wait::none;
  ready_.push_back(&thread);
}

void Block::wake(std::vector<GpuThread *> &waiting) {
  for (GpuThread *thread : waiting)
    wake(*thread);
  waiting.clear();
}

int Block::barrier(Place place, Vote vote, int predicate) {
  GpuThread &thread = *current;
  if (!barrier_.waiting.empty())
    barrier_.mixed |= !same(barrier_.waiting.front()->place, place) || barrier_.vote != vote;
  barrier_.vote = vote;
  barrier_.yes += predicate != 0;
  thread.place = place;
  thread.wait = Wait::block_barrier;
  barrier_.waiting.push_back(&thread);
  if (!open_barrier_if_complete())
    suspend(thread, Wait::block_barrier, place);
  else
    ready_.pop_back(); // the caller came last, was woken last, and goes on at once
  return barrier_.result;
}

bool Block::open_barrier_if_complete() {
  const std::size_t waiting = barrier_.waiting.size();
  if (waiting == 0 || waiting != living_)
    return false;
  if (barrier_.mixed)
    report_divergence();
  switch (barrier_.vote) {
  case Vote::none:
    break;
  case Vote::count:
    barrier_.result = static_cast<int>(barrier_.yes);
    break;
  case Vote::all:
    barrier_.result = barrier_.yes == waiting;
    break;
  case Vote::any:
    barrier_.result = barrier_.yes != 0;
    break;
  }
  barrier_.yes = 0;
  wake(barrier_.waiting);
  return true;
}

void Block::grid_barrier(Place place) {
  GpuThread &thread = *current;
  thread.place = place;
  at_grid_.push_back(&thread);
  arrive_at_grid_if_complete();
  suspend(thread, Wait::grid_barrier, place);
}

bool Block::arrive_at_grid_if_complete() {
  if (arrived_at_grid_ || at_grid_.empty() || at_grid_.size() != living_)
    return false;
  for (GpuThread *thread : at_grid_)
    if (!same(thread->place, at_grid_.front()->place))
      report_divergence();
  arrived_at_grid_ = true;
  grid_round_ = kernel_.grid.arrive(at_grid_.front()->place);
  return true;
}

const WarpValues &Block::exchange(WarpKind kind, unsigned mask, unsigned long long value,
                                  Place place) {
  GpuThread &thread = *current;
  const unsigned warp = thread.rank / warp_threads, lane = thread.rank % warp_threads;
  if (!(mask >> lane & 1))
    fail("%s:%u: lane %u is not in the mask 0x%08x that it gives", place.file, place.line, lane,
         mask);
  leave_last_exchange(thread);
  Exchange &exchange = open_exchange(warps_[warp], kind, mask);
  exchange.values.lanes |= 1u << lane;
  exchange.values.not_zero |= static_cast<unsigned>(value != 0) << lane;
  exchange.values.value[lane] = value;
  ++exchange.readers;
  thread.last = &exchange;
  thread.wait = Wait::warp;
  thread.place = place;
  if (!deliver_if_complete(warp, exchange))
    suspend(thread, Wait::warp, place);
  return exchange.values;
}

Exchange &Block::open_exchange(Warp &warp, WarpKind kind, unsigned mask) {
  for (Exchange *exchange : warp.open)
    if (exchange->kind == kind && exchange->mask == mask)
      return *exchange;
  if (warp.unused.empty())
    warp.unused.push_back(&warp.exchanges.emplace_back());
  Exchange &exchange = *warp.unused.back();
  warp.unused.pop_back();
  warp.open.push_back(&exchange);
  exchange.kind = kind;
  exchange.mask = mask;
  exchange.readers = 0;
  exchange.values.lanes = exchange.values.not_zero = 0;
  return exchange;
}

// Lets every lane of a complete exchange go on. The running thread, if it is one of them, is not
// put into the ready list.
bool Block::deliver_if_complete(unsigned warp, const Exchange &exchange) {
  if (exchange.values.lanes != (exchange.mask & warps_[warp].living))
    return false;
  for (unsigned lanes = exchange.values.lanes; lanes != 0; lanes &= lanes - 1) {
    GpuThread &thread = threads_[warp * warp_threads + std::countr_zero(lanes)];
    if (&thread == current)
      thread.wait = Wait::none;
    else
      wake(thread);
  }
  std::vector<Exchange *> &open = warps_[warp].open;
  open.erase(std::find(open.begin(), open.end(), &exchange));
  ++warps_[warp].since_wait;
  return true;
}

void Block::leave_last_exchange(GpuThread &thread) {
  if (thread.last != nullptr && --thread.last->readers == 0)
    warps_[thread.rank / warp_threads].unused.push_back(thread.last);
  thread.last = nullptr;
}

void Block::report_divergence() {
  std::map<std::string, unsigned> groups;
  for (const GpuThread &thread : threads_) {
    if (!thread.fiber)
      continue;
    const char *what = thread.wait == Wait::block_barrier  ? "wait at the block barrier at "
                       : thread.wait == Wait::grid_barrier ? "wait at the grid barrier at "
                       : thread.wait == Wait::warp         ? "wait in the warp operation at "
                                                           : nullptr;
    ++groups[what ? what + std::string(thread.place.file) + ":" + std::to_string(thread.place.line)
                  : "run"];
  }
  std::string text;
  for (const auto &[what, count] : groups)
    text += "\n  " + std::to_string(count) + " of its threads " + what;
  if (threads_.size() != living_)
    text += "\n  " + std::to_string(threads_.size() - living_) + " have returned";
  fail("divergent barrier: no thread of block (%u,%u,%u), kernel '%s', can go on:%s", index_.x,
       index_.y, index_.z, kernel_.launch.name, text.c_str());
}

} // namespace gmpi::cpu
