// A reference that makes a temporary live longer, across calls.
// RUN: %gmpicxx %all-lowerings %s -o %t
// RUN: %each-lowering %ranks 1-3 %t
#include "../Inputs/shape.h"

struct Pair {
  int first, second;
};
__device__ Pair make(int n) { return {n, 2 * n}; }

__global__ void references(int *out, int rank) {
  int thread = blockIdx.x * blockDim.x + threadIdx.x;
  const int &three = 3 * thread;
  const Pair &pair = make(thread + 1);
  int &&changing = thread + 4;
  int mine = rank, sum;
  MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  changing += sum;
  MPI_Barrier(MPI_COMM_WORLD);
  out[thread] = three + 10 * pair.first + 100 * pair.second + 1000 * changing;
}

int main(int argc, char **argv) {
  test::begin(&argc, &argv);
  test::check_shape<int>(
      "reference-to-temporary",
      [](int *out, int blocks, int threads) { references<<<blocks, threads>>>(out, test::rank); },
      [](int thread) {
        int sum = test::size * (test::size - 1) / 2;
        return 3 * thread + 210 * (thread + 1) + 1000 * (thread + 4 + sum);
      });
  return test::end();
}
