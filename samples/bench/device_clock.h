// Time and bounded waiting inside kernels, on either device.
#pragma once

#ifdef GMPI_DEVICE_CPU
#include <chrono>
#endif

namespace bench {

/// A clock that is the same for all threads of the device.
__device__ inline unsigned long long nanoseconds() {
#ifdef GMPI_DEVICE_CPU
  return std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1);
#else
  unsigned long long now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  return now;
#endif
}

/// What stands for a kernel's computation: it takes this long, and no memory.
__device__ inline void compute(double microseconds) {
  if (microseconds <= 0)
    return;
  unsigned long long end = nanoseconds() + static_cast<unsigned long long>(1e3 * microseconds);
  while (nanoseconds() < end)
    ;
}

/// Waits until `done()`; false after ten seconds, so that no probe hangs.
template <class Done> __device__ inline bool wait_until(Done done) {
  constexpr unsigned long long patience = 10'000'000'000;
  unsigned long long begun = 0;
  for (unsigned polls = 1; !done(); ++polls)
    if (polls % 1024 == 0) {
      if (begun == 0)
        begun = nanoseconds();
      else if (nanoseconds() - begun > patience)
        return false;
    }
  return true;
}
/// Waits likewise until the word has this value.
__device__ inline bool wait_for(const volatile unsigned *word, unsigned value) {
  return wait_until([=] { return *word == value; });
}

} // namespace bench
