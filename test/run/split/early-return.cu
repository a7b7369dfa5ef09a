// Some threads return before, between and after calls: single ones, whole blocks, from loops.
// RUN: %gmpicxx %all-lowerings %s -o %t
// RUN: %each-lowering %ranks 1-3 %t
#include "../Inputs/shape.h"

/// A thread that returns says so in `out`; later calls are made by those that stayed.
__global__ void leave(int *out, int rank, int n) {
  int thread = blockIdx.x * blockDim.x + threadIdx.x;
  out[thread] = 1;
  if (thread % 7 == 3)
    return;
  int mine = rank + 1, sum = 0, kept = 10 * thread;
  MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  out[thread] = kept + sum;
  if (blockIdx.x == 1)
    return;
  for (int step = 0; step < n; ++step) {
    if (thread == 4 * step + 1)
      return;
    kept += step * sum;
    out[thread] = kept;
    MPI_Barrier(MPI_COMM_WORLD);
    if (thread == 4 * step + 2) {
      out[thread] = -kept;
      return;
    }
  }
  if (threadIdx.x == 0)
    return;
  MPI_Allreduce(&sum, &mine, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  out[thread] = kept + 3 * mine;
}

static int serial(int thread, test::Grid grid) {
  if (thread % 7 == 3)
    return 1;
  int sum = test::size * (test::size + 1) / 2, kept = 10 * thread;
  if (thread / grid.threads == 1)
    return kept + sum;
  int seen = kept + sum;
  for (int step = 0; step < 4; ++step) {
    if (thread == 4 * step + 1)
      return seen;
    seen = kept += step * sum;
    if (thread == 4 * step + 2)
      return -kept;
  }
  return thread % grid.threads == 0 ? kept : kept + 3 * sum;
}

int main(int argc, char **argv) {
  test::begin(&argc, &argv);
  test::check_shape<int>(
      "early-return",
      [](int *out, int blocks, int threads) { leave<<<blocks, threads>>>(out, test::rank, 4); }, serial,
      {{1, 1}, {1, 40}, {3, 5}, {4, 33}});
  return test::end();
}
