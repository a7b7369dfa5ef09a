// MPI_Waitall on an array of requests that earlier calls made, with statuses; some of them null.
// RUN: %gmpicxx %all-lowerings %s -o %t
// RUN: %each-lowering %ranks 1-3 %t
#include "../Inputs/shape.h"

__global__ void all(int *out, int *data, int n, int rank, int size) {
  int thread = blockIdx.x * blockDim.x + threadIdx.x, kept = 2 * thread;
  MPI_Request requests[9];
  MPI_Status statuses[9];
  for (int i = 0; i < 9; ++i)
    requests[i] = MPI_REQUEST_NULL;
  for (int i = thread; i < n; i += gridDim.x * blockDim.x)
    data[i] = 10 * rank + i;
  for (int r = 0; r < size; ++r) {
    MPI_Irecv(data + (r + 1) * n, n, MPI_INT, r, 7, MPI_COMM_WORLD, &requests[r]);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  for (int r = 0; r < size; ++r)
    MPI_Isend(data, n, MPI_INT, r, 7, MPI_COMM_WORLD, requests + 4 + r);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Waitall(9, requests, statuses);
  for (int r = 0; r < size; ++r) {
    int count;
    MPI_Get_count(&statuses[r], MPI_INT, &count);
    kept += 100 * statuses[r].MPI_SOURCE + count + data[(r + 1) * n + thread % n];
  }
  MPI_Barrier(MPI_COMM_WORLD);
  for (int i = 0; i < 9; ++i)
    kept += requests[i] == MPI_REQUEST_NULL;
  out[thread] = kept;
}

int main(int argc, char **argv) {
  test::begin(&argc, &argv);
  int n = 50;
  test::Array<int> data((test::size + 1) * n);
  test::check_shape<int>(
      "waitall-across",
      [&](int *out, int blocks, int threads) {
        all<<<blocks, threads>>>(out, data.data(), n, test::rank, test::size);
      },
      [&](int t) { return 2 * t + 9 + test::over_ranks([&](int r) { return 100 * r + n + 10 * r + t % n; }); });
  return test::end();
}
