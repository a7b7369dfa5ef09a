// Calls in the branches of if and else, nested; what is declared in a branch lives on in it.
// RUN: %gmpicxx %all-lowerings %s -o %t
// RUN: %each-lowering %ranks 1-3 %t
#include "../Inputs/shape.h"

/// Even ranks send to the odd one behind them, if there is one.
__global__ void branches(int *out, int rank, int size) {
  int thread = blockIdx.x * blockDim.x + threadIdx.x;
  int kept = 7 * thread, got = -1;
  if (rank % 2 == 0) {
    int before = kept + 1;
    if (rank + 1 < size) {
      int value = 10 + rank;
      MPI_Send(&value, 1, MPI_INT, rank + 1, 0, MPI_COMM_WORLD);
      kept += before + value;
    } else {
      kept += 5;
    }
    kept -= before;
  } else {
    int twice = 2 * thread;
    MPI_Recv(&got, 1, MPI_INT, rank - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    kept += 100 * got + twice;
  }
  if (thread % 2)
    kept += 3;
  if (got < 0)
    MPI_Allreduce(&size, &got, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  else if (int unused = 1; unused)
    MPI_Allreduce(&rank, &got, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  out[thread] = kept + got;
}

static int serial(int thread) {
  int total = test::over_ranks([](int r) { return r % 2 == 0 ? test::size : r; });
  int odd = thread % 2 ? 3 : 0;
  if (test::rank % 2 == 1)
    return 9 * thread + 100 * (10 + test::rank - 1) + odd + total;
  bool sends = test::rank + 1 < test::size;
  return 7 * thread + (sends ? 10 + test::rank : 4 - 7 * thread) + odd + total;
}

int main(int argc, char **argv) {
  test::begin(&argc, &argv);
  test::check_shape<int>(
      "await-if-else",
      [](int *out, int blocks, int threads) {
        branches<<<blocks, threads>>>(out, test::rank, test::size);
      },
      serial);
  return test::end();
}
