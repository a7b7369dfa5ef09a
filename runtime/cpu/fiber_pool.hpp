// Fibers on guarded stacks, kept for reuse. A fiber runs one function after another: it comes back
// to the OS thread that resumed it when the function suspends or returns.
//
// A fiber stays on the OS thread that began its function until the function returns: thread-local
// variables mean the same to it before and after a switch. Fibers live as long as the process.
#pragma once

#include "sanitizer.hpp"

#include <boost/context/fiber.hpp>

#include <vector>

namespace gmpi::cpu {

class Fiber {
public:
  Fiber();
  Fiber(const Fiber &) = delete;
  Fiber &operator=(const Fiber &) = delete;

  // On the OS thread. Runs until the fiber suspends itself or its function returns.
  void start(void (*function)(void *), void *argument);
  void resume();
  bool finished() const { return finished_; }
  // On the fiber.
  void suspend();

  bool holds(const void *p) const;          // p lies on this fiber's stack
  bool holds_in_guard(const void *p) const; // p lies just below it: the stack ran over

private:
  void run();

  char *guard_; // the lowest page of the stack's mapping
  boost::context::fiber inside_, outside_;
  SanitizedStack inner_, outer_;
  void (*function_)(void *) = nullptr;
  void *argument_ = nullptr;
  bool finished_ = true;
};

// The fibers that an OS thread has at hand. Each thread keeps some and hands on what is more.
class FiberPool {
public:
  Fiber *take();
  void give_back(Fiber *fiber);

private:
  std::vector<Fiber *> free_;
};

} // namespace gmpi::cpu
