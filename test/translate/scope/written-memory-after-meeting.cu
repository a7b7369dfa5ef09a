// After the grid has met, it is uniform.
// RUN: rm -rf %t && split-file %s %t && cd %t
// RUN: %gmpi-translate --cuda-path=none in.cu -o out.cu --remarks 2>&1 | FileCheck check --implicit-check-not=in.cu:
// RUN: %compile-cuda out.cu
// RUN: %gmpi-translate --device=cpu in.cu -o cpu.cu --remarks 2>&1 | FileCheck check --implicit-check-not=in.cu:
// RUN: %compile-cpu cpu.cu

//--- in.cu
#include <mpi.h>
#include <cooperative_groups.h>
__device__ int counter;
__global__ void k(double *buf, int *flag, int peer) {
  if (threadIdx.x == 0)
    *flag = 1;
  atomicAdd(&counter, 1);
  cooperative_groups::this_grid().sync();
  if (*flag && counter == 7)
    MPI_Send(buf, 1, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD);
}
//--- check
CHECK: in.cu:10: MPI_Send: grid scope, queue: control and arguments are the same for all threads{{$}}
