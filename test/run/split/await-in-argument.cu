// Calls as arguments of functions, of each other, of constructors and operators; with other values
// evaluated before them.
// RUN: %gmpicxx %all-lowerings %s -o %t
// RUN: %each-lowering %ranks 1-3 %t
#include "../Inputs/shape.h"

__device__ int sum_of(int value) {
  int sum;
  MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  return sum;
}
__device__ int mix(int a, int b, int c = 0) { return a + 10 * b + 100 * c; }
struct Pair {
  int first, second;
  __device__ Pair(int a, int b) : first(a), second(b) {}
  __device__ Pair operator+(int n) const { return Pair(first + n, second); }
};

__global__ void arguments(int *out, int rank) {
  int thread = blockIdx.x * blockDim.x + threadIdx.x;
  int kept = mix(thread, sum_of(rank), thread + 1);
  kept += mix(sum_of(1), thread);
  kept += sum_of(sum_of(sum_of(1) + 1) + 2);
  Pair pair(sum_of(rank), kept);
  pair = pair + sum_of(3);
  int mine = rank, sum = 0;
  kept += mix(MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD) == MPI_SUCCESS, thread);
  int list[] = {sum_of(1), thread, sum_of(2)};
  kept = thread + kept * 2 + sum_of(4) * 3 - list[list[0] > 0 ? 2 : 1];
  out[thread] = kept + pair.first + pair.second + sum + list[1];
}

static int serial(int thread) {
  int n = test::size, ranks = n * (n - 1) / 2;
  int kept = thread + 10 * ranks + 100 * (thread + 1);
  kept += n + 10 * thread;
  kept += ((n + 1) * n + 2) * n;
  int first = ranks + 3 * n, second = kept;
  kept += 1 + 10 * thread;
  kept = thread + kept * 2 + 12 * n - 2 * n;
  return kept + first + second + ranks + thread;
}

int main(int argc, char **argv) {
  test::begin(&argc, &argv);
  test::check_shape<int>(
      "await-in-argument",
      [](int *out, int blocks, int threads) { arguments<<<blocks, threads>>>(out, test::rank); }, serial);
  return test::end();
}
