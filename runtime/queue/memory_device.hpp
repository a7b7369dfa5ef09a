// The memory operations that the queue's device side is made of, with their scope and order in
// the name: `system` is shared with the host, `device` with the other blocks. One version for GPUs
// (PTX), one for the cpu device (fibers on host threads).
#pragma once

#include "context.hpp"

#include <cuda_runtime.h>

#ifdef GMPI_DEVICE_CPU
#include <atomic>
#include <cassert>
#include <chrono>
#include <gmpi/cpu.hpp>
#define GMPI_DEVICE inline
#define GMPI_NO_UNROLL
#define GMPI_UNROLL
#define GMPI_NOINLINE inline
#define GMPI_OUT_OF_LINE template <class = void> GMPI_NOINLINE
#else
#define GMPI_DEVICE __device__ __forceinline__
#define GMPI_NO_UNROLL _Pragma("unroll 1")
#define GMPI_UNROLL _Pragma("unroll")
/// Not inlined: a kernel with MPI calls should need few registers for them. Each translated file
/// has functions of its own, so nvcc sees who calls them, and gives them no more than such a kernel
/// may have; else 13.0 gives some 128 on sm_90, 146 on sm_80 and 164 on sm_100. (Templates, so that
/// a file that does not call them carries none.)
#define GMPI_NOINLINE static __device__ __noinline__
#define GMPI_OUT_OF_LINE template <class = void> GMPI_NOINLINE
#endif

/// Stands in a translated kernel that has no launch bounds: two blocks of 256 threads find room
/// whatever it takes. The functions behind its MPI calls take as many in any case; nvcc, which does
/// not see that, would save registers for more blocks, and load less at a time. Without
/// optimization (-G) they take more than 128. GMPI_FEW_REGISTERS: another kernel of the file leaves
/// these functions fewer.
#if defined(__CUDACC_RDC__) && !defined(__CUDACC_DEBUG__) && !defined(GMPI_FEW_REGISTERS) &&       \
    !defined(GMPI_KERNEL_REGISTERS) &&                                                             \
    (__CUDACC_VER_MAJOR__ > 12 || (__CUDACC_VER_MAJOR__ == 12 && __CUDACC_VER_MINOR__ >= 4))
#define GMPI_KERNEL_REGISTERS __maxnreg__(128)
#elif !defined(GMPI_KERNEL_REGISTERS)
#define GMPI_KERNEL_REGISTERS
#endif

