// Calls beside break and continue, in inner and outer loops.
// RUN: %gmpicxx %all-lowerings %s -o %t
// RUN: %each-lowering %ranks 1-3 %t
#include "../Inputs/shape.h"

__global__ void loops(int *out, int rank, int steps) {
  int thread = blockIdx.x * blockDim.x + threadIdx.x;
  int kept = thread, sum = 0;
  for (int step = 0;; ++step) {
    if (step == 2)
      continue;
    int mine = rank + step;
    MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    kept += step * sum;
    for (int inner = 0; inner < 5; ++inner) {
      if (inner % 2 == 0)
        continue;
      kept += inner;
      MPI_Barrier(MPI_COMM_WORLD);
      if (inner == step)
        break;
      kept += thread;
    }
    if (step < steps)
      continue;
    MPI_Barrier(MPI_COMM_WORLD);
    break;
  }
  out[thread] = kept + sum;
}

static int serial(int thread) {
  int kept = thread, sum = 0;
  for (int step : {0, 1, 3, 4}) {
    sum = test::over_ranks([&](int r) { return r + step; });
    kept += step * sum;
    kept += step == 1 ? 1 : 4;                 // the inner loop: 1, and 3 unless it broke at 1
    kept += thread * (step == 1 ? 0 : step == 3 ? 1 : 2);
  }
  return kept + sum;
}

int main(int argc, char **argv) {
  test::begin(&argc, &argv);
  test::check_shape<int>(
      "await-break-continue",
      [](int *out, int blocks, int threads) { loops<<<blocks, threads>>>(out, test::rank, 4); }, serial);
  return test::end();
}
