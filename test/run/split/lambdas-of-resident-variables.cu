// Lambdas live across calls that capture variables which others refer to, too: an array by copy, a number that a
// device function changes. (Found by fuzzing.)
// RUN: %gmpicxx %all-lowerings %s -o %t
// RUN: %each-lowering %ranks 1-3 %t
#include "../Inputs/shape.h"

__device__ int doubled(int &number) {
  MPI_Barrier(MPI_COMM_WORLD);
  return number *= 2;
}

__global__ void lambdas(int *out, int rank) {
  int thread = blockIdx.x * blockDim.x + threadIdx.x;
  int number = thread;
  int list[3] = {thread, 5, 2};
  int kept = doubled(number);
  auto copied = [number](int n) { return n * 3 + number; };
  auto referred = [&number](int n) { return n * 3 + number; };
  auto array = [list](int n) { return n + list[n % 3]; };
  MPI_Barrier(MPI_COMM_WORLD);
  list[1] = 100;
  kept += doubled(number);
  out[thread] = kept + 10 * copied(1) + 100 * referred(2) + array(thread) + array(1) + list[1];
}

int main(int argc, char **argv) {
  test::begin(&argc, &argv);
  test::check_shape<int>(
      "lambdas-of-resident-variables",
      [](int *out, int blocks, int threads) { lambdas<<<blocks, threads>>>(out, test::rank); },
      [](int t) {
        int list[3] = {t, 5, 2};
        return 6 * t + 10 * (3 + 2 * t) + 100 * (6 + 4 * t) + t + list[t % 3] + 6 + 100;
      });
  return test::end();
}
