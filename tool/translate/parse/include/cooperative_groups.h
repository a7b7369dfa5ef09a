// Cooperative groups, declared.
#pragma once
#pragma GCC system_header
#include "cuda_runtime.h"

namespace cooperative_groups {

class thread_group {
public:
  __device__ void sync() const;
  __device__ unsigned long long size() const;
  __device__ unsigned long long num_threads() const;
  __device__ unsigned long long thread_rank() const;
  __device__ bool is_valid() const;
};

class thread_block : public thread_group {
public:
  __device__ static dim3 group_index();
  __device__ static dim3 thread_index();
  __device__ static dim3 group_dim();
  __device__ static dim3 dim_threads();
};

class grid_group : public thread_group {
public:
  __device__ unsigned long long num_blocks() const;
  __device__ unsigned long long block_rank() const;
  __device__ static dim3 block_index();
  __device__ static dim3 dim_blocks();
  __device__ static dim3 group_dim();
};

class coalesced_group : public thread_group {
public:
  template <class T> __device__ T shfl(T value, int lane) const;
  template <class T> __device__ T shfl_up(T value, int delta) const;
  template <class T> __device__ T shfl_down(T value, int delta) const;
  __device__ int any(int predicate) const;
  __device__ int all(int predicate) const;
  __device__ unsigned ballot(int predicate) const;
};

template <unsigned Size, class Parent = void> class thread_block_tile : public coalesced_group {
public:
  template <class T> __device__ T shfl_xor(T value, int lanes) const;
  __device__ unsigned long long meta_group_size() const;
  __device__ unsigned long long meta_group_rank() const;
};

__device__ thread_block this_thread_block();
__device__ grid_group this_grid();
__device__ coalesced_group coalesced_threads();
template <unsigned Size, class Parent>
__device__ thread_block_tile<Size, Parent> tiled_partition(const Parent &parent);
__device__ thread_group tiled_partition(const thread_group &parent, unsigned size);
template <class Group> __device__ void sync(const Group &group);

template <class T> struct plus {
  __device__ T operator()(T a, T b) const;
};
template <class T> struct less {
  __device__ T operator()(T a, T b) const;
};
template <class T> struct greater {
  __device__ T operator()(T a, T b) const;
};
template <class Group, class T, class Op>
__device__ T reduce(const Group &group, T value, Op op);

} // namespace cooperative_groups
