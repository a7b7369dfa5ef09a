// Calls in the conditions of if, while, do, for and switch, and in a for's increment and initialiser.
// RUN: %gmpicxx %all-lowerings %s -o %t
// RUN: %each-lowering %ranks 1-3 %t
#include "../Inputs/shape.h"

__device__ int sum_of(int value) {
  int sum;
  MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  return sum;
}

__global__ void conditions(int *out, int rank) {
  int thread = blockIdx.x * blockDim.x + threadIdx.x;
  int kept = 3 * thread, sum = 0, mine = rank;
  if (MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD) == MPI_SUCCESS)
    kept += sum;
  else
    kept = -1;
  int left = 3;
  while (sum_of(left) > 0) {
    kept += left-- * thread;
    if (left == 1)
      continue;
    kept += 1;
  }
  do {
    ++left;
    if (left % 2)
      continue;
    kept += left;
  } while (MPI_Barrier(MPI_COMM_WORLD) == MPI_SUCCESS && left < 4);
  for (int i = sum_of(1); sum_of(i) < 100; i += sum_of(2))
    kept += i;
  switch (sum_of(1) - sum_of(0)) {
  case 1:
    kept += 100;
    break;
  case 2:
    kept += 200;
    break;
  default:
    kept += 300;
  }
  out[thread] = kept;
}

static int serial(int thread) {
  int size = test::size;
  int kept = 3 * thread + size * (size - 1) / 2;
  kept += 6 * thread + 2;
  kept += 2 + 4;
  for (int i = size; i * size < 100; i += 2 * size)
    kept += i;
  return kept + (size == 1 ? 100 : size == 2 ? 200 : 300);
}

int main(int argc, char **argv) {
  test::begin(&argc, &argv);
  test::check_shape<int>(
      "await-in-condition",
      [](int *out, int blocks, int threads) { conditions<<<blocks, threads>>>(out, test::rank); }, serial);
  return test::end();
}
