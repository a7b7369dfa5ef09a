// A device function with calls in it: variables live across them in the function and in the kernel.
// RUN: %gmpicxx %all-lowerings %s -o %t
// RUN: %each-lowering %ranks 1-3 %t
#include "../Inputs/shape.h"

__device__ void exchange(int *data, int n, int next, int previous, int *kept) {
  int thread = blockIdx.x * blockDim.x + threadIdx.x, mine = 3 * thread;
  for (int i = 0; i < n; ++i) {
    int before = mine + i;
    MPI_Sendrecv(data + i, 1, MPI_INT, next, i, data + n + i, 1, MPI_INT, previous, i, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    mine = before + data[n + i];
  }
  kept[thread] += mine;
}

__global__ void calls(int *out, int *data, int next, int previous) {
  int thread = blockIdx.x * blockDim.x + threadIdx.x, doubled = 2 * thread;
  out[thread] = thread;
  exchange(data, 3, next, previous, out);
  MPI_Barrier(MPI_COMM_WORLD);
  out[thread] += 100 * doubled;
}

int main(int argc, char **argv) {
  test::begin(&argc, &argv);
  int r = test::rank, p = test::previous();
  test::Array<int> data(6);
  data.write({10 * r, 10 * r + 1, 10 * r + 2, -1, -1, -1});
  test::check_shape<int>(
      "device-function",
      [&](int *out, int blocks, int threads) {
        calls<<<blocks, threads>>>(out, data.data(), test::next(), test::previous());
      },
      [&](int thread) { return thread + 3 * thread + 3 + 30 * p + 3 + 200 * thread; });
  return test::end();
}
