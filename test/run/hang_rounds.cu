// A rank that takes part in fewer rounds of a collective call than another, from kernel to kernel: who waits
// for it says so.
// LOWERINGS: queue (split kernels leave such communicators to the queue)
// RUN: %gmpicxx %s -o %t
// RUN: env GMPI_PEER=1 GMPI_STALL=1 not %mpiexec -n 2 %t grid 2>&1 | FileCheck %s --check-prefix=GRID
// RUN: env GMPI_PEER=1 GMPI_STALL=1 not %mpiexec -n 2 %t block 2>&1 | FileCheck %s --check-prefix=BLOCK
#include "Inputs/hang.h"

__global__ void by_grid(int *data, int count) {
  MPI_Allreduce(MPI_IN_PLACE, data, count, MPI_INT, MPI_SUM, MPI_COMM_WORLD); // line 10
}
__global__ void by_block(int *data, int count) {
#pragma gmpi scope(block)
  MPI_Allreduce(MPI_IN_PLACE, data, count, MPI_INT, MPI_SUM, MPI_COMM_WORLD); // line 14
}

int main(int argc, char **argv) {
  begin(&argc, &argv);
  int *data, count = rank == 0 ? 100000 : 40000;
  cudaMalloc(&data, 100000 * sizeof(int));
  cudaMemset(data, 0, 100000 * sizeof(int));
  if (!strcmp(argv[1], "grid"))
    by_grid<<<3, 64>>>(data, count);
  else
    by_block<<<1, 64>>>(data, count);
  return end();
}

// GRID: gmpi: rank 0: waits in MPI_Allreduce (grid scope, {{[^ ]*}}:10, for {{[0-9]+}} s) for rank 1, which has finished{{$}}
// BLOCK: gmpi: rank 0: waits in MPI_Allreduce (block scope, {{[^ ]*}}:14, for {{[0-9]+}} s) for rank 1, which has finished{{$}}
