// Calls of thread scope: every thread has messages of its own, told apart by their tags; or one thread
// is chosen and makes the only call.
// RUN: %gmpicxx %s -o %t
// RUN: %ranks 1-4 %t
// RUN: env GMPI_PEER=1 %ranks 2-3 %t
#include "Inputs/check.h"

__global__ void each_thread(int *out, int *in, int rank, int next, int previous) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = 1000 * rank + i;
  MPI_Sendrecv(out + i, 1, MPI_INT, next, i, in + i, 1, MPI_INT, previous, i, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
  in[i] += 1;
}

/// Odd threads receive what even threads send.
__global__ void odd_and_even(int *buffer, int next, int previous) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i % 2 == 0)
    MPI_Send(buffer + i, 1, MPI_INT, next, i, MPI_COMM_WORLD);
  else
    MPI_Recv(buffer + i, 1, MPI_INT, previous, i - 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

__global__ void one_thread(int *out, int *in, int n, int next, int previous) {
  for (int i = threadIdx.x; i < n; i += blockDim.x)
    out[i] += 5;
  __syncthreads();
  if (threadIdx.x == 0)
    MPI_Sendrecv(out, n, MPI_INT, next, 0, in, n, MPI_INT, previous, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
  __syncthreads();
  for (int i = threadIdx.x; i < n; i += blockDim.x)
    in[i] *= 2;
}

int main(int argc, char **argv) {
  test::begin(&argc, &argv);
  for (int blocks : {1, 3})
    for (int threads : {1, 20, 64}) {
      int n = blocks * threads;
      test::Array<int> out(n), in(n);
      each_thread<<<blocks, threads>>>(out.data(), in.data(), test::rank, test::next(), test::previous());
      test::synchronize();
      test::expect_each(in, [](int i) { return 1000 * test::previous() + i + 1; }, "in");
    }

  std::vector<int> values(96);
  for (int i = 0; i < 96; ++i)
    values[i] = 1000 * test::rank + i;
  test::Array<int> buffer(96);
  buffer.write(values);
  odd_and_even<<<3, 32>>>(buffer.data(), test::next(), test::previous());
  test::synchronize();
  test::expect_each(
      buffer, [&](int i) { return i % 2 == 0 ? values[i] : 1000 * test::previous() + i - 1; }, "buffer");

  test::Array<int> out(100, test::rank), in(100);
  one_thread<<<1, 32>>>(out.data(), in.data(), 100, test::next(), test::previous());
  test::synchronize();
  test::expect_each(in, [](int) { return 2 * (test::previous() + 5); }, "in");
  return test::end();
}
