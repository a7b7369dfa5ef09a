// Threads leave a device function before its call, and go on in the kernel.
// RUN: %gmpicxx %all-lowerings %s -o %t
// RUN: %each-lowering %ranks 1-3 %t
#include "../Inputs/shape.h"

__device__ int from_those_in_range(int i, int n, int rank) {
  int doubled = 2 * i;
  if (rank < 0)
    return -1;
  int sum;
  MPI_Allreduce(&n, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (i >= n)
    return doubled;
  int triple = doubled + i;
  return triple + sum;
}

__global__ void leave(int *out, int rank, int n) {
  int thread = blockIdx.x * blockDim.x + threadIdx.x;
  int got = from_those_in_range(thread, n, rank);
  MPI_Barrier(MPI_COMM_WORLD);
  out[thread] = got + 5 * thread;
  if (thread >= 2 * n)
    return;
  got += from_those_in_range(thread, n + 1, rank);
  out[thread] = got;
}

int main(int argc, char **argv) {
  test::begin(&argc, &argv);
  test::check_shape<int>(
      "early-return-in-device-function",
      [](int *out, int blocks, int threads) { leave<<<blocks, threads>>>(out, test::rank, 6); },
      [](int i) {
        int first = i >= 6 ? 2 * i : 3 * i + 6 * test::size;
        int second = i >= 7 ? 2 * i : 3 * i + 7 * test::size;
        return i >= 12 ? first + 5 * i : first + second;
      });
  return test::end();
}
