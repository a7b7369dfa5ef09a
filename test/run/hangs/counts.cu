// A rank that has less of a collective call than another, from kernel to kernel: who waits for it says so.
// LOWERINGS: queue (split kernels leave such communicators to the queue)
// RUN: %gmpicxx %s -o %t
// Fewer pieces, which would have been waited for by either: an error.
// RUN: env GMPI_PEER=1 GMPI_STALL=1 not %mpiexec -n 2 %t grid 100000 40000 2>&1 | FileCheck %s --check-prefix=GRID-PIECES
// RUN: env GMPI_PEER=1 GMPI_STALL=1 not %mpiexec -n 2 %t block 10000 20000 2>&1 | FileCheck %s --check-prefix=BLOCK-PIECES
// RUN: env GMPI_PEER=1 GMPI_STALL=1 not %mpiexec -n 2 %t bcast 20000 20001 2>&1 | FileCheck %s --check-prefix=BCAST-PIECES
// Fewer packets of the only one, which all blocks carry, or one block, or a warp, or a thread.
// RUN: env GMPI_PEER=1 GMPI_STALL=1 not %mpiexec -n 2 %t grid 9000 8000 2>&1 | FileCheck %s --check-prefix=GRID
// RUN: env GMPI_PEER=1 GMPI_STALL=1 not %mpiexec -n 2 %t block 9000 8000 2>&1 | FileCheck %s --check-prefix=BLOCK
// RUN: env GMPI_PEER=1 GMPI_STALL=1 not %mpiexec -n 2 %t grid 60 50 2>&1 | FileCheck %s --check-prefix=GRID
// RUN: env GMPI_PEER=1 GMPI_STALL=1 not %mpiexec -n 2 %t thread 60 50 2>&1 | FileCheck %s --check-prefix=THREAD
// Of a broadcast, the root's count matters.
// RUN: env GMPI_PEER=1 GMPI_STALL=1 not %mpiexec -n 2 %t bcast 9000 8000 2>&1 | FileCheck %s --check-prefix=BCAST
// RUN: env GMPI_PEER=1 %mpiexec -n 2 %t bcast 8000 9000 2>&1 | FileCheck %s --check-prefix=MORE
#include "../Inputs/hang.h"

__global__ void by_grid(int *data, int count) {
  MPI_Allreduce(MPI_IN_PLACE, data, count, MPI_INT, MPI_SUM, MPI_COMM_WORLD); // line 19
}
__global__ void by_block(int *data, int count) {
#pragma gmpi scope(block)
  MPI_Allreduce(MPI_IN_PLACE, data, count, MPI_INT, MPI_SUM, MPI_COMM_WORLD); // line 23
}
__global__ void by_thread(int *data, int count) {
  if (blockIdx.x == 0 && threadIdx.x == 0)
    MPI_Allreduce(MPI_IN_PLACE, data, count, MPI_INT, MPI_SUM, MPI_COMM_WORLD); // line 27
}
__global__ void broadcast(int *data, int count) {
  MPI_Bcast(data, count, MPI_INT, 1, MPI_COMM_WORLD); // line 30
}

int main(int argc, char **argv) {
  begin(&argc, &argv);
  int *data, count = std::atoi(argv[2 + rank]);
  cudaMalloc(&data, 100000 * sizeof(int));
  cudaMemset(data, 0, 100000 * sizeof(int));
  if (!strcmp(argv[1], "grid"))
    by_grid<<<3, 64>>>(data, count);
  else if (!strcmp(argv[1], "block"))
    by_block<<<1, 64>>>(data, count);
  else if (!strcmp(argv[1], "thread"))
    by_thread<<<3, 64>>>(data, count);
  else
    broadcast<<<3, 64>>>(data, count);
  return end();
}

// GRID-PIECES: gmpi: rank {{[01]}}: MPI_Allreduce at {{.*}}:19: another rank makes this call with another count{{$}}
// BLOCK-PIECES: gmpi: rank 1: MPI_Allreduce at {{.*}}:23: another rank makes this call with another count{{$}}
// BCAST-PIECES: gmpi: rank {{[01]}}: MPI_Bcast at {{.*}}:30: another rank makes this call with another count{{$}}
// GRID: gmpi: rank 0: waits in MPI_Allreduce (grid scope, {{[^ ]*}}:19, for {{[0-9]+}} s) for rank 1, which has finished{{$}}
// BLOCK: gmpi: rank 0: waits in MPI_Allreduce (block scope, {{[^ ]*}}:23, for {{[0-9]+}} s) for rank 1, which has finished{{$}}
// THREAD: gmpi: rank 0: waits in MPI_Allreduce (thread scope, {{[^ ]*}}:27, for {{[0-9]+}} s) for rank 1, which has finished{{$}}
// BCAST: gmpi: rank 0: waits in MPI_Bcast, root rank 1 (grid scope, {{[^ ]*}}:30, for {{[0-9]+}} s), and all other ranks have finished{{$}}
// MORE-DAG: rank 0 ends
// MORE-DAG: rank 1 ends
