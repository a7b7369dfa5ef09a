// Variables declared in the headers of if, else if, switch, for and while, live across the call inside.
// RUN: %gmpicxx %all-lowerings %s -o %t
// RUN: %each-lowering %ranks 1-3 %t
#include "../Inputs/shape.h"

__global__ void headers(int *out, int rank, int n) {
  int thread = blockIdx.x * blockDim.x + threadIdx.x;
  int kept = thread, mine = rank, sum;
  if (int twice = 2 * n, own = twice + thread; twice > 3) {
    MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    kept += twice + own + sum;
  }
  if (int none = n - n) {
    kept = none;
  } else if (int some = n + 1) {
    MPI_Barrier(MPI_COMM_WORLD);
    kept += some + none;
  } else {
    MPI_Barrier(MPI_COMM_WORLD);
    kept -= some;
  }
  switch (int which = n % 2, own = thread; which) {
  case 0:
    MPI_Barrier(MPI_COMM_WORLD);
    kept += own;
    break;
  case 1:
    MPI_Barrier(MPI_COMM_WORLD);
    kept += 2 * own + which;
  }
  switch (int which = n) {
  case 5:
    MPI_Barrier(MPI_COMM_WORLD);
    kept += 10 * which;
  }
  for (int i = 0, end = n - 2, own = thread; i < end; ++i, own += 2) {
    MPI_Barrier(MPI_COMM_WORLD);
    kept += own * end;
  }
  while (int left = n--) {
    MPI_Barrier(MPI_COMM_WORLD);
    kept += left;
  }
  for (int i = 0; int left = 2 - i; ++i) {
    MPI_Barrier(MPI_COMM_WORLD);
    kept += 100 * left;
  }
  out[thread] = kept;
}

int main(int argc, char **argv) {
  test::begin(&argc, &argv);
  test::check_shape<int>(
      "declared-in-headers",
      [](int *out, int blocks, int threads) { headers<<<blocks, threads>>>(out, test::rank, 5); },
      [](int t) {
        int sum = test::size * (test::size - 1) / 2;
        return t + 10 + (10 + t) + sum + 6 + (2 * t + 1) + 50 + 3 * (3 * t + 6) + 15 + 300;
      });
  return test::end();
}