namespace gmpi::device {

/// Whether data is whole words of four bytes, at an address for such.
GMPI_DEVICE bool is_in_words(const void *data, std::uint64_t bytes) {
  return ((reinterpret_cast<std::uint64_t>(data) | bytes) & 3) == 0;
}
/// Whether data lies at an address for words of eight.
GMPI_DEVICE bool is_in_eights(const void *data) {
  return (reinterpret_cast<std::uint64_t>(data) & 7) == 0;
}

/// Ends this thread where a kernel is launched for what a launch does to the device alone: see
/// launch::reserve_local_memory.
GMPI_DEVICE void leave_empty_launch(bool empty) {
#ifdef GMPI_DEVICE_CPU
  (void)empty;
#else
  if (empty)
    asm volatile("exit;");
#endif
}

/// This thread's number in its block, this block's in its grid, and how many there are.
GMPI_DEVICE std::uint32_t thread_index() {
  return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
}
GMPI_DEVICE std::uint32_t block_threads() { return blockDim.x * blockDim.y * blockDim.z; }
GMPI_DEVICE std::uint32_t grid_blocks() { return gridDim.x * gridDim.y * gridDim.z; }
GMPI_DEVICE std::uint32_t block_index() {
  return blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
}

#ifndef GMPI_DEVICE_CPU

/// Two words as one 16-byte store to host memory; each half arrives whole.
GMPI_DEVICE void store_system(std::uint64_t *to, std::uint64_t a, std::uint64_t b) {
  asm volatile("st.volatile.global.v2.u64 [%0], {%1, %2};" ::"l"(to), "l"(a), "l"(b) : "memory");
}
GMPI_DEVICE void load_system(const std::uint64_t *from, std::uint64_t &a, std::uint64_t &b) {
  asm volatile("ld.volatile.global.v2.u64 {%0, %1}, [%2];"
               : "=l"(a), "=l"(b)
               : "l"(from)
               : "memory");
}
/// The same if `is`, which is no branch: several such are under way together. Else zeros.
GMPI_DEVICE void load_system_if(bool is, const std::uint64_t *from, std::uint64_t &a,
                                std::uint64_t &b) {
  a = b = 0;
  asm volatile("{.reg .pred is; setp.ne.u32 is, %3, 0;\n"
               "@is ld.volatile.global.v2.u64 {%0, %1}, [%2];}"
               : "+l"(a), "+l"(b)
               : "l"(from), "r"(static_cast<std::uint32_t>(is))
               : "memory");
}
/// Likewise.
GMPI_DEVICE std::uint64_t load_relaxed_device_if(bool is, const unsigned long long *from) {
  std::uint64_t value = 0;
  asm volatile("{.reg .pred is; setp.ne.u32 is, %2, 0;\n"
               "@is ld.relaxed.gpu.global.u64 %0, [%1];}"
               : "+l"(value)
               : "l"(from), "r"(static_cast<std::uint32_t>(is))
               : "memory");
  return value;
}
/// Of any memory.
GMPI_DEVICE std::uint32_t load_word_if(bool is, const std::uint32_t *from) {
  std::uint32_t value = 0;
  asm volatile("{.reg .pred is; setp.ne.u32 is, %2, 0;\n"
               "@is ld.u32 %0, [%1];}"
               : "+r"(value)
               : "l"(from), "r"(static_cast<std::uint32_t>(is))
               : "memory");
  return value;
}
/// The same of a GPU's memory; all of it arrives whole.
#if __CUDACC_VER_MAJOR__ >= 13 || (__CUDACC_VER_MAJOR__ == 12 && __CUDACC_VER_MINOR__ >= 4)
GMPI_DEVICE void store_whole(std::uint64_t *to, std::uint64_t a, std::uint64_t b) {
  asm volatile(
      "{.reg .b128 both; mov.b128 both, {%1, %2}; st.relaxed.sys.global.b128 [%0], both;}" ::"l"(
          to),
      "l"(a), "l"(b)
      : "memory");
}
GMPI_DEVICE void load_whole(const std::uint64_t *from, std::uint64_t &a, std::uint64_t &b) {
  asm volatile("{.reg .b128 both; ld.relaxed.sys.global.b128 both, [%2]; mov.b128 {%0, %1}, both;}"
               : "=l"(a), "=l"(b)
               : "l"(from)
               : "memory");
}
#else // the same instructions, but nobody promises it
GMPI_DEVICE void store_whole(std::uint64_t *to, std::uint64_t a, std::uint64_t b) {
  store_system(to, a, b);
}
GMPI_DEVICE void load_whole(const std::uint64_t *from, std::uint64_t &a, std::uint64_t &b) {
  load_system(from, a, b);
}
#endif
GMPI_DEVICE std::uint64_t load_system(const std::uint64_t *from) {
  std::uint64_t value;
  asm volatile("ld.relaxed.sys.global.u64 %0, [%1];" : "=l"(value) : "l"(from) : "memory");
  return value;
}
// A release stands before a store that tells others of what was stored already: it waits until that
// has arrived. An acquire stands behind a load that has found something new: it drops what the
// multiprocessor's cache holds, the thread's own saved registers, too. (Before CUDA 13, a fence is
// both.)
#if __CUDACC_VER_MAJOR__ >= 13
#define GMPI_FENCE(kind, scope) asm volatile("fence." kind "." scope ";" ::: "memory")
#else
#define GMPI_FENCE(kind, scope) asm volatile("fence.acq_rel." scope ";" ::: "memory")
#endif
GMPI_DEVICE void release_system() { GMPI_FENCE("release", "sys"); }
GMPI_DEVICE void acquire_system() { GMPI_FENCE("acquire", "sys"); }
/// The same among the blocks of a device.
GMPI_DEVICE void release_device() { GMPI_FENCE("release", "gpu"); }
GMPI_DEVICE void acquire_device() { GMPI_FENCE("acquire", "gpu"); }
#undef GMPI_FENCE

GMPI_DEVICE std::uint32_t load_acquire_device(const std::uint32_t *from) {
  std::uint32_t value;
  asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(value) : "l"(from) : "memory");
  return value;
}
GMPI_DEVICE unsigned long long load_acquire_device(const unsigned long long *from) {
  unsigned long long value;
  asm volatile("ld.acquire.gpu.global.u64 %0, [%1];" : "=l"(value) : "l"(from) : "memory");
  return value;
}
GMPI_DEVICE std::uint32_t load_relaxed_device(const std::uint32_t *from) {
  std::uint32_t value;
  asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(value) : "l"(from) : "memory");
  return value;
}
/// Of shared memory: the other loads and stores here are of global memory alone.
GMPI_DEVICE std::uint32_t load_block(const std::uint32_t *from) {
  std::uint32_t value;
  asm volatile("ld.relaxed.cta.u32 %0, [%1];" : "=r"(value) : "l"(from) : "memory");
  return value;
}
/// Behind acquire_system(): such loads need not follow each other.
GMPI_DEVICE std::uint64_t load_weak(const std::uint64_t *from) { return *from; }
GMPI_DEVICE unsigned long long load_relaxed_device(const unsigned long long *from) {
  unsigned long long value;
  asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(value) : "l"(from) : "memory");
  return value;
}
GMPI_DEVICE std::uint32_t load_relaxed_system(const std::uint32_t *from) {
  std::uint32_t value;
  asm volatile("ld.relaxed.sys.global.u32 %0, [%1];" : "=r"(value) : "l"(from) : "memory");
  return value;
}
GMPI_DEVICE void store_relaxed_system(std::uint32_t *to, std::uint32_t value) {
  asm volatile("st.relaxed.sys.global.u32 [%0], %1;" ::"l"(to), "r"(value) : "memory");
}
GMPI_DEVICE void store_relaxed_device(unsigned long long *to, unsigned long long value) {
  asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" ::"l"(to), "l"(value) : "memory");
}
GMPI_DEVICE void store_relaxed_device(std::uint32_t *to, std::uint32_t value) {
  asm volatile("st.relaxed.gpu.global.u32 [%0], %1;" ::"l"(to), "r"(value) : "memory");
}
GMPI_DEVICE void store_release_device(std::uint32_t *to, std::uint32_t value) {
  asm volatile("st.release.gpu.global.u32 [%0], %1;" ::"l"(to), "r"(value) : "memory");
}
GMPI_DEVICE unsigned long long add_relaxed_device(unsigned long long *to,
                                                  unsigned long long value) {
  unsigned long long old;
  asm volatile("atom.add.relaxed.gpu.global.u64 %0, [%1], %2;"
               : "=l"(old)
               : "l"(to), "l"(value)
               : "memory");
  return old;
}
/// The same for a thread that does something else until it looks at the answer. (As far as nvcc
/// knows, each lane adds another number. Else it makes one atomic of all lanes', and has them wait
/// for the answer at once.)
GMPI_DEVICE unsigned long long add_in_flight_device(unsigned long long *to,
                                                    unsigned long long value) {
  std::uint32_t lane;
  asm("mov.u32 %0, %%laneid;" : "=r"(lane));
  return add_relaxed_device(to, value + lane / 32);
}
GMPI_DEVICE std::uint32_t add_in_flight_device(std::uint32_t *to, std::uint32_t value) {
  std::uint32_t old, lane;
  asm("mov.u32 %0, %%laneid;" : "=r"(lane));
  asm volatile("atom.add.relaxed.gpu.global.u32 %0, [%1], %2;"
               : "=r"(old)
               : "l"(to), "r"(value + lane / 32)
               : "memory");
  return old;
}
/// Whoever sees this sees what was written before.
GMPI_DEVICE void increase_release_device(std::uint32_t *what, std::uint32_t by) {
  asm volatile("red.add.release.gpu.global.u32 [%0], %1;" ::"l"(what), "r"(by) : "memory");
}
/// The same where nobody asks what was there.
GMPI_DEVICE void increase_relaxed_device(std::uint32_t *what, std::uint32_t by) {
  asm volatile("red.add.relaxed.gpu.global.u32 [%0], %1;" ::"l"(what), "r"(by) : "memory");
}
GMPI_DEVICE void increase_relaxed_device(unsigned long long *what, unsigned long long by) {
  asm volatile("red.add.relaxed.gpu.global.u64 [%0], %1;" ::"l"(what), "l"(by) : "memory");
}
GMPI_DEVICE unsigned long long
cas_relaxed_device(unsigned long long *to, unsigned long long expected, unsigned long long value) {
  unsigned long long old;
  asm volatile("atom.cas.relaxed.gpu.global.b64 %0, [%1], %2, %3;"
               : "=l"(old)
               : "l"(to), "l"(expected), "l"(value)
               : "memory");
  return old;
}
GMPI_DEVICE std::uint32_t cas_relaxed_device(std::uint32_t *to, std::uint32_t expected,
                                             std::uint32_t value) {
  std::uint32_t old;
  asm volatile("atom.cas.relaxed.gpu.global.b32 %0, [%1], %2, %3;"
               : "=r"(old)
               : "l"(to), "r"(expected), "r"(value)
               : "memory");
  return old;
}
GMPI_DEVICE void store_release_device(unsigned long long *to, unsigned long long value) {
  asm volatile("st.release.gpu.global.u64 [%0], %1;" ::"l"(to), "l"(value) : "memory");
}
GMPI_DEVICE unsigned long long add_device(unsigned long long *to, unsigned long long value) {
  unsigned long long old;
  asm volatile("atom.add.acq_rel.gpu.global.u64 %0, [%1], %2;"
               : "=l"(old)
               : "l"(to), "l"(value)
               : "memory");
  return old;
}

