// grid.sync() between calls, in a loop, in a device function; what threads write before it, others read after it.
// RUN: %gmpicxx %all-lowerings %s -o %t
// RUN: %each-lowering %ranks 1-3 %t
#include "../Inputs/shape.h"

#include <cooperative_groups.h>
namespace cg = cooperative_groups;

__device__ int from_behind(const int *numbers, int thread, int n) {
  cg::this_grid().sync();
  int got = numbers[(thread + 1) % n];
  cg::this_grid().sync();
  return got;
}

__global__ void phases(int *out, int *numbers, int rank, int steps) {
  auto grid = cg::this_grid();
  int thread = blockIdx.x * blockDim.x + threadIdx.x, n = gridDim.x * blockDim.x;
  int kept = 5 * thread;
  for (int step = 0; step < steps; ++step) {
    int mine = rank + step, sum;
    numbers[thread] = thread * (step + 1);
    grid.sync();
    int other = numbers[n - 1 - thread];
    MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    numbers[thread] = sum + thread;
    kept += other + from_behind(numbers, thread, n);
  }
  out[thread] = kept;
}

static void launch(int *out, int *numbers, int blocks, int threads) {
  int steps = 3;
  void *arguments[] = {&out, &numbers, &test::rank, &steps};
  CUDA_CHECK(cudaLaunchCooperativeKernel(phases, blocks, threads, arguments));
}

int main(int argc, char **argv) {
  test::begin(&argc, &argv);
  test::Array<int> numbers(3 * 64);
  test::check_shape<int>(
      "grid-sync",
      [&](int *out, int blocks, int threads) { launch(out, numbers.data(), blocks, threads); },
      [](int t, test::Grid grid) {
        int n = grid.blocks * grid.threads, kept = 5 * t;
        for (int step = 0; step < 3; ++step)
          kept += (n - 1 - t) * (step + 1) + test::over_ranks([&](int r) { return r + step; }) + (t + 1) % n;
        return kept;
      });
  return test::end();
}
