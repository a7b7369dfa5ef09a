// Control flow that depends on what was received: until a residual is small, as often as a message says.
// RUN: %gmpicxx %all-lowerings %s -o %t
// RUN: %each-lowering %ranks 1-3 %t
#include "../Inputs/shape.h"

__global__ void until_small(int *out, double start, int rank) {
  int thread = blockIdx.x * blockDim.x + threadIdx.x;
  double mine = start, residual = 1e30;
  int steps = 0, kept = thread;
  while (residual > 1e-2) {
    mine /= 2;
    ++steps;
    kept += steps * thread;
    MPI_Allreduce(&mine, &residual, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  }
  int times = rank == 0 ? steps / 2 : 0;
  MPI_Bcast(&times, 1, MPI_INT, 0, MPI_COMM_WORLD);
  for (int i = 0; i < times; ++i) {
    int next = rank == 0 ? i % 3 : -1;
    MPI_Bcast(&next, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (next == 1) {
      MPI_Barrier(MPI_COMM_WORLD);
      kept += 1000;
    } else {
      kept += next;
    }
  }
  out[thread] = kept;
}

static int serial(int thread) {
  int steps = 0, kept = thread;
  for (double sum = test::size * (test::size + 1) / 2; ; sum /= 2) {
    if (steps > 0 && sum <= 1e-2)
      break;
    ++steps;
    kept += steps * thread;
  }
  for (int i = 0; i < steps / 2; ++i)
    kept += i % 3 == 1 ? 1000 : i % 3;
  return kept;
}

int main(int argc, char **argv) {
  test::begin(&argc, &argv);
  test::check_shape<int>(
      "await-on-received-data",
      [](int *out, int blocks, int threads) {
        until_small<<<blocks, threads>>>(out, test::rank + 1, test::rank);
      },
      serial);
  return test::end();
}
