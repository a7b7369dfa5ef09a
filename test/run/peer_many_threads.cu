// More threads than there are request slots receive from kernel to kernel, and are sent more than can be
// kept: those without a slot take what is there, so that what the others wait for can come.
// LOWERINGS: queue (split kernels leave such communicators to the queue)
// RUN: %gmpicxx %s -o %t
// RUN: env GMPI_PEER=1 %ranks 2 %t
#include "Inputs/check.h"

constexpr int blocks = test::thread_sanitizer ? 4 : 12, threads = 256;
constexpr int messages = test::thread_sanitizer ? 4 : 10;

__device__ int value(int thread, int message) { return 1000 * thread + message; }

/// Each thread has a partner on the other rank, and a tag of its own.
__global__ void send(int to, bool synchronous) {
  const int thread = blockIdx.x * blockDim.x + threadIdx.x;
  for (int i = 0; i < messages; ++i) {
    int number = value(thread, i);
    if (synchronous)
      MPI_Ssend(&number, 1, MPI_INT, to, thread, MPI_COMM_WORLD);
    else
      MPI_Send(&number, 1, MPI_INT, to, thread, MPI_COMM_WORLD);
  }
}
__global__ void receive(int from, int *wrong) {
  const int thread = blockIdx.x * blockDim.x + threadIdx.x;
  for (int i = 0; i < messages; ++i) {
    int number = -1, count = -1;
    MPI_Status status;
    MPI_Recv(&number, 1, MPI_INT, i % 3 == 0 ? MPI_ANY_SOURCE : from, thread, MPI_COMM_WORLD, &status);
    MPI_Get_count(&status, MPI_INT, &count);
    if (number != value(thread, i) || count != 1 || status.MPI_SOURCE != from || status.MPI_TAG != thread)
      atomicAdd(wrong, 1);
  }
}

int main(int argc, char **argv) {
  test::begin(&argc, &argv);
  test::Array<int> wrong(1);
  for (bool synchronous : {false, true}) {
    if (test::rank == 0)
      send<<<blocks, threads>>>(1, synchronous);
    else
      receive<<<blocks, threads>>>(0, wrong.data());
    test::synchronize();
  }
  test::expect_each(wrong, [](int) { return 0; }, "wrong messages");
  return test::end();
}
