// A call in a while loop, and a loop that is not entered.
// RUN: %gmpicxx %all-lowerings %s -o %t
// RUN: %each-lowering %ranks 1-3 %t
#include "../Inputs/shape.h"

__global__ void loop(int *out, int rank, int limit) {
  int thread = blockIdx.x * blockDim.x + threadIdx.x;
  int value = 1, kept = 3 * thread;
  while (value < limit) {
    int mine = value + rank, largest;
    kept += value;
    MPI_Allreduce(&mine, &largest, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    kept ^= largest;
    value = 2 * largest;
  }
  while (value < 0) {
    MPI_Barrier(MPI_COMM_WORLD);
    kept = 0;
  }
  out[thread] = kept + value;
}

static int serial(int thread) {
  int value = 1, kept = 3 * thread;
  while (value < 500) {
    kept += value;
    kept ^= value + test::size - 1;
    value = 2 * (value + test::size - 1);
  }
  return kept + value;
}

int main(int argc, char **argv) {
  test::begin(&argc, &argv);
  test::check_shape<int>(
      "await-in-while",
      [](int *out, int blocks, int threads) { loop<<<blocks, threads>>>(out, test::rank, 500); }, serial);
  return test::end();
}
