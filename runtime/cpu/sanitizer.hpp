// What AddressSanitizer and ThreadSanitizer must be told when a stack is switched. Without them,
// all of this is empty.
#pragma once

#include <cstddef>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define GMPI_CPU_ASAN 1
#endif
#if __has_feature(thread_sanitizer)
#define GMPI_CPU_TSAN 1
#endif
#endif
#ifdef __SANITIZE_ADDRESS__
#define GMPI_CPU_ASAN 1
#endif
#ifdef __SANITIZE_THREAD__
#define GMPI_CPU_TSAN 1
#endif

#ifdef GMPI_CPU_ASAN
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif
#ifdef GMPI_CPU_TSAN
#include <sanitizer/tsan_interface.h>
#endif

namespace gmpi::cpu {

#ifdef GMPI_CPU_ASAN
inline constexpr bool address_sanitizer = true;
#else
inline constexpr bool address_sanitizer = false;
#endif
#ifdef GMPI_CPU_TSAN
inline constexpr bool thread_sanitizer = true;
#else
inline constexpr bool thread_sanitizer = false;
#endif

// One stack as the sanitizers see it. A switch is `from.leave(to)` just before, and
// `from.back(...)` just after, when control comes back.
struct SanitizedStack {
  const void *bottom = nullptr;
  std::size_t bytes = 0;
  void *asan_frames = nullptr; // AddressSanitizer's fake stack while this one is not running
  void *tsan_fiber = nullptr;

  void leave([[maybe_unused]] const SanitizedStack &to) {
#ifdef GMPI_CPU_ASAN
    __sanitizer_start_switch_fiber(&asan_frames, to.bottom, to.bytes);
#endif
#ifdef GMPI_CPU_TSAN
    __tsan_switch_to_fiber(to.tsan_fiber, 0);
#endif
  }
  // `from`: the stack that control came from; an OS thread's bounds are learnt here.
  void back([[maybe_unused]] SanitizedStack &from) {
#ifdef GMPI_CPU_ASAN
    __sanitizer_finish_switch_fiber(asan_frames, &from.bottom, &from.bytes);
#endif
  }
  void is_this_os_thread() {
#ifdef GMPI_CPU_TSAN
    tsan_fiber = __tsan_get_current_fiber();
#endif
  }
  void is_new_fiber() {
#ifdef GMPI_CPU_TSAN
    tsan_fiber = __tsan_create_fiber(0);
#endif
  }
};

} // namespace gmpi::cpu
