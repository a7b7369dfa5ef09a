// A call in a for loop: counter, bound and sums live on.
// RUN: %gmpicxx %all-lowerings %s -o %t
// RUN: %each-lowering %ranks 1-3 %t
#include "../Inputs/shape.h"

__global__ void loop(int *out, int rank, int steps) {
  int thread = blockIdx.x * blockDim.x + threadIdx.x;
  int sum = 0, weighted = thread;
  for (int step = 0; step < steps; ++step) {
    int mine = rank * step + 1, all;
    int weight = thread + step;
    MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    sum += all;
    weighted += weight * all;
  }
  for (int step = 10; step > 4; step -= 2, sum *= 2)
    MPI_Barrier(MPI_COMM_WORLD);
  out[thread] = sum + weighted;
}

static int serial(int thread) {
  int sum = 0, weighted = thread;
  for (int step = 0; step < 6; ++step) {
    int all = step * test::size * (test::size - 1) / 2 + test::size;
    sum += all;
    weighted += (thread + step) * all;
  }
  return 8 * sum + weighted;
}

int main(int argc, char **argv) {
  test::begin(&argc, &argv);
  test::check_shape<int>(
      "await-in-for",
      [](int *out, int blocks, int threads) { loop<<<blocks, threads>>>(out, test::rank, 6); }, serial);
  return test::end();
}
