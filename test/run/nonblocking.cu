// MPI_Isend and MPI_Irecv with MPI_Wait, MPI_Waitall and MPI_Test, at every scope.
// RUN: %gmpicxx %s -o %t
// RUN: %ranks 1-4 %t
// RUN: env GMPI_PEER=1 %ranks 2-3 %t
#include "Inputs/check.h"

__global__ void wait_grid(int *out, int *in, int n, int rank, int next, int previous) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    out[i] = 100 * rank + i;
  MPI_Request receive, send;
  MPI_Irecv(in, n, MPI_INT, previous, 0, MPI_COMM_WORLD, &receive);
  MPI_Isend(out, n, MPI_INT, next, 0, MPI_COMM_WORLD, &send);
  MPI_Wait(&receive, MPI_STATUS_IGNORE);
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    in[i] += receive == MPI_REQUEST_NULL ? 1 : 1000000;
  MPI_Wait(&send, MPI_STATUS_IGNORE);
}

__global__ void waitall_grid(int *out, int *in, int n, int rank, int next, int previous) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    out[i] = 100 * rank + i;
  MPI_Request requests[3];
  MPI_Irecv(in, n / 2, MPI_INT, previous, 1, MPI_COMM_WORLD, &requests[0]);
  MPI_Irecv(in + n / 2, n - n / 2, MPI_INT, previous, 2, MPI_COMM_WORLD, &requests[1]);
  MPI_Send(out + n / 2, n - n / 2, MPI_INT, next, 2, MPI_COMM_WORLD);
  MPI_Isend(out, n / 2, MPI_INT, next, 1, MPI_COMM_WORLD, &requests[2]);
  MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    in[i] += 1;
}

__global__ void test_grid(int *out, int *in, int n, int rank, int next, int previous) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    out[i] = 100 * rank + i;
  MPI_Request receive, send;
  MPI_Irecv(in, n, MPI_INT, previous, 3, MPI_COMM_WORLD, &receive);
  MPI_Isend(out, n, MPI_INT, next, 3, MPI_COMM_WORLD, &send);
  int done = 0;
  while (!done)
    MPI_Test(&receive, &done, MPI_STATUS_IGNORE);
  done = 0;
  while (!done)
    MPI_Test(&send, &done, MPI_STATUS_IGNORE);
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    in[i] += 1;
}

__global__ void wait_block(int *out, int *in, int n, int rank, int next, int previous) {
  int part = n / gridDim.x, first = blockIdx.x * part;
  for (int i = first + threadIdx.x; i < first + part; i += blockDim.x)
    out[i] = 100 * rank + i;
  MPI_Request requests[2];
  MPI_Irecv(in + first, part, MPI_INT, previous, blockIdx.x, MPI_COMM_WORLD, requests);
  MPI_Isend(out + first, part, MPI_INT, next, blockIdx.x, MPI_COMM_WORLD, requests + 1);
  int done = 0;
  while (!done)
    MPI_Test(requests, &done, MPI_STATUS_IGNORE);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  for (int i = first + threadIdx.x; i < first + part; i += blockDim.x)
    in[i] += 1;
}

__global__ void wait_thread(int *out, int *in, int n, int rank, int next, int previous) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  out[i] = 100 * rank + i;
  MPI_Request receive, send;
  MPI_Irecv(in + i, 1, MPI_INT, previous, i, MPI_COMM_WORLD, &receive);
  MPI_Isend(out + i, 1, MPI_INT, next, i, MPI_COMM_WORLD, &send);
  MPI_Wait(&send, MPI_STATUS_IGNORE);
  int done = 0;
  while (!done)
    MPI_Test(&receive, &done, MPI_STATUS_IGNORE);
  in[i] += 1;
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
  for (int blocks : {1, 3}) {
    check(wait_grid, "wait_grid", 90, blocks, 32);
    check(wait_grid, "wait_grid", 30000, blocks, 32);
    check(waitall_grid, "waitall_grid", 90, blocks, 32);
    check(waitall_grid, "waitall_grid", 30000, blocks, 32);
    check(test_grid, "test_grid", 90, blocks, 32);
    check(test_grid, "test_grid", 30000, blocks, 32);
    check(wait_block, "wait_block", 90, blocks, 32);
    check(wait_block, "wait_block", 30000, blocks, 32);
    check(wait_thread, "wait_thread", 90, blocks, 32 * 3 / blocks);
  }
  return test::end();
}
