// Many launches in flight, all of which wait for the first: more than there is room for at the start, and
// more operations behind one than a stream takes. The last rank sends what the first waits for late.
// UNSUPPORTED: gpu && !gpu-aware
// RUN: %gmpicxx %s -o %t
// RUN: env GMPI_GPU_AWARE=1 %ranks 2 %t
#include "../Inputs/check.h"

#include <chrono>
#include <thread>

constexpr int n = 30000;

__global__ void pass_on(int *data, int rank) {
  if (rank == 0)
    MPI_Recv(data, n, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  else
    MPI_Send(data, n, MPI_INT, 0, 0, MPI_COMM_WORLD);
  for (int i = threadIdx.x; i < n; i += blockDim.x)
    data[i] += 1;
}

int main(int argc, char **argv) {
  test::begin(&argc, &argv);
  constexpr int launches = 150;
  test::Array<int> data(n), other(1);
  if (test::rank == 1)
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
  for (int i = 0; i < launches && test::rank < 2; ++i) {
    pass_on<<<1, 32>>>(data.data(), test::rank);
    for (int k = 0; k < 10; ++k)
      CUDA_CHECK(cudaMemsetAsync(other.data(), k, sizeof(int)));
  }
  test::expect_equal(other.read()[0], 0x09090909, "what comes behind all of them");
  if (test::rank < 2)
    test::expect_each(data, [](int) { return launches; }, "data");
  return test::end();
}
