// While one thread is in its call, its block's __shared__ memory is saved without it; others return early.
// RUN: %gmpicxx %all-lowerings %s -o %t
// RUN: %each-lowering %ranks 1-3 %t
#include "../Inputs/shape.h"

#include <cooperative_groups.h>
namespace cg = cooperative_groups;

__device__ void send_around(int *data, int next, int previous) {
  if (threadIdx.x == 0 && blockIdx.x == 0)
    MPI_Sendrecv(data, 1, MPI_INT, next, 1, data + 1, 1, MPI_INT, previous, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  cg::this_grid().sync();
}

__global__ void keep_shared(int *out, int *data, int next, int previous) {
  __shared__ int tile[64];
  extern __shared__ int more[];
  int thread = blockIdx.x * blockDim.x + threadIdx.x;
  tile[threadIdx.x] = thread;
  if (threadIdx.x == 0) {
    more[0] = 1000 * (blockIdx.x + 1);
    if (blockIdx.x == 0)
      data[0] = 7;
  }
  __syncthreads();
  if (threadIdx.x % 5 == 3) {
    out[thread] = -1;
    return;
  }
  if (thread == 0)
    MPI_Sendrecv(data, 1, MPI_INT, next, 0, data + 1, 1, MPI_INT, previous, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  cg::this_grid().sync();
  int kept = data[1] + tile[blockDim.x - 1 - threadIdx.x] + more[0];
  send_around(data, next, previous);
  MPI_Barrier(MPI_COMM_WORLD);
  kept += tile[threadIdx.x];
  if (thread == 1) {
    out[thread] = kept;
    return;
  }
  if (thread == 0)
    MPI_Sendrecv(data, 1, MPI_INT, next, 2, data + 1, 1, MPI_INT, previous, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Barrier(MPI_COMM_WORLD);
  out[thread] = kept + more[0];
}

int main(int argc, char **argv) {
  test::begin(&argc, &argv);
  int next = test::next(), previous = test::previous();
  test::Array<int> data(2);
  int *memory = data.data();
  test::check_shape<int>(
      "keep shared",
      [&](int *out, int blocks, int threads) {
        void *arguments[] = {&out, &memory, &next, &previous};
        CUDA_CHECK(cudaLaunchCooperativeKernel(keep_shared, blocks, threads, arguments, 16 * sizeof(int)));
      },
      [&](int t, test::Grid grid) {
        int in = t % grid.threads, block = t / grid.threads, dynamic = 1000 * (block + 1);
        if (in % 5 == 3)
          return -1;
        int kept = 7 + block * grid.threads + grid.threads - 1 - in + dynamic + t;
        return t == 1 ? kept : kept + dynamic;
      });
  return test::end();
}