// Atomics that take something others have released: cheaper than a fence behind them, which waits
// for this multiprocessor's own stores, too.
GMPI_DEVICE std::uint32_t and_acquire_device(std::uint32_t *to, std::uint32_t value) {
  std::uint32_t old;
  asm volatile("atom.and.acquire.gpu.global.b32 %0, [%1], %2;"
               : "=r"(old)
               : "l"(to), "r"(value)
               : "memory");
  return old;
}
GMPI_DEVICE std::uint32_t cas_acquire_device(std::uint32_t *to, std::uint32_t expected,
                                             std::uint32_t value) {
  std::uint32_t old;
  asm volatile("atom.cas.acquire.gpu.global.b32 %0, [%1], %2, %3;"
               : "=r"(old)
               : "l"(to), "r"(expected), "r"(value)
               : "memory");
  return old;
}

/// Lets some hundred cycles pass.
GMPI_DEVICE void let_pass(std::uint32_t cycles) {
  std::uint32_t begin, now;
  asm volatile("mov.u32 %0, %%clock;" : "=r"(begin)::"memory");
  do
    asm volatile("mov.u32 %0, %%clock;" : "=r"(now)::"memory");
  while (now - begin < cycles);
}

/// The same number, in a register of its own: what is computed from it is not kept until then.
GMPI_DEVICE std::uint32_t apart(std::uint32_t number) {
  asm volatile("" : "+r"(number));
  return number;
}

