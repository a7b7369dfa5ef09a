// Fibers on guarded stacks, kept for reuse. A fiber runs one function after another: it comes back
// to the OS thread that resumed it when the function suspends or returns.
//
// A pool belongs to one OS thread, and its fibers only ever run there: thread-local variables mean
// the same to a fiber before and after a switch.
#pragma once

#include "sanitizer.hpp"

#include <boost/context/fiber.hpp>

#include <memory>
#include <vector>

namespace gmpi::cpu {

class Fiber {
public:
  explicit Fiber(std::size_t stack_bytes);
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

class FiberPool {
public:
  Fiber *take();
  void give_back(Fiber *fiber) { free_.push_back(fiber); }

private:
  std::vector<std::unique_ptr<Fiber>> all_;
  std::vector<Fiber *> free_;
};

} // namespace gmpi::cpu
