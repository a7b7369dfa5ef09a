// Calls at several depths of nested loops, whose inner bounds depend on outer counters.
// RUN: %gmpicxx %all-lowerings %s -o %t
// RUN: %each-lowering %ranks 1-3 %t
#include "../Inputs/shape.h"

__global__ void loops(int *out, int rank, int n) {
  int thread = blockIdx.x * blockDim.x + threadIdx.x;
  int total = 0, per_thread = 0;
  for (int i = 0; i < n; ++i) {
    int row = thread * i;
    for (int j = i; j < n; ++j) {
      int mine = rank + 10 * i + j, sum;
      MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
      row += sum;
      int k = 0;
      while (k < j - i) {
        MPI_Barrier(MPI_COMM_WORLD);
        per_thread += ++k * thread;
      }
    }
    MPI_Allreduce(MPI_IN_PLACE, &i, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    total += row;
  }
  out[thread] = total + per_thread;
}

static int serial(int thread) {
  int total = 0;
  for (int i = 0; i < 3; ++i) {
    total += thread * i;
    for (int j = i; j < 3; ++j) {
      total += test::over_ranks([&](int r) { return r + 10 * i + j; });
      total += thread * (j - i) * (j - i + 1) / 2;
    }
  }
  return total;
}

int main(int argc, char **argv) {
  test::begin(&argc, &argv);
  test::check_shape<int>(
      "await-nested-loops",
      [](int *out, int blocks, int threads) { loops<<<blocks, threads>>>(out, test::rank, 3); }, serial);
  return test::end();
}
