// Both indices, or the linear one, do.
// RUN: rm -rf %t && split-file %s %t && cd %t
// RUN: %gmpi-translate --cuda-path=none in.cu -o out.cu --remarks 2>&1 | FileCheck check --implicit-check-not=in.cu:
// RUN: %compile-cuda out.cu
// RUN: %gmpi-translate --device=cpu in.cu -o cpu.cu --remarks 2>&1 | FileCheck check --implicit-check-not=in.cu:
// RUN: %compile-cpu cpu.cu

//--- in.cu
#include <mpi.h>
__global__ void k(double *buf, int peer) {
  int t = threadIdx.y * blockDim.x + threadIdx.x;
  if (t == 0)
    MPI_Send(buf, 1, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD);
  if (threadIdx.x == 0 && threadIdx.y == 0)
    MPI_Send(buf, 1, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD);
}
//--- check
CHECK: in.cu:5: MPI_Send: thread scope, queue: under `t == 0` (line 4): one thread of each block{{$}}
CHECK-NEXT: in.cu:7: MPI_Send: thread scope, queue: under `threadIdx.y == 0` (line 6): one thread of each block{{$}}