/// The same pointer, computed before what follows: while what has been loaded is in flight.
template <class T> GMPI_DEVICE T *by_now(T *pointer) {
  asm volatile("" : "+l"(pointer));
  return pointer;
}

/// The same number, which may be in flight: nobody looks at it before the other two are known. (As
/// far as nvcc knows, it depends on them; the pointer is not null.)
GMPI_DEVICE unsigned long long not_before(unsigned long long number, const void *pointer, bool is) {
  asm volatile("{.reg .pred null, no;\n"
               "setp.eq.u64 null, %1, 0;\n"
               "setp.eq.or.u32 no, %2, 2, null;\n"
               "@no mov.u64 %0, 0;}"
               : "+l"(number)
               : "l"(pointer), "r"(static_cast<std::uint32_t>(is)));
  return number;
}

/// This thread's number in its warp: of a block's first, the same as in the block.
GMPI_DEVICE std::uint32_t lane_index() {
  std::uint32_t lane;
  asm("mov.u32 %0, %%laneid;" : "=r"(lane));
  return lane;
}

/// The lanes of a warp that have come here together: all of them have the same.
struct LanesHere {
  std::uint32_t mask, rank, count;

  GMPI_DEVICE std::uint32_t from_first(std::uint32_t value) const {
    return __shfl_sync(mask, value, __ffs(static_cast<int>(mask)) - 1);
  }
  GMPI_DEVICE void sync() const { __syncwarp(mask); }
};
GMPI_DEVICE LanesHere lanes_here() {
  // (What nvcc knows to be different in each lane stays so. Of __activemask() it takes one lane's
  // for the whole warp's, also where lanes that came apart go on together: of two lanes' atomics
  // that add what comes of it, it makes one that adds one of them twice.)
  const std::uint32_t here = __activemask(), mask = __match_any_sync(here, here);
  return {mask, static_cast<std::uint32_t>(__popc(mask & ((1u << lane_index()) - 1))),
          static_cast<std::uint32_t>(__popc(mask))};
}

