#include "preemption.hpp"

#include "block.hpp"
#include "sanitizer.hpp"

#include <pthread.h>
#include <ucontext.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <mutex>
#include <thread>
#include <vector>

// The program's own code lies between these; the linker gives them.
extern "C" {
extern char __executable_start[] __attribute__((weak));
extern char etext[] __attribute__((weak));
}

namespace gmpi::cpu {

__thread volatile std::sig_atomic_t in_kernel_code = 0;

namespace {

__thread std::atomic<unsigned> turns;

constexpr std::chrono::milliseconds patience(20); // before a thread is interrupted at first
constexpr std::chrono::milliseconds slice(1);     // while threads have to be interrupted
constexpr unsigned slices_kept = 200;             // how long that is so after the last

// Sanitizers hand signals on late, from within their own code.
constexpr bool possible =
#if defined(__x86_64__) || defined(__aarch64__)
    !address_sanitizer && !thread_sanitizer;
#else
    false;
#endif

const char *program_counter([[maybe_unused]] const void *context) {
#if defined(__x86_64__)
  return reinterpret_cast<const char *>(
      static_cast<const ucontext_t *>(context)->uc_mcontext.gregs[REG_RIP]);
#elif defined(__aarch64__)
  return reinterpret_cast<const char *>(static_cast<const ucontext_t *>(context)->uc_mcontext.pc);
#else
  return nullptr;
#endif
}

// The signal is blocked while this runs, up to where a switch is certain to be safe: a second one
// must not take this function, which may itself stand on top of malloc, for the program's own code.
void preempt(int signal, siginfo_t *, void *context) {
  const char *at = program_counter(context);
  if (!in_kernel_code || at < __executable_start || at >= etext)
    return;
  const int error = errno;
  {
    InDevice in_device;
    sigset_t this_signal;
    sigemptyset(&this_signal);
    sigaddset(&this_signal, signal);
    pthread_sigmask(SIG_UNBLOCK, &this_signal, nullptr); // for the fibers that run meanwhile
    current_thread()->block->yield(Activity::polled);
  }
  errno = error;
}

class Watch {
public:
  static Watch &get() {
    static Watch *watch = new Watch;
    return *watch;
  }

  void add(pthread_t os_thread, std::atomic<unsigned> *turns) {
    std::lock_guard lock(mutex_);
    watched_.push_back({os_thread, turns, 0});
  }
  void busy(bool yes) {
    if (!yes)
      busy_.fetch_sub(1);
    else if (busy_.fetch_add(1) == 0)
      busy_.notify_one();
  }

private:
  struct Watched {
    pthread_t os_thread;
    std::atomic<unsigned> *turns;
    unsigned seen;
  };

  Watch() {
    struct sigaction action = {};
    action.sa_sigaction = preempt;
    action.sa_flags = SA_SIGINFO | SA_RESTART;
    sigemptyset(&action.sa_mask);
    sigaction(SIGURG, &action, nullptr);
    std::thread([this] { watch(); }).detach();
  }

  void watch() {
    unsigned short_slices = 0;
    for (;;) {
      busy_.wait(0);
      std::this_thread::sleep_for(short_slices ? slice : patience);
      short_slices = interrupt_who_did_not_change() ? slices_kept
                     : short_slices                 ? short_slices - 1
                                                    : 0;
    }
  }

  bool interrupt_who_did_not_change() {
    bool any = false;
    std::lock_guard lock(mutex_);
    for (Watched &w : watched_) {
      // Even while the worker itself runs, odd while a GPU thread does.
      const unsigned now = w.turns->load(std::memory_order_relaxed);
      if (now == w.seen && now % 2 == 1) {
        pthread_kill(w.os_thread, SIGURG);
        any = true;
      }
      w.seen = now;
    }
    return any;
  }

  std::mutex mutex_;
  std::vector<Watched> watched_;
  std::atomic<unsigned> busy_{0};
};

void next_turn() {
  turns.store(turns.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
}

} // namespace

void may_be_preempted() {
  if (possible)
    Watch::get().add(pthread_self(), &turns);
}

void turn_begins() { next_turn(); }
void turn_ends() { next_turn(); }

void worker_is_busy(bool busy) {
  if (possible)
    Watch::get().busy(busy);
}

} // namespace gmpi::cpu
