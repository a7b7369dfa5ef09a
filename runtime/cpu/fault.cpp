#include "fault.hpp"

#include "block.hpp"
#include "device_memory.hpp"
#include "preemption.hpp"

#include <signal.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace gmpi::cpu {
namespace {

constexpr int reported_signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
struct sigaction previous[64];
__thread bool reported = false; // this OS thread has said what happened: abort adds nothing

// One line, built without memory and written at once.
struct Message {
  char text[2048];
  std::size_t length = 0;

  void add(const char *format, ...) __attribute__((format(printf, 2, 3))) {
    va_list arguments;
    va_start(arguments, format);
    add(format, arguments);
    va_end(arguments);
  }
  void add(const char *format, va_list arguments) {
    const int n = std::vsnprintf(text + length, sizeof text - length, format, arguments);
    if (n > 0)
      length = std::min(sizeof text - 1, length + static_cast<std::size_t>(n));
  }
  void write() {
    text[length++] = '\n';
    if (::write(STDERR_FILENO, text, length) < 0) {
    }
  }
};

void add_place(Message &message) {
  const GpuThread *thread = current_thread();
  if (!thread)
    return;
  const uint3 b = thread->block->index(), t = thread->index;
  message.add(" [kernel '%s', block (%u,%u,%u), thread (%u,%u,%u)]",
              thread->block->kernel().launch.name, b.x, b.y, b.z, t.x, t.y, t.z);
}

// Lets the rest of the runtime say its last word, but not for ever.
void abandon() {
  GpuThread *thread = current_thread();
  if (!thread || !thread->block->kernel().launch.on_abandon)
    return;
  signal(SIGALRM, SIG_DFL);
  alarm(5);
  thread->block->kernel().launch.on_abandon();
}

bool is_write([[maybe_unused]] const void *context) {
#if defined(__x86_64__)
  return static_cast<const ucontext_t *>(context)->uc_mcontext.gregs[REG_ERR] & 2;
#else
  return false;
#endif
}

// Adds what is known of a bad address. False where this is nothing of the device's.
bool add_address(Message &message, const void *address, const void *context) {
  const char *access = is_write(context) ? "write to" : "read of";
  const GpuThread *thread = current_thread();
  char what[256];
  if (thread && thread->fiber->holds_in_guard(address))
    message.add("stack overflow (GMPI_CPU_STACK_KB makes stacks larger)");
  else if (device_memory().describe(address, what, sizeof what))
    message.add("%s %p, %s", access, address, what);
  else if (thread && reinterpret_cast<unsigned long long>(address) < 65536)
    message.add("%s address %p: a null pointer", access, address);
  else if (thread)
    message.add("%s %p, which is no memory of the device", access, address);
  else
    return false;
  return true;
}

void handle(int signal, siginfo_t *info, void *context) {
  in_kernel_code = 0;
  Message message;
  message.add("gmpi: cpu device: ");
  bool say = !reported;
  if (signal == SIGSEGV || signal == SIGBUS) {
    say = say && add_address(message, info->si_addr, context);
  } else {
    say = say && in_kernel();
    message.add(signal == SIGFPE   ? "arithmetic fault (an integer division by zero?)"
                : signal == SIGILL ? "illegal instruction"
                                   : "aborted");
  }
  if (say) {
    reported = true;
    add_place(message);
    message.write();
    abandon();
  }
  // The instruction, or abort, now runs into what was there before: a sanitizer's own report, a
  // core dump, the exit status of the signal.
  sigaction(signal, &previous[signal], nullptr);
}

} // namespace

void report_faults() {
  struct sigaction action = {};
  action.sa_sigaction = handle;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigemptyset(&action.sa_mask);
  for (int signal : reported_signals)
    sigaction(signal, &action, &previous[signal]);
}

void handle_faults_on_this_thread() {
  constexpr std::size_t bytes = 256 * 1024;
  void *memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED)
    return;
  stack_t stack = {};
  stack.ss_sp = memory;
  stack.ss_size = bytes;
  sigaltstack(&stack, nullptr);
}

void fail(const char *format, ...) {
  in_kernel_code = 0;
  Message message;
  message.add("gmpi: cpu device: ");
  va_list arguments;
  va_start(arguments, format);
  message.add(format, arguments);
  va_end(arguments);
  add_place(message);
  reported = true;
  message.write();
  abandon();
  std::abort();
}

} // namespace gmpi::cpu