/// Nanoseconds, the same clock on all multiprocessors.
GMPI_DEVICE unsigned long long nanoseconds() {
  unsigned long long time;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(time));
  return time;
}
/// Called in every turn of a waiting loop.
GMPI_DEVICE void relax() {}
/// The same where others may wait for the same.
GMPI_DEVICE void pause() { __nanosleep(200); }
/// The same where what is waited for takes a while, and goes on faster if few look.
GMPI_DEVICE void doze() { __nanosleep(400); }
/// The same where thousands of threads may wait for what only some can have.
GMPI_DEVICE void rest() { __nanosleep(20000); }
/// The same where so many are served before this thread, one after the other.
GMPI_DEVICE void rest(std::uint32_t ahead) { __nanosleep(ahead < 300 ? 100 + 64 * ahead : 20000); }

// In PTX, not by __isLocal and __isShared: nvcc 13.0 makes invalid code of those where it can tell
// the address space itself ("Broken function found, compilation aborted!").
GMPI_DEVICE bool is_local(const void *pointer) {
  int yes;
  asm("{.reg .pred p; isspacep.local p, %1; selp.s32 %0, 1, 0, p;}" : "=r"(yes) : "l"(pointer));
  return yes;
}
GMPI_DEVICE bool is_shared(const void *pointer) {
  int yes;
  asm("{.reg .pred p; isspacep.shared p, %1; selp.s32 %0, 1, 0, p;}" : "=r"(yes) : "l"(pointer));
  return yes;
}

#else

