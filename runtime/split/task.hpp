// A coroutine of the driver: a function that waits, by co_await until(condition), while the
// driver's thread goes on with other launches. A Task is itself awaited by the function that calls
// it.
#pragma once

#include <coroutine>
#include <exception>
#include <utility>

namespace gmpi::split {

class Task {
public:
  struct promise_type {
    std::coroutine_handle<> caller = std::noop_coroutine();

    Task get_return_object() {
      return Task(std::coroutine_handle<promise_type>::from_promise(*this));
    }
    std::suspend_always initial_suspend() noexcept { return {}; }
    auto final_suspend() noexcept {
      struct Return {
        bool await_ready() noexcept { return false; }
        std::coroutine_handle<> await_suspend(std::coroutine_handle<promise_type> task) noexcept {
          return task.promise().caller;
        }
        void await_resume() noexcept {}
      };
      return Return{};
    }
    void return_void() {}
    void unhandled_exception() { std::terminate(); }
  };

  Task() = default;
  Task(Task &&from) noexcept : handle_(std::exchange(from.handle_, nullptr)) {}
  Task &operator=(Task &&from) noexcept {
    std::swap(handle_, from.handle_);
    return *this;
  }
  ~Task() {
    if (handle_)
      handle_.destroy();
  }

  std::coroutine_handle<> handle() const { return handle_; }
  bool done() const { return handle_.done(); }

  bool await_ready() const noexcept { return false; }
  std::coroutine_handle<> await_suspend(std::coroutine_handle<> caller) {
    handle_.promise().caller = caller;
    return handle_;
  }
  void await_resume() const noexcept {}

private:
  explicit Task(std::coroutine_handle<promise_type> handle) : handle_(handle) {}

  std::coroutine_handle<promise_type> handle_;
};

/// What a chain of Tasks waits for at the moment.
class Waiter {
public:
  /// True where it could go on, and did, up to its next wait or its end.
  bool try_resume() {
    if (ready_ != nullptr && !ready_(condition_))
      return false;
    ready_ = nullptr;
    at_.resume();
    return true;
  }
  void start(std::coroutine_handle<> task) {
    at_ = task;
    ready_ = nullptr;
  }

  template <class Condition> class Until {
  public:
    Until(Waiter &waiter, Condition condition)
        : waiter_(waiter), condition_(std::move(condition)) {}
    bool await_ready() { return condition_(); }
    void await_suspend(std::coroutine_handle<> at) {
      waiter_.at_ = at;
      waiter_.condition_ = &condition_;
      waiter_.ready_ = [](void *condition) {
        return bool((*static_cast<Condition *>(condition))());
      };
    }
    void await_resume() const noexcept {}

  private:
    Waiter &waiter_;
    Condition condition_;
  };

private:
  std::coroutine_handle<> at_;
  void *condition_ = nullptr;
  bool (*ready_)(void *) = nullptr;
};

} // namespace gmpi::split
