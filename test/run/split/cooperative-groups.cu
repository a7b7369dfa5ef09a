// Handles of cooperative groups, made before a call and used after it.
// RUN: %gmpicxx %all-lowerings %s -o %t
// RUN: %each-lowering %ranks 1-3 %t
#include "../Inputs/shape.h"

#include <cooperative_groups.h>
namespace cg = cooperative_groups;

__global__ void groups(int *out, int rank, int steps) {
  __shared__ int first;
  auto grid = cg::this_grid();
  cg::thread_block block = cg::this_thread_block();
  auto tile = cg::tiled_partition<4>(block);
  int thread = grid.thread_rank(), kept = 0;
  for (int step = 0; step < steps; ++step) {
    int mine = rank + step, sum;
    MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (block.thread_rank() == 0)
      first = sum + blockIdx.x;
    block.sync();
    kept += first + int(tile.thread_rank());
    block.sync();
  }
  MPI_Barrier(MPI_COMM_WORLD);
  out[thread] = kept + 10 * int(grid.thread_rank()) + int(block.size()) + 100 * int(tile.size());
}

int main(int argc, char **argv) {
  test::begin(&argc, &argv);
  test::check_shape<int>(
      "cooperative-groups",
      [](int *out, int blocks, int threads) { groups<<<blocks, threads>>>(out, test::rank, 3); },
      [](int thread, test::Grid grid) {
        int sums = 0, block = thread / grid.threads, lane = thread % grid.threads;
        for (int step = 0; step < 3; ++step)
          sums += test::over_ranks([&](int r) { return r + step; });
        return sums + 3 * block + 3 * (lane % 4) + 10 * thread + grid.threads + 400;
      },
      {{1, 4}, {3, 8}, {2, 64}});
  return test::end();
}
