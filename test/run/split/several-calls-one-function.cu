// One function called several times: on one line, in one statement, in both branches, in sequence.
// RUN: %gmpicxx %all-lowerings %s -o %t
// RUN: %each-lowering %ranks 1-3 %t
#include "../Inputs/shape.h"

__device__ int sum_of(int value) {
  int sum;
  MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  return sum;
}

__global__ void calls(int *out, int rank) {
  int thread = blockIdx.x * blockDim.x + threadIdx.x;
  int a = sum_of(rank), b = sum_of(a), kept = a + b * thread;
  for (int i = 0; i < 2; ++i) {
    if (i == 0)
      kept += sum_of(3);
    else
      kept -= sum_of(4) + thread;
  }
  // clang-format off
  int x = sum_of(1); int y = sum_of(x + 1); kept += x * thread + y;
  // clang-format on
  MPI_Barrier(MPI_COMM_WORLD), MPI_Barrier(MPI_COMM_WORLD);
  out[thread] = kept;
}

int main(int argc, char **argv) {
  test::begin(&argc, &argv);
  test::check_shape<int>(
      "several-calls-one-function",
      [](int *out, int blocks, int threads) { calls<<<blocks, threads>>>(out, test::rank); },
      [](int thread) {
        int n = test::size, a = n * (n - 1) / 2;
        return a + a * n * thread + 3 * n - 4 * n - thread + n * thread + (n + 1) * n;
      });
  return test::end();
}
