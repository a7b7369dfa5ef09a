// Threads that return before the kernel's MPI calls have left them: single threads, whole blocks,
// block 0, all threads but one.
// RUN: %gmpicxx %s -o %t
// RUN: %ranks 1-4 %t
// RUN: env GMPI_PEER=1 %ranks 2-3 %t
#include "Inputs/check.h"

__device__ int thread_number() { return blockIdx.x * blockDim.x + threadIdx.x; }

/// Those with nothing to do leave: part of a block, and the blocks after it.
__global__ void beyond_n(int *out, int *in, int n, int rank, int next, int previous) {
  int i = thread_number();
  if (i >= n)
    return;
  out[i] = 100 * rank + i;
  MPI_Sendrecv(out, n, MPI_INT, next, 0, in, n, MPI_INT, previous, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  in[i] += 1;
  MPI_Barrier(MPI_COMM_WORLD);
}

__global__ void block_0_leaves(int *out, int *in, int n, int rank, int next, int previous) {
  if (blockIdx.x == 0)
    return;
  for (int i = (blockIdx.x - 1) * blockDim.x + threadIdx.x; i < n; i += (gridDim.x - 1) * blockDim.x)
    out[i] = 100 * rank + i;
  MPI_Sendrecv(out, n, MPI_INT, next, 0, in, n, MPI_INT, previous, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  for (int i = (blockIdx.x - 1) * blockDim.x + threadIdx.x; i < n; i += (gridDim.x - 1) * blockDim.x)
    in[i] += 1;
}

__global__ void thread_0_leaves(int *out, int *in, int n, int rank, int next, int previous) {
  if (threadIdx.x == 0)
    return;
  if (blockIdx.x == 0)
    for (int i = threadIdx.x - 1; i < n; i += blockDim.x - 1)
      out[i] = 100 * rank + i;
  MPI_Sendrecv(out, n, MPI_INT, next, 0, in, n, MPI_INT, previous, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  if (blockIdx.x == 0)
    for (int i = threadIdx.x - 1; i < n; i += blockDim.x - 1)
      in[i] += 1;
}

__global__ void one_stays(int *out, int *in, int n, int rank, int next, int previous) {
  if (thread_number() != 5)
    return;
  for (int i = 0; i < n; ++i)
    out[i] = 100 * rank + i;
  MPI_Sendrecv(out, n, MPI_INT, next, 0, in, n, MPI_INT, previous, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  for (int i = 0; i < n; ++i)
    in[i] += 1;
}

/// Block after block leaves, between calls.
__global__ void one_by_one(int *out, int *in, int n, int rank, int next, int previous) {
  for (int i = thread_number(); i < n; i += gridDim.x * blockDim.x)
    out[i] = 100 * rank + i;
  for (int step = 0; step < 10; ++step) {
    MPI_Sendrecv(out, n, MPI_INT, next, step, in, n, MPI_INT, previous, step, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    if (blockIdx.x == 9 - step && blockIdx.x != 0)
      return;
  }
  for (int i = threadIdx.x; i < n; i += blockDim.x)
    in[i] += 1;
}

/// Nobody stays for the call.
__global__ void all_leave(int *out, int *in, int n, int rank, int next, int previous) {
  int i = thread_number();
  if (i < n)
    in[i] = 100 * previous + i + 1;
  if (n > 0)
    return;
  MPI_Sendrecv(out, n, MPI_INT, next, 0, in, n, MPI_INT, previous, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

using Exchange = void (*)(int *, int *, int, int, int, int);

static void check(Exchange exchange, const char *name, int n, int blocks, int threads) {
  test::Array<int> out(n), in(n);
  exchange<<<blocks, threads>>>(out.data(), in.data(), n, test::rank, test::next(), test::previous());
  test::synchronize();
  test::expect_each(in, [](int i) { return 100 * test::previous() + i + 1; }, name);
}

int main(int argc, char **argv) {
  test::begin(&argc, &argv);
  check(beyond_n, "beyond_n", 40, 1, 64);
  check(beyond_n, "beyond_n", 40, 5, 16);
  check(beyond_n, "beyond_n", 1, 3, 32);
  check(block_0_leaves, "block_0_leaves", 40, 2, 16);
  check(block_0_leaves, "block_0_leaves", 40, 4, 16);
  check(thread_0_leaves, "thread_0_leaves", 40, 1, 33);
  check(thread_0_leaves, "thread_0_leaves", 40, 3, 20);
  check(one_stays, "one_stays", 40, 1, 32);
  check(one_stays, "one_stays", 40, 3, 20);
  check(one_by_one, "one_by_one", 100, 10, 20);
  check(one_by_one, "one_by_one", 30000, 10, 20);
  check(all_leave, "all_leave", 40, 3, 20);
  return test::end();
}
