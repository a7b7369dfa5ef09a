// Messages that do not fit beside a request: through pinned staging memory, and in pieces where there
// is little of it or none.
// RUN: %gmpicxx %s -o %t
// RUN: %ranks 1-4 %t
// RUN: env GMPI_PEER=1 %ranks 2-3 %t
// RUN: env GMPI_STAGING_MB=1 %ranks 2 %t
// RUN: env GMPI_STAGING_MB=0 %ranks 1-2 %t
#include "Inputs/check.h"

__global__ void by_grid(int *out, int *in, int n, int rank, int next, int previous) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    out[i] = 3 * rank + i;
  MPI_Sendrecv(out, n, MPI_INT, next, 0, in, n, MPI_INT, previous, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Bcast(out, n, MPI_INT, 0, MPI_COMM_WORLD);
  MPI_Allreduce(MPI_IN_PLACE, out, n, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}

__global__ void by_block(int *out, int *in, int n, int rank, int next, int previous) {
  int part = n / gridDim.x, first = blockIdx.x * part;
  for (int i = first + threadIdx.x; i < first + part; i += blockDim.x)
    out[i] = 3 * rank + i;
  MPI_Request requests[2];
  MPI_Irecv(in + first, part, MPI_INT, previous, blockIdx.x, MPI_COMM_WORLD, &requests[0]);
  MPI_Isend(out + first, part, MPI_INT, next, blockIdx.x, MPI_COMM_WORLD, &requests[1]);
  MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
  MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
}

__global__ void by_thread(int *out, int *in, int n, int rank, int next, int previous) {
  int part = n / blockDim.x, first = threadIdx.x * part;
  for (int i = first; i < first + part; ++i)
    out[i] = 3 * rank + i;
  MPI_Sendrecv(out + first, part, MPI_INT, next, threadIdx.x, in + first, part, MPI_INT, previous,
               threadIdx.x, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void check(int n) {
  test::Array<int> out(n), in(n);
  by_grid<<<3, 64>>>(out.data(), in.data(), n, test::rank, test::next(), test::previous());
  test::synchronize();
  test::expect_each(in, [](int i) { return 3 * test::previous() + i; }, "by_grid");
  test::expect_each(out, [](int i) { return i * test::size; }, "by_grid, reduced");
  in.write(std::vector<int>(n));
  by_block<<<4, 64>>>(out.data(), in.data(), n, test::rank, test::next(), test::previous());
  test::synchronize();
  test::expect_each(in, [](int i) { return 3 * test::previous() + i; }, "by_block");
  in.write(std::vector<int>(n));
  by_thread<<<1, 4>>>(out.data(), in.data(), n, test::rank, test::next(), test::previous());
  test::synchronize();
  test::expect_each(in, [](int i) { return 3 * test::previous() + i; }, "by_thread");
}

int main(int argc, char **argv) {
  test::begin(&argc, &argv);
  check(8192);    // a whole message just fits
  check(8200);    // and just does not
  check(100000);
  check(1000000); // several pieces
  return test::end();
}
