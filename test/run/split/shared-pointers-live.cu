// Pointers into __shared__ memory, swapped and live across calls: into dynamic memory and a static array.
// RUN: %gmpicxx %all-lowerings %s -o %t
// RUN: %each-lowering %ranks 1-3 %t
#include "../Inputs/shape.h"

__global__ void shared(int *out, int rank, int steps) {
  extern __shared__ int memory[];
  __shared__ int total, own[64];
  int *mine = own + threadIdx.x;
  int thread = blockIdx.x * blockDim.x + threadIdx.x, n = blockDim.x;
  int *front = memory, *back = memory + n;
  *mine = 5 * threadIdx.x;
  front[threadIdx.x] = thread;
  back[threadIdx.x] = 0;
  if (threadIdx.x == 0)
    total = blockIdx.x;
  for (int step = 0; step < steps; ++step) {
    int mine = rank + step, sum;
    MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    back[n - 1 - threadIdx.x] = front[threadIdx.x] + sum;
    __syncthreads();
    if (threadIdx.x == 0)
      total += sum;
    int *t = front;
    front = back;
    back = t;
  }
  MPI_Barrier(MPI_COMM_WORLD);
  out[thread] = 2 * front[threadIdx.x] + back[threadIdx.x] + 1000 * total + *mine;
}

static int serial(int thread, test::Grid grid) {
  int block = thread / grid.threads, lane = thread % grid.threads, sums[3];
  int mirrored = block * grid.threads + grid.threads - 1 - lane;
  for (int step = 0; step < 3; ++step)
    sums[step] = test::over_ranks([&](int r) { return r + step; });
  int all = sums[0] + sums[1] + sums[2];
  return 2 * (mirrored + all) + thread + sums[0] + sums[1] + 1000 * (block + all) + 5 * lane;
}

int main(int argc, char **argv) {
  test::begin(&argc, &argv);
  test::check_shape<int>(
      "shared-pointers-live",
      [](int *out, int blocks, int threads) {
        shared<<<blocks, threads, 2 * threads * sizeof(int)>>>(out, test::rank, 3);
      },
      serial);
  return test::end();
}
