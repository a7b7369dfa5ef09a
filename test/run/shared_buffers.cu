// __shared__ memory as MPI buffers of block scope: static, dynamic, and per block.
// RUN: %gmpicxx %s -o %t
// RUN: %ranks 1-4 %t
// RUN: env GMPI_PEER=1 %ranks 2-3 %t
#include "Inputs/check.h"

__global__ void fixed(int *seen, int rank, int next, int previous) {
  __shared__ int out[64], in[64];
  for (int i = threadIdx.x; i < 64; i += blockDim.x)
    out[63 - i] = 1000 * rank + 100 * blockIdx.x + i;
  __syncthreads();
  MPI_Sendrecv(out, 64, MPI_INT, next, blockIdx.x, in, 64, MPI_INT, previous, blockIdx.x, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
  for (int i = threadIdx.x; i < 64; i += blockDim.x)
    seen[blockIdx.x * 64 + i] = in[63 - i];
}

/// An MPI call of block scope is the block's barrier: none is needed around it.
__global__ void dynamic(int *seen, int n, int rank, int next, int previous) {
  extern __shared__ int memory[];
  int *out = memory, *in = memory + n;
  for (int i = threadIdx.x; i < n; i += blockDim.x)
    out[n - 1 - i] = 1000 * rank + 100 * blockIdx.x + i;
  MPI_Request requests[2];
  MPI_Irecv(in, n, MPI_INT, previous, blockIdx.x, MPI_COMM_WORLD, &requests[0]);
  MPI_Isend(out, n, MPI_INT, next, blockIdx.x, MPI_COMM_WORLD, &requests[1]);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  for (int i = threadIdx.x; i < n; i += blockDim.x)
    seen[blockIdx.x * n + i] = in[n - 1 - i];
}

int main(int argc, char **argv) {
  test::begin(&argc, &argv);
  for (int blocks : {1, 4}) {
    test::Array<int> seen(blocks * 64);
    fixed<<<blocks, 40>>>(seen.data(), test::rank, test::next(), test::previous());
    test::synchronize();
    test::expect_each(
        seen, [](int i) { return 1000 * test::previous() + 100 * (i / 64) + i % 64; }, "fixed");
    dynamic<<<blocks, 40, 2 * 64 * sizeof(int)>>>(seen.data(), 64, test::rank, test::next(),
                                                  test::previous());
    test::synchronize();
    test::expect_each(
        seen, [](int i) { return 1000 * test::previous() + 100 * (i / 64) + i % 64; }, "dynamic");
  }
  return test::end();
}
