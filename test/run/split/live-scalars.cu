// Scalars of every kind live across calls, uniform and of each thread; more of them than registers hold.
// RUN: %gmpicxx %all-lowerings %s -o %t
// RUN: %each-lowering %ranks 1-3 %t
#include "../Inputs/shape.h"

__global__ void scalars(double *out, int rank) {
  int thread = blockIdx.x * blockDim.x + threadIdx.x;
  bool odd = thread % 2;
  char letter = 'a' + thread % 26;
  short small = 3 * thread;
  unsigned few = thread + 7u;
  float half = thread * 0.5f;
  double quarter = thread * 0.25;
  long long far = 1ll << 40 | thread;
  int uniform = 11 * (rank + 1);
  int unset; // assigned on one path only
  int *where = nullptr;
  for (int i = 0; i < 3; ++i) {
    int mine = uniform + i, sum;
    MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (i == 0)
      unset = sum;
    odd = !odd;
    letter += 1;
    small -= i;
    few *= 3;
    half += quarter;
    quarter *= 2;
    far += far >> 20;
    uniform += i;
    where = i == 1 ? &unset : where;
    MPI_Barrier(MPI_COMM_WORLD);
    unset += i;
  }
  out[thread] = odd + letter + small + few + half + quarter + double(far) + uniform + unset + *where;
}

static double serial(int thread) {
  int unset = 0, uniform = 11 * (test::rank + 1);
  double half = thread * 0.5, quarter = thread * 0.25;
  long long far = (1ll << 40) + thread;
  for (int i = 0; i < 3; ++i) {
    half += quarter;
    quarter *= 2;
    far += far / (1 << 20);
  }
  unset = 11 * test::size * (test::size + 1) / 2 + 3;
  uniform += 3;
  return (thread % 2 == 0) + ('a' + thread % 26 + 3) + (3 * thread - 3) + 27.0 * (thread + 7) + half +
         quarter + double(far) + uniform + 2 * unset;
}

int main(int argc, char **argv) {
  test::begin(&argc, &argv);
  test::check_shape<double>(
      "live-scalars",
      [](double *out, int blocks, int threads) { scalars<<<blocks, threads>>>(out, test::rank); }, serial);
  return test::end();
}
