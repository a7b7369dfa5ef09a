#include "fiber_pool.hpp"

#include "gmpi/cpu/builtins.hpp"
#include "settings.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <mutex>

namespace gmpi::cpu {
namespace {

constexpr std::size_t moved_at_once = 512; // fibers between an OS thread's pool and the spare
const std::size_t page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));

// Linux limits how many pieces a process's address space may have (65530). Each guard page costs
// two: stacks beyond this number go without one rather than not at all.
constexpr std::size_t guarded_stacks_most = 24000;
constexpr std::size_t stacks_at_once = 64;

// Where stacks come from: large mappings, cut up. Stacks are never given back, fibers live as long
// as the process.
class Stacks {
public:
  boost::context::stack_context take() {
    std::lock_guard lock(mutex_);
    const std::size_t bytes = page + (settings().stack_bytes + page - 1) / page * page;
    if (left_ == 0) {
      void *mapped = mmap(nullptr, bytes * stacks_at_once, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
      if (mapped == MAP_FAILED)
        fail("no memory for more GPU threads' stacks of %zu KB (GMPI_CPU_STACK_KB makes them "
             "smaller, GMPI_CPU_MULTIPROCESSORS makes them fewer)",
             settings().stack_bytes / 1024);
      next_ = static_cast<char *>(mapped);
      left_ = stacks_at_once;
    }
    if (taken_++ < guarded_stacks_most)
      mprotect(next_, page, PROT_NONE);
    boost::context::stack_context stack;
    next_ += bytes;
    --left_;
    stack.size = bytes;
    stack.sp = next_;
    return stack;
  }

private:
  std::mutex mutex_;
  char *next_ = nullptr;
  std::size_t left_ = 0, taken_ = 0;
};

Stacks &stacks() {
  static Stacks *stacks = new Stacks;
  return *stacks;
}

// Boost.Context asks for an allocator to give the stack back to when a fiber ends. None does.
struct NoDeallocation {
  void deallocate(boost::context::stack_context &) {}
};

// Fibers that one OS thread has too many of, for the others.
struct SpareFibers {
  std::mutex mutex;
  std::vector<Fiber *> fibers;
};
SpareFibers &spare() {
  static SpareFibers *spare = new SpareFibers;
  return *spare;
}

} // namespace

Fiber::Fiber() {
  boost::context::stack_context stack = stacks().take();
  guard_ = static_cast<char *>(stack.sp) - stack.size;
  inner_.bottom = guard_ + page;
  inner_.bytes = stack.size - page;
  outer_.is_this_os_thread();
  inner_.is_new_fiber();
  // Boost enters and leaves the new stack once while it builds the fiber. To ThreadSanitizer that
  // must happen in the fiber's own context, or its call stack of this thread grows by each fiber.
#ifdef GMPI_CPU_TSAN
  __tsan_switch_to_fiber(inner_.tsan_fiber, 0);
#endif
  inside_ = boost::context::fiber(std::allocator_arg,
                                  boost::context::preallocated(stack.sp, stack.size, stack),
                                  NoDeallocation{}, [this](boost::context::fiber &&outside) {
                                    outside_ = std::move(outside);
                                    inner_.back(outer_);
                                    run();
                                    return std::move(outside_);
                                  });
#ifdef GMPI_CPU_TSAN
  __tsan_switch_to_fiber(outer_.tsan_fiber, 0);
#endif
}

void Fiber::run() {
  for (;;) {
    function_(argument_);
    finished_ = true;
    suspend();
  }
}

void Fiber::start(void (*function)(void *), void *argument) {
  function_ = function;
  argument_ = argument;
  finished_ = false;
  outer_.is_this_os_thread();
  resume();
}

void Fiber::resume() {
  SanitizedStack learnt;
  outer_.leave(inner_);
  inside_ = std::move(inside_).resume();
  outer_.back(learnt);
}

void Fiber::suspend() {
  inner_.leave(outer_);
  outside_ = std::move(outside_).resume();
  inner_.back(outer_);
}

bool Fiber::holds(const void *p) const {
  return p >= inner_.bottom && p < static_cast<const char *>(inner_.bottom) + inner_.bytes;
}

bool Fiber::holds_in_guard(const void *p) const {
  return p >= guard_ && p < static_cast<const void *>(guard_ + page);
}

Fiber *FiberPool::take() {
  if (free_.empty()) {
    std::lock_guard lock(spare().mutex);
    std::vector<Fiber *> &fibers = spare().fibers;
    const std::size_t taken = std::min(fibers.size(), moved_at_once);
    free_.assign(fibers.end() - static_cast<std::ptrdiff_t>(taken), fibers.end());
    fibers.resize(fibers.size() - taken);
  }
  if (free_.empty())
    return new Fiber;
  Fiber *fiber = free_.back();
  free_.pop_back();
  return fiber;
}

void FiberPool::give_back(Fiber *fiber) {
  free_.push_back(fiber);
  if (free_.size() < 2 * moved_at_once)
    return;
  std::lock_guard lock(spare().mutex);
  std::vector<Fiber *> &fibers = spare().fibers;
  fibers.insert(fibers.end(), free_.begin(), free_.begin() + moved_at_once);
  free_.erase(free_.begin(), free_.begin() + moved_at_once);
}

} // namespace gmpi::cpu
