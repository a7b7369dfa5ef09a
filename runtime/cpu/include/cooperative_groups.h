// Cooperative groups on the cpu device: the grid, the block, tiles of up to 32 threads, and the
// coalesced group, which is always the calling thread alone (see __activemask).
#pragma once

#include "cuda_runtime.h"

namespace cooperative_groups {

class thread_block {
public:
  void sync(GMPI_CPU_HERE) const {
    gmpi::cpu::block_barrier({file, line}, gmpi::cpu::Vote::none, 0);
  }
  static unsigned thread_rank() {
    return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  }
  static unsigned num_threads() { return blockDim.x * blockDim.y * blockDim.z; }
  static unsigned size() { return num_threads(); }
  static dim3 group_index() { return blockIdx; }
  static dim3 thread_index() { return threadIdx; }
  static dim3 group_dim() { return blockDim; }
  static dim3 dim_threads() { return blockDim; }
};

class grid_group {
public:
  void sync(GMPI_CPU_HERE) const { gmpi::cpu::grid_barrier({file, line}); }
  static bool is_valid() { return gmpi::cpu::cooperative_grid(); }
  static unsigned long long block_rank() {
    return blockIdx.x + gridDim.x * (blockIdx.y + 1ull * gridDim.y * blockIdx.z);
  }
  static unsigned long long num_blocks() { return 1ull * gridDim.x * gridDim.y * gridDim.z; }
  static unsigned long long thread_rank() {
    return block_rank() * thread_block::size() + thread_block::thread_rank();
  }
  static unsigned long long num_threads() { return num_blocks() * thread_block::size(); }
  static unsigned long long size() { return num_threads(); }
  static dim3 block_index() { return blockIdx; }
  static dim3 dim_blocks() { return gridDim; }
  static dim3 group_dim() { return gridDim; }
};

// Up to 32 threads of one warp: `mask` names their lanes, `width` of them from the `first`.
template <class Tile> class warp_group {
public:
  void sync(GMPI_CPU_HERE) const {
    gmpi::cpu::warp_exchange(gmpi::cpu::WarpKind::sync, self().mask(), 0, {file, line});
  }
  template <class T> T shfl(T value, int source, GMPI_CPU_HERE) const {
    return __shfl_sync(self().mask(), value, source, width(), file, line);
  }
  template <class T> T shfl_up(T value, unsigned delta, GMPI_CPU_HERE) const {
    return __shfl_up_sync(self().mask(), value, delta, width(), file, line);
  }
  template <class T> T shfl_down(T value, unsigned delta, GMPI_CPU_HERE) const {
    return __shfl_down_sync(self().mask(), value, delta, width(), file, line);
  }
  template <class T> T shfl_xor(T value, unsigned lanes, GMPI_CPU_HERE) const {
    return __shfl_xor_sync(self().mask(), value, static_cast<int>(lanes), width(), file, line);
  }
  int any(int predicate, GMPI_CPU_HERE) const {
    return __any_sync(self().mask(), predicate, file, line);
  }
  int all(int predicate, GMPI_CPU_HERE) const {
    return __all_sync(self().mask(), predicate, file, line);
  }
  unsigned ballot(int predicate, GMPI_CPU_HERE) const {
    return __ballot_sync(self().mask(), predicate, file, line) >> self().first();
  }
  template <class T> unsigned match_any(T value, GMPI_CPU_HERE) const {
    return __match_any_sync(self().mask(), value, file, line) >> self().first();
  }
  template <class T> unsigned match_all(T value, int &predicate, GMPI_CPU_HERE) const {
    return __match_all_sync(self().mask(), value, &predicate, file, line) >> self().first();
  }
  unsigned size() const { return static_cast<unsigned>(width()); }
  unsigned num_threads() const { return size(); }

private:
  const Tile &self() const { return static_cast<const Tile &>(*this); }
  int width() const { return static_cast<int>(self().threads()); }
};

template <unsigned N, class Parent = void>
class thread_block_tile : public warp_group<thread_block_tile<N, Parent>> {
  static_assert(N <= 32 && (N & (N - 1)) == 0, "tiles have 1, 2, 4, 8, 16 or 32 threads here");

public:
  explicit thread_block_tile(unsigned rank_in_parent, unsigned parent_size)
      : tile_(rank_in_parent / N), tiles_((parent_size + N - 1) / N) {}
  unsigned thread_rank() const { return gmpi::cpu::lane_id() % N; }
  unsigned meta_group_rank() const { return tile_; }
  unsigned meta_group_size() const { return tiles_; }

  static constexpr unsigned threads() { return N; }
  unsigned first() const { return gmpi::cpu::lane_id() / N * N; }
  unsigned mask() const { return (N == 32 ? ~0u : (1u << N % 32) - 1) << first(); }

private:
  unsigned tile_, tiles_;
};

class coalesced_group : public warp_group<coalesced_group> {
public:
  static unsigned thread_rank() { return 0; }
  static unsigned meta_group_rank() { return 0; }
  static unsigned meta_group_size() { return 1; }

  static constexpr unsigned threads() { return 1; }
  unsigned first() const { return gmpi::cpu::lane_id(); }
  unsigned mask() const { return 1u << first(); }
};

inline thread_block this_thread_block() { return {}; }
inline grid_group this_grid() { return {}; }
inline coalesced_group coalesced_threads() { return {}; }

template <unsigned N, class Parent> thread_block_tile<N, Parent> tiled_partition(const Parent &g) {
  return thread_block_tile<N, Parent>(g.thread_rank(), static_cast<unsigned>(g.size()));
}
template <class Group> void sync(const Group &group, GMPI_CPU_HERE) { group.sync(file, line); }
template <class Group> auto thread_rank(const Group &group) { return group.thread_rank(); }
template <class Group> auto group_size(const Group &group) { return group.size(); }

} // namespace cooperative_groups
