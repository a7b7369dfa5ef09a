// Calls one after the other: a thread's index, a value made of it and the first call's result live on.
// RUN: %gmpicxx %all-lowerings %s -o %t
// RUN: %each-lowering %ranks 1-3 %t
#include "../Inputs/shape.h"

__global__ void straight(int *out, int rank, int next, int previous) {
  int thread = blockIdx.x * blockDim.x + threadIdx.x;
  int mine = rank + 1, sum, theirs;
  int squared = thread * thread;
  MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  squared += sum;
  mine = 2 * sum + rank;
  MPI_Sendrecv(&mine, 1, MPI_INT, next, 4, &theirs, 1, MPI_INT, previous, 4, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
  MPI_Barrier(MPI_COMM_WORLD);
  out[thread] = squared + 1000 * theirs + mine;
}

int main(int argc, char **argv) {
  test::begin(&argc, &argv);
  int sum = test::size * (test::size + 1) / 2;
  test::check_shape<int>(
      "straight-line",
      [](int *out, int blocks, int threads) {
        straight<<<blocks, threads>>>(out, test::rank, test::next(), test::previous());
      },
      [&](int thread) {
        return thread * thread + sum + 1000 * (2 * sum + test::previous()) + 2 * sum + test::rank;
      });
  return test::end();
}
