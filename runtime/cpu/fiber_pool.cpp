#include "fiber_pool.hpp"

#include "settings.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

namespace gmpi::cpu {
namespace {

const std::size_t page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));

// Gives Boost.Context a stack whose lowest page cannot be touched. Stacks are never unmapped:
// fibers live as long as the process.
struct GuardedStack {
  std::size_t bytes;

  boost::context::stack_context allocate() {
    const std::size_t mapped = bytes + page;
    void *base = mmap(nullptr, mapped, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
    if (base == MAP_FAILED) {
      std::fprintf(stderr,
                   "gmpi: cpu device: no memory for another GPU thread's stack of %zu KB "
                   "(GMPI_CPU_STACK_KB, GMPI_CPU_MULTIPROCESSORS make it fewer)\n",
                   bytes / 1024);
      std::abort();
    }
    // The kernel limits how many pieces a process's memory may have. Past that limit stacks go
    // without a guard rather than not at all.
    (void)mprotect(base, page, PROT_NONE);
    boost::context::stack_context stack;
    stack.size = mapped;
    stack.sp = static_cast<char *>(base) + mapped;
    return stack;
  }
  void deallocate(boost::context::stack_context &) {}
};

} // namespace

Fiber::Fiber(std::size_t stack_bytes) {
  GuardedStack allocator{(stack_bytes + page - 1) / page * page};
  boost::context::stack_context stack = allocator.allocate();
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
                                  allocator, [this](boost::context::fiber &&outside) {
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
    all_.push_back(std::make_unique<Fiber>(settings().stack_bytes));
    return all_.back().get();
  }
  Fiber *fiber = free_.back();
  free_.pop_back();
  return fiber;
}

} // namespace gmpi::cpu
