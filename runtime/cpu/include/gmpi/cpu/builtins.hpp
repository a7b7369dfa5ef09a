// What a kernel finds without declaring it: its indices, barriers, fences, clocks, and the few
// functions by which device code reaches the scheduler.
//
// The indices are thread-local variables that the scheduler sets when it switches fibers. A fiber
// never moves to another OS thread, and finds them unchanged after every switch, so that `const`
// and what the compiler concludes from it are true for the code of a kernel.
#pragma once

#include <ctime> // clock(): the C library's own does

#include "gmpi/cpu/types.hpp"

#ifndef GMPI_CPU_INDEX_CONST // empty only where the scheduler defines them
#define GMPI_CPU_INDEX_CONST const
#endif

namespace gmpi::cpu {
extern __thread GMPI_CPU_INDEX_CONST uint3 threadIdx;
extern __thread GMPI_CPU_INDEX_CONST uint3 blockIdx;
extern __thread GMPI_CPU_INDEX_CONST dim3 blockDim;
extern __thread GMPI_CPU_INDEX_CONST dim3 gridDim;

// This thread of control is a GPU thread.
bool in_kernel() noexcept;
// Lets other fibers run. To be called by whoever waits for something that another thread does: when
// nothing resident here does anything else, the worker backs off, up to sleeping for 100 us.
void yield();
// Lets other fibers run now and then, called by code that may be part of a waiting loop (a clock, a
// fence). Never makes the worker sleep.
void maybe_yield();
// Tells the scheduler that an atomic operation on `address` found `found`: an operation that keeps
// finding the same is waiting for another thread.
void note_atomic(const void *address, unsigned long long found);
// Reports `format`..., the kernel, block and thread that call, and aborts.
[[noreturn]] void fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

// Where in the user's source a thread waits: barriers are matched and reported by it.
struct Place {
  const char *file;
  unsigned line;
};
enum class Vote { none, count, all, any };
int block_barrier(Place place, Vote vote, int predicate);
void grid_barrier(Place place);
bool cooperative_grid() noexcept;
void fence() noexcept;
} // namespace gmpi::cpu

using gmpi::cpu::blockDim;
using gmpi::cpu::blockIdx;
using gmpi::cpu::gridDim;
using gmpi::cpu::threadIdx;
constexpr int warpSize = 32;

#define GMPI_CPU_HERE const char *file = __builtin_FILE(), unsigned line = __builtin_LINE()

inline void __syncthreads(GMPI_CPU_HERE) {
  gmpi::cpu::block_barrier({file, line}, gmpi::cpu::Vote::none, 0);
}
inline int __syncthreads_count(int predicate, GMPI_CPU_HERE) {
  return gmpi::cpu::block_barrier({file, line}, gmpi::cpu::Vote::count, predicate);
}
inline int __syncthreads_and(int predicate, GMPI_CPU_HERE) {
  return gmpi::cpu::block_barrier({file, line}, gmpi::cpu::Vote::all, predicate);
}
inline int __syncthreads_or(int predicate, GMPI_CPU_HERE) {
  return gmpi::cpu::block_barrier({file, line}, gmpi::cpu::Vote::any, predicate);
}

inline void __threadfence_block() { gmpi::cpu::fence(); }
inline void __threadfence() {
  gmpi::cpu::fence();
  gmpi::cpu::maybe_yield();
}
inline void __threadfence_system() { __threadfence(); }

void __nanosleep(unsigned nanoseconds);
long long clock64();
unsigned long long __globaltimer();
[[noreturn]] void __trap();
inline void __brkpt() {}

template <class T> T __ldg(const T *p) { return *p; }
template <class T> T __ldcg(const T *p) { return *p; }
template <class T> T __ldca(const T *p) { return *p; }
template <class T> T __ldcs(const T *p) { return *p; }
template <class T> T __ldlu(const T *p) { return *p; }
template <class T> T __ldcv(const T *p) { return *const_cast<const volatile T *>(p); }
template <class T> void __stwb(T *p, T value) { *p = value; }
template <class T> void __stcg(T *p, T value) { *p = value; }
template <class T> void __stcs(T *p, T value) { *p = value; }
template <class T> void __stwt(T *p, T value) { *const_cast<volatile T *>(p) = value; }

// On the cpu device one address space holds everything; __isGlobal is what is none of the others.
namespace gmpi::cpu {
bool is_local(const void *p) noexcept;  // on the calling GPU thread's stack
bool is_shared(const void *p) noexcept; // in the calling block's shared memory
bool is_device(const void *p) noexcept; // from cudaMalloc, not freed
} // namespace gmpi::cpu
inline unsigned __isShared(const void *p) { return gmpi::cpu::is_shared(p); }
inline unsigned __isLocal(const void *p) { return gmpi::cpu::is_local(p); }
inline unsigned __isGlobal(const void *p) { return !__isShared(p) && !__isLocal(p); }
