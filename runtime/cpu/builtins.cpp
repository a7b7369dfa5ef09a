// The built-ins that kernels call, on the block that the calling thread belongs to.
#include "block.hpp"
#include "fault.hpp"
#include "preemption.hpp"

#include <sched.h>

#include <atomic>
#include <chrono>

namespace gmpi::cpu {
namespace {

// Consecutive equal findings of one atomic after which its caller is taken to be waiting.
constexpr unsigned equal_findings = 16;
// Calls of clocks and fences between two turns given to others.
constexpr unsigned calls_between_turns = 16;

// Shared by the fibers of an OS thread: they switch rarely enough for this to be a fair guess.
struct Polling {
  const void *address;
  unsigned long long found;
  unsigned equal, atomics, calls;
};
__thread Polling polling;

Block &this_block(const char *what) {
  GpuThread *thread = current_thread();
  if (!thread)
    fail("%s is called outside of a kernel", what);
  return *thread->block;
}

} // namespace

bool in_kernel() noexcept { return current_thread() != nullptr; }

void yield() {
  InDevice in_device;
  if (GpuThread *thread = current_thread())
    thread->block->yield(Activity::waited);
  else
    sched_yield();
}

void maybe_yield() {
  InDevice in_device;
  GpuThread *thread = current_thread();
  if (thread && ++polling.calls % calls_between_turns == 0)
    thread->block->yield(Activity::polled);
}

void note_atomic(const void *address, unsigned long long found) {
  InDevice in_device;
  const bool again = polling.address == address && polling.found == found;
  polling.equal = again ? polling.equal + 1 : 0;
  polling.address = address;
  polling.found = found;
  ++polling.atomics;
  GpuThread *thread = current_thread();
  if (!thread)
    return;
  if (polling.equal >= equal_findings) {
    polling.equal = 0;
    thread->block->yield(Activity::polled);
  } else if (polling.atomics % 1024 == 0) { // several flags polled in turn
    thread->block->yield(Activity::progress);
  }
}

int block_barrier(Place place, Vote vote, int predicate) {
  InDevice in_device;
  return this_block("__syncthreads").barrier(place, vote, predicate);
}

bool cooperative_grid() noexcept {
  GpuThread *thread = current_thread();
  return thread && thread->block->kernel().launch.cooperative;
}

void grid_barrier(Place place) {
  InDevice in_device;
  Block &block = this_block("a grid barrier");
  if (!cooperative_grid())
    fail("%s:%u: a grid barrier in a kernel that was not launched cooperatively", place.file,
         place.line);
  block.grid_barrier(place);
}

const WarpValues &warp_exchange(WarpKind kind, unsigned mask, unsigned long long value,
                                Place place) {
  InDevice in_device;
  return this_block("a warp operation").exchange(kind, mask, value, place);
}

unsigned lane_id() noexcept {
  GpuThread *thread = current_thread();
  return thread ? thread->rank % 32 : 0;
}

// ThreadSanitizer does not know fences, but orders what read-modify-writes of one word order.
void fence() noexcept {
#ifdef GMPI_CPU_TSAN
  static std::atomic<unsigned> word;
  word.fetch_add(1, std::memory_order_seq_cst);
#else
  std::atomic_thread_fence(std::memory_order_seq_cst);
#endif
}

void *shared_storage(SharedSite site, const void *type, std::size_t bytes, std::size_t alignment) {
  InDevice in_device;
  return this_block("a __shared__ variable").shared().variable(site, type, bytes, alignment);
}
void *dynamic_shared_storage() { return this_block("a __shared__ variable").shared().dynamic(); }
std::size_t dynamic_shared_bytes() {
  return this_block("a __shared__ variable").kernel().launch.shared_bytes;
}

bool is_local(const void *p) noexcept {
  GpuThread *thread = current_thread();
  return thread && thread->fiber->holds(p);
}
bool is_shared(const void *p) noexcept {
  GpuThread *thread = current_thread();
  return thread && thread->block->shared().holds(p);
}

} // namespace gmpi::cpu

using namespace std::chrono;

void __nanosleep(unsigned) { gmpi::cpu::yield(); }

long long clock64() {
  gmpi::cpu::maybe_yield();
  return duration_cast<nanoseconds>(steady_clock::now().time_since_epoch()).count();
}

unsigned long long __globaltimer() { return static_cast<unsigned long long>(clock64()); }

void __trap() { gmpi::cpu::fail("__trap"); }
