// `#pragma gmpi scope(...)` decides who makes a call. (Not with one rank: MPICH 4.0.2 does not wake a
// thread blocked in MPI_Recv for what another thread of its process sends it.)
// RUN: %gmpicxx %s -o %t
// RUN: %ranks 2-4 %t
#include "Inputs/check.h"

/// Each thread below n sends the same message: n messages.
__global__ void every_thread(int *value, int n, int next) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
#pragma gmpi scope(thread)
    MPI_Send(value, 1, MPI_INT, next, 0, MPI_COMM_WORLD);
  }
}

/// One message a block, though the call is the same for the whole grid.
__global__ void every_block(int *value, int next) {
#pragma gmpi scope(block)
  MPI_Send(value, 1, MPI_INT, next, 1, MPI_COMM_WORLD);
}

/// The peer comes out of an atomic, but is the same for all: the programmer knows.
__global__ void known_better(int *cell, int *value, int peer) {
  int to = atomicMax(cell, peer) >= 0 ? peer : peer;
#pragma gmpi scope(grid)
  MPI_Send(value, 1, MPI_INT, to, 2, MPI_COMM_WORLD);
}

static void receive(int messages, int tag) {
  for (int i = 0; i < messages; ++i) {
    int value = -1;
    MPI_Recv(&value, 1, MPI_INT, test::previous(), tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    test::expect_equal(value, 50 + test::previous(), "the value");
  }
}

int main(int argc, char **argv) {
  test::begin(&argc, &argv);
  test::Array<int> value(1, 50 + test::rank), cell(1, 0);
  every_thread<<<2, 10>>>(value.data(), 13, test::next());
  receive(13, 0);
  test::synchronize();
  every_block<<<5, 10>>>(value.data(), test::next());
  receive(5, 1);
  test::synchronize();
  known_better<<<3, 10>>>(cell.data(), value.data(), test::next());
  receive(1, 2);
  test::synchronize();
  return test::end();
}
