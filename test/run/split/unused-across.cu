// Variables that no later statement reads, before calls: in a block, in a case, in a loop. (Found by fuzzing.)
// RUN: %gmpicxx %all-lowerings %s -o %t
// RUN: %each-lowering %ranks 1-3 %t
#include "../Inputs/shape.h"

__global__ void unused(int *out, int rank, int n) {
  int thread = blockIdx.x * blockDim.x + threadIdx.x, kept = thread;
  int array[3] = {thread, 1, 2};
  MPI_Barrier(MPI_COMM_WORLD);
  for (int i = 0; i < n; ++i) {
    double numbers[2] = {0.5 * thread, 1};
    kept += int(2 * numbers[0]);
    switch (i) {
    case 0: {
      int inner[3] = {thread, 1, 2}, mine = rank + i, sum;
      MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
      double late = sum;
      MPI_Barrier(MPI_COMM_WORLD);
    } break;
    default:
      MPI_Barrier(MPI_COMM_WORLD);
      array[i % 3] = i;
    }
  }
  MPI_Barrier(MPI_COMM_WORLD);
  out[thread] = kept;
}

int main(int argc, char **argv) {
  test::begin(&argc, &argv);
  test::check_shape<int>(
      "unused-across", [](int *out, int b, int t) { unused<<<b, t>>>(out, test::rank, 3); },
      [](int thread) { return 4 * thread; });
  return test::end();
}
