// A call in a do loop: the condition is read after the call, and once at least.
// RUN: %gmpicxx %all-lowerings %s -o %t
// RUN: %each-lowering %ranks 1-3 %t
#include "../Inputs/shape.h"

__global__ void loop(int *out, int rank, int rounds) {
  int thread = blockIdx.x * blockDim.x + threadIdx.x;
  int kept = thread + 1, round = 0;
  do {
    int mine = rank + round, sum;
    int before = kept;
    MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    kept = 2 * before + sum;
  } while (++round < rounds);
  do {
    MPI_Barrier(MPI_COMM_WORLD);
    kept += 5;
  } while (false);
  do
    MPI_Barrier(MPI_COMM_WORLD);
  while (round-- > 0);
  out[thread] = 10 * kept + round;
}

static int serial(int thread) {
  int kept = thread + 1;
  for (int round = 0; round < 4; ++round)
    kept = 2 * kept + test::size * (test::size - 1) / 2 + round * test::size;
  return 10 * (kept + 5) - 1;
}

int main(int argc, char **argv) {
  test::begin(&argc, &argv);
  test::check_shape<int>(
      "await-in-do", [](int *out, int blocks, int threads) { loop<<<blocks, threads>>>(out, test::rank, 4); },
      serial);
  return test::end();
}
