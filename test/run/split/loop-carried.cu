// State carried from turn to turn: each turn reads what the last one left, of several variables at once.
// RUN: %gmpicxx %all-lowerings %s -o %t
// RUN: %each-lowering %ranks 1-3 %t
#include "../Inputs/shape.h"

__global__ void carry(double *out, int rank, int turns) {
  int thread = blockIdx.x * blockDim.x + threadIdx.x;
  int before = 1, current = 1, last = -1;
  double average = 0;
  unsigned state = thread + 1;
  bool flip = thread % 2;
  for (int turn = 0; turn < turns; ++turn) {
    int mine = current + rank, sum;
    int next = before + current;
    state = state * 1664525u + 1013904223u;
    MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    before = current;
    current = next + (last < 0 ? 0 : last % 3);
    average = (average * turn + (flip ? sum : state % 1024)) / 2;
    flip = !flip || last == sum;
    last = sum;
  }
  out[thread] = before + 10.0 * current + average + state % 65536 + flip + last;
}

static double serial(int thread) {
  int a[2] = {1, 1}, last = -1;
  double average = 0;
  unsigned state = thread + 1;
  bool flip = thread % 2;
  for (int turn = 0; turn < 6; ++turn) {
    int sum = a[1] * test::size + test::size * (test::size - 1) / 2;
    state = state * 1664525u + 1013904223u;
    int next = a[0] + a[1] + (last < 0 ? 0 : last % 3);
    a[0] = a[1];
    a[1] = next;
    average = (average * turn + (flip ? sum : state % 1024)) / 2;
    flip = !flip || last == sum;
    last = sum;
  }
  return a[0] + 10.0 * a[1] + average + state % 65536 + flip + last;
}

int main(int argc, char **argv) {
  test::begin(&argc, &argv);
  test::check_shape<double>(
      "loop-carried",
      [](double *out, int blocks, int threads) { carry<<<blocks, threads>>>(out, test::rank, 6); }, serial);
  return test::end();
}
