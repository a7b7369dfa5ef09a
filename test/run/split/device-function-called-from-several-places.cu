// One device function called by two kernels, by another function, in a loop and in a branch.
// RUN: %gmpicxx %all-lowerings %s -o %t
// RUN: %each-lowering %ranks 1-3 %t
#include "../Inputs/shape.h"

__device__ int shifted(int value, int next, int previous) {
  int thread = blockIdx.x * blockDim.x + threadIdx.x, got;
  MPI_Sendrecv(&value, 1, MPI_INT, next, 0, &got, 1, MPI_INT, previous, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  return got * 10 + thread;
}
__device__ int both_ways(int value, int next, int previous) {
  int there = shifted(value, next, previous);
  return there + shifted(value + 1, previous, next);
}

__global__ void first(int *out, int rank, int next, int previous) {
  int thread = blockIdx.x * blockDim.x + threadIdx.x, kept = 0;
  for (int i = 0; i < 2; ++i)
    kept += shifted(rank + i, next, previous);
  if (next < 0 || rank < 100)
    kept += both_ways(rank, next, previous) * 2;
  out[thread] = kept;
}
__global__ void second(int *out, int rank, int next, int previous) {
  int thread = blockIdx.x * blockDim.x + threadIdx.x;
  out[thread] = 3 * shifted(rank, previous, next) + thread;
}

int main(int argc, char **argv) {
  test::begin(&argc, &argv);
  int next = test::next(), previous = test::previous();
  test::check_shape<int>(
      "first", [&](int *out, int b, int t) { first<<<b, t>>>(out, test::rank, next, previous); },
      [&](int t) { return 20 * previous + 10 + 2 * t + 2 * (10 * previous + 10 * next + 10 + 2 * t); });
  test::check_shape<int>(
      "second", [&](int *out, int b, int t) { second<<<b, t>>>(out, test::rank, next, previous); },
      [&](int t) { return 3 * (10 * next + t) + t; });
  return test::end();
}
