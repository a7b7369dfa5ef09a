// What lies in __shared__ memory is uniform in the block at most.
// RUN: rm -rf %t && split-file %s %t && cd %t
// RUN: %gmpi-translate --cuda-path=none in.cu -o out.cu --remarks 2>&1 | FileCheck check --implicit-check-not=in.cu:
// RUN: %compile-cuda out.cu
// RUN: %gmpi-translate --device=cpu in.cu -o cpu.cu --remarks 2>&1 | FileCheck check --implicit-check-not=in.cu:
// RUN: %compile-cpu cpu.cu

//--- in.cu
#include <mpi.h>
__global__ void k(double *buf, int n, int peer) {
  __shared__ int command;
  __shared__ double all[32];
  if (threadIdx.x == 0)
    MPI_Recv(&command, 1, MPI_INT, blockIdx.x, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  __syncthreads();
  if (command)
    MPI_Send(all, n, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD);
}
//--- check
CHECK: in.cu:6: MPI_Recv: thread scope, queue: under `threadIdx.x == 0` (line 5): one thread of each block{{$}}
CHECK-NEXT: in.cu:9: MPI_Send: block scope, queue: `all` (line 9), which is __shared__: each block has its own{{$}}
