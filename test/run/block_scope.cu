// Calls of block scope: each block trades its own message with the same block of another rank.
// RUN: %gmpicxx %s -o %t
// RUN: %ranks 1-4 %t
// RUN: env GMPI_PEER=1 %ranks 2-3 %t
#include "Inputs/check.h"

__global__ void by_offset(int *out, int *in, int n, int rank, int next, int previous) {
  int *mine = out + blockIdx.x * n;
  for (int i = threadIdx.x; i < n; i += blockDim.x)
    mine[n - 1 - i] = 10000 * rank + 100 * blockIdx.x + i;
  MPI_Sendrecv(mine, n, MPI_INT, next, blockIdx.x, in + blockIdx.x * n, n, MPI_INT, previous,
               blockIdx.x, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  for (int i = threadIdx.x; i < n; i += blockDim.x)
    in[blockIdx.x * n + i] += 3;
}

/// Blocks that send and blocks that receive.
__global__ void by_role(int *buffer, int n, int next, int previous) {
  int pair = blockIdx.x / 2;
  int *mine = buffer + blockIdx.x * n;
  if (blockIdx.x % 2 == 0)
    MPI_Send(mine, n, MPI_INT, next, pair, MPI_COMM_WORLD);
  else
    MPI_Recv(mine, n, MPI_INT, previous, pair, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv) {
  test::begin(&argc, &argv);
  for (int blocks : {1, 2, 6})
    for (int threads : {1, 33, 64}) {
      int n = 50;
      test::Array<int> out(blocks * n), in(blocks * n);
      by_offset<<<blocks, threads>>>(out.data(), in.data(), n, test::rank, test::next(), test::previous());
      test::synchronize();
      test::expect_each(
          in, [&](int i) { return 10000 * test::previous() + 100 * (i / n) + (n - 1 - i % n) + 3; }, "in");
    }

  int blocks = 8, n = 16;
  test::Array<int> buffer(blocks * n);
  std::vector<int> values(blocks * n);
  for (int i = 0; i < blocks * n; ++i)
    values[i] = 1000 * test::rank + i;
  buffer.write(values);
  by_role<<<blocks, 32>>>(buffer.data(), n, test::next(), test::previous());
  test::synchronize();
  test::expect_each(
      buffer, [&](int i) { return i / n % 2 == 0 ? values[i] : 1000 * test::previous() + i - n; }, "buffer");
  return test::end();
}
