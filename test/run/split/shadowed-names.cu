// Variables of one name in nested scopes, all live across calls.
// RUN: %gmpicxx %all-lowerings %s -o %t
// RUN: %each-lowering %ranks 1-3 %t
#include "../Inputs/shape.h"

__global__ void shadows(int *out, int rank, int value) {
  int thread = blockIdx.x * blockDim.x + threadIdx.x;
  int mine = rank, sum, kept = value + thread;
  for (int value = 0; value < 2; ++value) {
    int mine = rank + value, kept_before = kept;
    MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    {
      int value = thread + 10, sum = 1;
      MPI_Barrier(MPI_COMM_WORLD);
      kept += value + sum;
      if (int value = 2 * mine; value >= 0) {
        MPI_Barrier(MPI_COMM_WORLD);
        kept += 50 * value + thread;
      }
    }
    kept += 3 * sum + value + mine + kept_before;
  }
  for (int value = 0, sum = 4; value < 2; ++value) {
    MPI_Barrier(MPI_COMM_WORLD);
    kept += sum * value;
  }
  {
    double rank = thread * 2.0, value = 0.5;
    MPI_Barrier(MPI_COMM_WORLD);
    kept += int(rank + 2 * value);
  }
  out[thread] = kept + value + sum + mine;
}

static int serial(int thread) {
  int kept = 9 + thread, last = 0;
  for (int i = 0; i < 2; ++i) {
    int before = kept, mine = test::rank + i;
    last = test::over_ranks([&](int r) { return r + i; });
    kept += thread + 11 + 100 * mine + thread + 3 * last + i + mine + before;
  }
  return kept + 4 + 2 * thread + 1 + 9 + last + test::rank;
}

int main(int argc, char **argv) {
  test::begin(&argc, &argv);
  test::check_shape<int>(
      "shadowed-names",
      [](int *out, int blocks, int threads) { shadows<<<blocks, threads>>>(out, test::rank, 9); }, serial);
  return test::end();
}
