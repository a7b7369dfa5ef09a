// Calls of grid scope: one message a rank, whatever the grid's shape; what any thread wrote before is
// sent, and every thread sees what was received.
// RUN: %gmpicxx %s -o %t
// RUN: %ranks 2-4 %t
// RUN: env GMPI_PEER=1 %ranks 2-3 %t
#include "Inputs/check.h"

__device__ int thread_number() {
  int block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
  return (block * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
}
__device__ int thread_count() {
  return gridDim.x * gridDim.y * gridDim.z * blockDim.x * blockDim.y * blockDim.z;
}

__global__ void pass_on(int *out, int *in, int n, int rank, int next, int previous, int rounds) {
  for (int round = 0; round < rounds; ++round) {
    for (int i = thread_number(); i < n; i += thread_count())
      out[n - 1 - i] = 1000 * rank + i + round;
    if (rank % 2 == 0) {
      MPI_Send(out, n, MPI_INT, next, round, MPI_COMM_WORLD);
      MPI_Recv(in, n, MPI_INT, previous, round, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
      MPI_Recv(in, n, MPI_INT, previous, round, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      MPI_Ssend(out, n, MPI_INT, next, round, MPI_COMM_WORLD);
    }
    for (int i = thread_number(); i < n; i += thread_count())
      in[i] += 7;
  }
}

static void check(dim3 grid, dim3 block, int n) {
  int rounds = 3;
  test::Array<int> out(n), in(n);
  pass_on<<<grid, block>>>(out.data(), in.data(), n, test::rank, test::next(), test::previous(), rounds);
  test::synchronize();
  test::expect_each(in, [&](int i) { return 1000 * test::previous() + n - 1 - i + rounds - 1 + 7; }, "in");
}

int main(int argc, char **argv) {
  test::begin(&argc, &argv);
  check(1, 1, 1);
  check(1, 32, 100);
  check(3, 64, 1000);
  check({2, 3, 1}, {4, 8, 1}, 333);
  check({1, 2, 2}, {7, 3, 1}, 50);
  check(5, 7, 20000); // more than lies beside a request
  return test::end();
}
