// Device functions with calls that take references and pointers to their caller's variables.
// RUN: %gmpicxx %all-lowerings %s -o %t
// RUN: %each-lowering %ranks 1-3 %t
#include "../Inputs/shape.h"

struct State {
  int turns;
  double sum;
};

__device__ void step(State &state, const int &rank, int *count, int (&history)[4]) {
  int at = state.turns % 4;
  double mine = rank + 0.5, all;
  MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  state.sum += all;
  history[at] += ++state.turns;
  MPI_Barrier(MPI_COMM_WORLD);
  *count += at;
}
__device__ void twice(State &state, const int &rank, int *count, int (&history)[4]) {
  step(state, rank, count, history);
  State copy = state;
  step(copy, rank + 1, count, history);
  state.sum += copy.sum;
}
__device__ int &larger(int &a, int &b) {
  MPI_Barrier(MPI_COMM_WORLD);
  return a > b ? a : b;
}

__global__ void calls(double *out, int rank) {
  int thread = blockIdx.x * blockDim.x + threadIdx.x;
  State state{0, thread * 1.0};
  int count = thread, history[4] = {thread, 1, 2, 3};
  for (int i = 0; i < 2; ++i)
    twice(state, rank, &count, history);
  int a = thread, b = 5;
  larger(a, b) += 100;
  MPI_Barrier(MPI_COMM_WORLD);
  out[thread] = state.sum + state.turns + count + history[0] + 2 * history[1] + 3 * history[2] + a + 2 * b;
}

static double serial(int t) {
  double one = test::over_ranks([](int r) { return r + 0.5; }), two = one + test::size, sum = t;
  for (int i = 0; i < 2; ++i) {
    sum += one;
    sum += sum + two;
  }
  int a = t, b = 5;
  (t > 5 ? a : b) += 100;
  return sum + 2 + (t + 0 + 1 + 1 + 2) + (t + 1) + 2 * (1 + 2 + 2) + 3 * (2 + 3) + a + 2 * b;
}

int main(int argc, char **argv) {
  test::begin(&argc, &argv);
  test::check_shape<double>(
      "device-function-reference-parameters",
      [](double *out, int blocks, int threads) { calls<<<blocks, threads>>>(out, test::rank); }, serial);
  return test::end();
}