/// What a GPU refuses is refused here: these loads and stores are of global memory alone. (Where
/// libgmpi_cpu has been built with assertions: nearly all of them are compiled there.)
template <class T> T *in_global(T *pointer) {
  assert(!cpu::is_local(pointer) && !cpu::is_shared(pointer));
  return pointer;
}
inline void store_system(std::uint64_t *to, std::uint64_t a, std::uint64_t b) {
  __atomic_store_n(in_global(to), a, __ATOMIC_RELEASE);
  __atomic_store_n(in_global(to + 1), b, __ATOMIC_RELEASE);
}
inline void load_system(const std::uint64_t *from, std::uint64_t &a, std::uint64_t &b) {
  a = __atomic_load_n(in_global(from), __ATOMIC_ACQUIRE);
  b = __atomic_load_n(in_global(from + 1), __ATOMIC_ACQUIRE);
}
inline void load_system_if(bool is, const std::uint64_t *from, std::uint64_t &a, std::uint64_t &b) {
  a = b = 0;
  if (is)
    load_system(from, a, b);
}
inline std::uint64_t load_relaxed_device_if(bool is, const unsigned long long *from) {
  return is ? __atomic_load_n(in_global(from), __ATOMIC_ACQUIRE) : 0;
}
inline std::uint32_t load_word_if(bool is, const std::uint32_t *from) { return is ? *from : 0; }
/// Whoever sees the second word has the first.
inline void store_whole(std::uint64_t *to, std::uint64_t a, std::uint64_t b) {
  store_system(to, a, b);
}
inline void load_whole(const std::uint64_t *from, std::uint64_t &a, std::uint64_t &b) {
  b = __atomic_load_n(in_global(from + 1), __ATOMIC_ACQUIRE);
  a = __atomic_load_n(in_global(from), __ATOMIC_ACQUIRE);
}
inline std::uint64_t load_system(const std::uint64_t *from) {
  return __atomic_load_n(in_global(from), __ATOMIC_ACQUIRE);
}
// The loads and stores above are acquire and release themselves.
inline void release_system() {}
inline void acquire_system() {}
inline void acquire_device() {}
inline std::uint64_t load_weak(const std::uint64_t *from) { return load_system(from); }
inline void release_device() {}
inline std::uint32_t load_block(const std::uint32_t *from) {
  return __atomic_load_n(from, __ATOMIC_ACQUIRE);
}
template <class T> T load_acquire_device(const T *from) {
  return __atomic_load_n(in_global(from), __ATOMIC_ACQUIRE);
}
inline std::uint32_t load_relaxed_system(const std::uint32_t *from) {
  return __atomic_load_n(in_global(from), __ATOMIC_ACQUIRE);
}
inline void store_relaxed_system(std::uint32_t *to, std::uint32_t value) {
  __atomic_store_n(in_global(to), value, __ATOMIC_RELEASE);
}
inline void store_relaxed_device(std::uint32_t *to, std::uint32_t value) {
  __atomic_store_n(in_global(to), value, __ATOMIC_RELEASE);
}
inline void store_relaxed_device(unsigned long long *to, unsigned long long value) {
  __atomic_store_n(in_global(to), value, __ATOMIC_RELEASE);
}
inline void store_release_device(std::uint32_t *to, std::uint32_t value) {
  __atomic_store_n(in_global(to), value, __ATOMIC_RELEASE);
}
inline void store_release_device(unsigned long long *to, unsigned long long value) {
  __atomic_store_n(in_global(to), value, __ATOMIC_RELEASE);
}
template <class T> T load_relaxed_device(const T *from) {
  return __atomic_load_n(in_global(from), __ATOMIC_ACQUIRE);
}
inline unsigned long long add_relaxed_device(unsigned long long *to, unsigned long long value) {
  return __atomic_fetch_add(in_global(to), value, __ATOMIC_ACQ_REL);
}
inline unsigned long long add_in_flight_device(unsigned long long *to, unsigned long long value) {
  return add_relaxed_device(to, value);
}
inline std::uint32_t add_in_flight_device(std::uint32_t *to, std::uint32_t value) {
  return __atomic_fetch_add(in_global(to), value, __ATOMIC_ACQ_REL);
}
inline void increase_relaxed_device(std::uint32_t *what, std::uint32_t by) {
  __atomic_fetch_add(in_global(what), by, __ATOMIC_ACQ_REL);
}
inline void increase_relaxed_device(unsigned long long *what, unsigned long long by) {
  __atomic_fetch_add(in_global(what), by, __ATOMIC_ACQ_REL);
}
inline unsigned long long cas_relaxed_device(unsigned long long *to, unsigned long long expected,
                                             unsigned long long value) {
  __atomic_compare_exchange_n(in_global(to), &expected, value, false, __ATOMIC_ACQ_REL,
                              __ATOMIC_ACQUIRE);
  return expected;
}
inline unsigned long long add_device(unsigned long long *to, unsigned long long value) {
  return __atomic_fetch_add(in_global(to), value, __ATOMIC_ACQ_REL);
}
inline void increase_release_device(std::uint32_t *what, std::uint32_t by) {
  __atomic_fetch_add(in_global(what), by, __ATOMIC_RELEASE);
}
inline std::uint32_t and_acquire_device(std::uint32_t *to, std::uint32_t value) {
  return __atomic_fetch_and(in_global(to), value, __ATOMIC_ACQ_REL);
}
inline std::uint32_t cas_relaxed_device(std::uint32_t *to, std::uint32_t expected,
                                        std::uint32_t value) {
  __atomic_compare_exchange_n(in_global(to), &expected, value, false, __ATOMIC_ACQ_REL,
                              __ATOMIC_ACQUIRE);
  return expected;
}
inline std::uint32_t cas_acquire_device(std::uint32_t *to, std::uint32_t expected,
                                        std::uint32_t value) {
  __atomic_compare_exchange_n(in_global(to), &expected, value, false, __ATOMIC_ACQ_REL,
                              __ATOMIC_ACQUIRE);
  return expected;
}
inline void let_pass(std::uint32_t) {}
inline std::uint32_t apart(std::uint32_t number) { return number; }
template <class T> T *by_now(T *pointer) { return pointer; }
inline unsigned long long not_before(unsigned long long number, const void *, bool) {
  return number;
}
inline std::uint32_t lane_index() { return thread_index() % 32; }
/// Each goes its own way.
struct LanesHere {
  std::uint32_t mask, rank, count;

  std::uint32_t from_first(std::uint32_t value) const { return value; }
  void sync() const {}
};
inline LanesHere lanes_here() { return {1, 0, 1}; }
inline unsigned long long nanoseconds() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}
inline void relax() { cpu::yield(); }
inline void pause() { relax(); }
inline void doze() { relax(); }
inline void rest(std::uint32_t = 0) { relax(); }
inline bool is_local(const void *pointer) { return cpu::is_local(pointer); }
inline bool is_shared(const void *pointer) { return cpu::is_shared(pointer); }

#endif

} // namespace gmpi::device
