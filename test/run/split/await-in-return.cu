// Calls in return statements: alone, in an expression, of a function that has one itself, on either
// side of a branch.
// RUN: %gmpicxx %all-lowerings %s -o %t
// RUN: %each-lowering %ranks 1-3 %t
#include "../Inputs/shape.h"

__device__ int shared_by_all(int value, int *into) {
  return MPI_Allreduce(&value, into, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}
__device__ bool worked(int value, int *into) { return shared_by_all(value, into) == MPI_SUCCESS; }
__device__ int either(int thread, int which, int *into) {
  int doubled = 2 * thread;
  if (which == 0)
    return doubled + shared_by_all(which + 1, into);
  else if (which == 1)
    return worked(which + 5, into) ? doubled + 1 : -1;
  return worked(3, into) && worked(4, into) ? doubled + 2 : -2;
}
__device__ void no_value(int *into) { return (void)shared_by_all(9, into); }

__global__ void returns(int *out, int *sums) {
  int thread = blockIdx.x * blockDim.x + threadIdx.x;
  int kept = 0;
  for (int which = 0; which < 3; ++which) {
    kept = 3 * kept + either(thread, which, sums);
    kept += sums[0];
    MPI_Barrier(MPI_COMM_WORLD);
  }
  no_value(sums);
  out[thread] = kept + sums[0];
}

int main(int argc, char **argv) {
  test::begin(&argc, &argv);
  test::Array<int> sums(1);
  test::check_shape<int>(
      "await-in-return",
      [&](int *out, int blocks, int threads) { returns<<<blocks, threads>>>(out, sums.data()); },
      [](int thread) {
        int kept = 2 * thread + test::size;
        kept = 3 * kept + 2 * thread + 1 + 6 * test::size;
        return 3 * kept + 2 * thread + 2 + 4 * test::size + 9 * test::size;
      });
  return test::end();
}
