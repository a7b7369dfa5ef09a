// Device functions with calls that call others with calls, three deep, each with variables of its own.
// RUN: %gmpicxx %all-lowerings %s -o %t
// RUN: %each-lowering %ranks 1-3 %t
#include "../Inputs/shape.h"

__device__ int innermost(int value, int thread) {
  int own = thread + value, sum;
  MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  return own * sum;
}
__device__ int middle(int value, int thread, int turns) {
  int kept = 5;
  for (int i = 0; i < turns; ++i) {
    int own = thread * i;
    kept += innermost(value + i, thread) + own;
    if (i == 1) {
      MPI_Barrier(MPI_COMM_WORLD);
      kept += own;
    }
  }
  return kept;
}
__device__ int outer(int value, int thread) {
  int own = 7 * thread;
  int first = middle(value, thread, 2);
  own += innermost(value, thread);
  int second = value > 1 ? middle(value > 2 ? 1 : value, thread, 1) : first;
  return own + first + 10 * second;
}

__global__ void calls(int *out, int n) {
  int thread = blockIdx.x * blockDim.x + threadIdx.x, own = thread + 1;
  int kept = 0;
  for (int i = 1; i <= n; ++i)
    kept += outer(i, thread) * i;
  MPI_Barrier(MPI_COMM_WORLD);
  out[thread] = kept + own;
}

static int innermost_serially(int value, int t) { return (t + value) * value * test::size; }
static int middle_serially(int value, int t, int turns) {
  int kept = 5 + innermost_serially(value, t);
  return turns == 1 ? kept : kept + innermost_serially(value + 1, t) + 2 * t;
}

int main(int argc, char **argv) {
  test::begin(&argc, &argv);
  test::check_shape<int>(
      "device-function-nested",
      [](int *out, int blocks, int threads) { calls<<<blocks, threads>>>(out, 3); },
      [](int t) {
        int kept = t + 1;
        for (int i = 1; i <= 3; ++i) {
          int second = i > 1 ? middle_serially(i > 2 ? 1 : i, t, 1) : middle_serially(i, t, 2);
          kept += i * (7 * t + innermost_serially(i, t) + middle_serially(i, t, 2) + 10 * second);
        }
        return kept;
      });
  return test::end();
}
