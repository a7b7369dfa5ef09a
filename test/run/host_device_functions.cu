// __host__ __device__ functions with MPI: one source, called by the host and by kernels.
// RUN: %gmpicxx %s -o %t
// RUN: %ranks 1-4 %t
#include "Inputs/check.h"

__host__ __device__ inline int sum_over_ranks(int value, MPI_Comm comm) {
  int sum = 0;
  MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, comm);
  return sum;
}

__host__ __device__ inline int neighbours(int *data, MPI_Comm comm) {
  int rank, size;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  MPI_Status status;
  MPI_Sendrecv(data, 1, MPI_INT, (rank + 1) % size, 3, data + 1, 1, MPI_INT, (rank + size - 1) % size, 3,
               comm, &status);
  return status.MPI_SOURCE;
}

__global__ void kernel(int *data, MPI_Comm comm) {
  int sum = sum_over_ranks(5, comm);
  int source = neighbours(data, comm);
  if (blockIdx.x == 0 && threadIdx.x == 0) {
    data[2] = sum;
    data[3] = source;
  }
}

int main(int argc, char **argv) {
  test::begin(&argc, &argv);
  int host[4] = {test::rank, -1, 0, 0};
  host[2] = sum_over_ranks(5, MPI_COMM_WORLD);
  host[3] = neighbours(host, MPI_COMM_WORLD);
  test::Array<int> data(4, test::rank);
  kernel<<<2, 32>>>(data.data(), MPI_COMM_WORLD);
  test::synchronize();
  int wanted[] = {test::rank, test::previous(), 5 * test::size, test::previous()};
  for (int i = 0; i < 4; ++i)
    test::expect_equal(host[i], wanted[i], "on the host");
  test::expect_each(data, [&](int i) { return wanted[i]; }, "in the kernel");
  return test::end();
}
