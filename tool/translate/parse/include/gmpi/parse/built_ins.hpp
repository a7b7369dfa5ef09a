// Barriers, fences, warp functions and the rest of what CUDA gives to device code, declared.
#pragma once

__device__ void __syncthreads();
__device__ int __syncthreads_count(int predicate);
__device__ int __syncthreads_and(int predicate);
__device__ int __syncthreads_or(int predicate);
__device__ void __syncwarp(unsigned mask = 0xffffffff);
__device__ void __threadfence_block();
__device__ void __threadfence();
__device__ void __threadfence_system();

__device__ unsigned __activemask();
__device__ unsigned __ballot_sync(unsigned mask, int predicate);
__device__ int __all_sync(unsigned mask, int predicate);
__device__ int __any_sync(unsigned mask, int predicate);
template <class T> __device__ T __shfl_sync(unsigned mask, T value, int lane, int width = 32);
template <class T>
__device__ T __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = 32);
template <class T>
__device__ T __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = 32);
template <class T> __device__ T __shfl_xor_sync(unsigned mask, T value, int lanes, int width = 32);
template <class T> __device__ unsigned __match_any_sync(unsigned mask, T value);
template <class T> __device__ unsigned __match_all_sync(unsigned mask, T value, int *predicate);
template <class T> __device__ T __reduce_add_sync(unsigned mask, T value);
template <class T> __device__ T __reduce_min_sync(unsigned mask, T value);
template <class T> __device__ T __reduce_max_sync(unsigned mask, T value);
template <class T> __device__ T __reduce_and_sync(unsigned mask, T value);
template <class T> __device__ T __reduce_or_sync(unsigned mask, T value);
template <class T> __device__ T __reduce_xor_sync(unsigned mask, T value);

__device__ void __nanosleep(unsigned nanoseconds);
__device__ long long clock64();
__device__ clock_t clock();
__device__ unsigned long long __globaltimer();
__device__ void __trap();
__device__ void __brkpt();
__device__ void __prof_trigger(int);

template <class T> __device__ T __ldg(const T *p);
template <class T> __device__ T __ldcg(const T *p);
template <class T> __device__ T __ldca(const T *p);
template <class T> __device__ T __ldcs(const T *p);
template <class T> __device__ T __ldlu(const T *p);
template <class T> __device__ T __ldcv(const T *p);
template <class T> __device__ void __stwb(T *p, T value);
template <class T> __device__ void __stcg(T *p, T value);
template <class T> __device__ void __stcs(T *p, T value);
template <class T> __device__ void __stwt(T *p, T value);
__device__ unsigned __isGlobal(const void *p);
__device__ unsigned __isShared(const void *p);
__device__ unsigned __isLocal(const void *p);
__device__ unsigned __isConstant(const void *p);

__device__ int printf(const char *format, ...);
__device__ void *malloc(size_t bytes);
__device__ void free(void *p);
__device__ void *memcpy(void *to, const void *from, size_t bytes);
__device__ void *memset(void *to, int value, size_t bytes);
__device__ void __assert_fail(const char *, const char *, unsigned, const char *) noexcept(true);

inline __device__ __cuda_builtin_threadIdx_t::operator uint3() const { return {x, y, z}; }
inline __device__ __cuda_builtin_threadIdx_t::operator dim3() const { return {x, y, z}; }
inline __device__ __cuda_builtin_blockIdx_t::operator uint3() const { return {x, y, z}; }
inline __device__ __cuda_builtin_blockIdx_t::operator dim3() const { return {x, y, z}; }
inline __device__ __cuda_builtin_blockDim_t::operator uint3() const { return {x, y, z}; }
inline __device__ __cuda_builtin_blockDim_t::operator dim3() const { return {x, y, z}; }
inline __device__ __cuda_builtin_gridDim_t::operator uint3() const { return {x, y, z}; }
inline __device__ __cuda_builtin_gridDim_t::operator dim3() const { return {x, y, z}; }
