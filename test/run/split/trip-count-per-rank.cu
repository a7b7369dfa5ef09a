// A loop that goes round as often as its rank says: the ranks make different numbers of calls.
// RUN: %gmpicxx %all-lowerings %s -o %t
// RUN: %each-lowering %ranks 1-3 %t
#include "../Inputs/shape.h"

/// Rank r sends r numbers to rank 0, which takes them as they come.
__global__ void gather(int *out, int rank, int size) {
  int thread = blockIdx.x * blockDim.x + threadIdx.x;
  int kept = thread, expected = rank == 0 ? size * (size - 1) / 2 : 0;
  for (int i = 0; i < rank; ++i) {
    int value = 10 * rank + i;
    MPI_Send(&value, 1, MPI_INT, 0, i, MPI_COMM_WORLD);
    kept += value;
  }
  while (expected-- > 0) {
    int value;
    MPI_Status status;
    MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
    kept += value + 1000 * status.MPI_SOURCE + 100 * status.MPI_TAG;
  }
  MPI_Barrier(MPI_COMM_WORLD);
  out[thread] = kept;
}

static int serial(int thread) {
  int kept = thread;
  for (int r = 1; r < test::size; ++r)
    for (int i = 0; i < r; ++i)
      if (test::rank == 0)
        kept += 10 * r + i + 1000 * r + 100 * i;
      else if (test::rank == r)
        kept += 10 * r + i;
  return kept;
}

int main(int argc, char **argv) {
  test::begin(&argc, &argv);
  test::check_shape<int>(
      "trip-count-per-rank",
      [](int *out, int blocks, int threads) { gather<<<blocks, threads>>>(out, test::rank, test::size); },
      serial);
  return test::end();
}
