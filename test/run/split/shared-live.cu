// Static __shared__ variables live across calls: arrays, scalars, structs; of a block each; read by other threads
// than wrote them, and after some threads of the block returned.
// RUN: %gmpicxx %all-lowerings %s -o %t
// RUN: %each-lowering %ranks 1-3 %t
#include "../Inputs/shape.h"

struct Cell {
  double value;
  char name;
};

__global__ void shared(double *out, int rank, int steps) {
  __shared__ double numbers[64];
  __shared__ int turn;
  __shared__ Cell cells[3];
  int thread = blockIdx.x * blockDim.x + threadIdx.x, n = blockDim.x;
  numbers[threadIdx.x] = thread;
  if (threadIdx.x == 0) {
    turn = 100 * blockIdx.x;
    for (int i = 0; i < 3; ++i)
      cells[i] = {0.5 * i, char('a' + i)};
  }
  for (int step = 0; step < steps; ++step) {
    int mine = rank + step, sum;
    MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    double beside = numbers[(threadIdx.x + 1) % n];
    __syncthreads();
    numbers[threadIdx.x] = beside + sum;
    if (threadIdx.x == 0) {
      turn += step;
      cells[step % 3].value += blockIdx.x;
    }
  }
  out[thread] = -1;
  if (threadIdx.x % 4 == 1)
    return;
  MPI_Barrier(MPI_COMM_WORLD);
  out[thread] = numbers[(threadIdx.x + 1) % n] + turn + cells[0].value + cells[2].value + cells[1].name;
}

static double serial(int thread, test::Grid grid) {
  int block = thread / grid.threads, sums = 0;
  if (thread % grid.threads % 4 == 1)
    return -1;
  for (int step = 0; step < 4; ++step)
    sums += test::over_ranks([&](int r) { return r + step; });
  int from = block * grid.threads + (thread % grid.threads + 5) % grid.threads;
  return from + sums + 100 * block + 6 + (0 + 2 * block) + (1 + block) + 'b';
}

int main(int argc, char **argv) {
  test::begin(&argc, &argv);
  test::check_shape<double>(
      "shared-live",
      [](double *out, int blocks, int threads) { shared<<<blocks, threads>>>(out, test::rank, 4); }, serial);
  return test::end();
}
