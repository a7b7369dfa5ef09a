// Calls in the operands of &&, || and ?:, made only where C++ evaluates them, and beside the comma.
// RUN: %gmpicxx %all-lowerings %s -o %t
// RUN: %each-lowering %ranks 1-3 %t
#include "../Inputs/shape.h"

__device__ int largest_of(int value) {
  int largest;
  MPI_Allreduce(&value, &largest, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  return largest;
}

/// A call that one rank makes and another leaves out hangs, or meets another one's: values differ.
__global__ void operands(int *out, int rank, int size, int *sent) {
  int thread = blockIdx.x * blockDim.x + threadIdx.x;
  int kept = thread;
  if (size > 1 && largest_of(rank) == size - 1)
    kept += 10;
  if (size == 1 || largest_of(rank + 5) > 5)
    kept += 20;
  bool both = largest_of(rank) < size && largest_of(rank) > 100 && largest_of(rank) > 1000;
  kept += both ? 1 : 2;
  int chosen = size % 2 ? largest_of(rank + 7) : largest_of(2 * rank) + 1;
  kept += chosen * (thread + 1);
  kept += thread < 3 ? 40 : 50;
  bool any = largest_of(rank) < 0 || (rank == 0 && MPI_Send(&chosen, 1, MPI_INT, rank, 3, MPI_COMM_WORLD) != 0);
  if (rank == 0)
    MPI_Recv(sent, 1, MPI_INT, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  int last = (kept += any, largest_of(rank + 4));
  out[thread] = kept + 1000 * last + (rank == 0 ? *sent : 0);
}

static int serial(int thread) {
  int size = test::size, kept = thread + (size > 1 ? 10 : 0) + 20 + 2;
  int chosen = size % 2 ? size + 6 : 2 * size - 1;
  kept += chosen * (thread + 1) + (thread < 3 ? 40 : 50);
  return kept + 1000 * (size + 3) + (test::rank == 0 ? chosen : 0);
}

int main(int argc, char **argv) {
  test::begin(&argc, &argv);
  test::Array<int> sent(1);
  test::check_shape<int>(
      "await-in-short-circuit",
      [&](int *out, int blocks, int threads) {
        operands<<<blocks, threads>>>(out, test::rank, test::size, sent.data());
      },
      serial);
  return test::end();
}
