// Paths also meet within a switch.
// RUN: rm -rf %t && split-file %s %t && cd %t
// RUN: %gmpi-translate --cuda-path=none in.cu -o out.cu --remarks 2>&1 | FileCheck check --implicit-check-not=in.cu:
// RUN: %compile-cuda out.cu
// RUN: %gmpi-translate --device=cpu in.cu -o cpu.cu --remarks 2>&1 | FileCheck check --implicit-check-not=in.cu:
// RUN: %compile-cpu cpu.cu

//--- in.cu
#include <mpi.h>
__global__ void k(double *buf, int n, int peer) {
  int x = 0;
  switch (threadIdx.x) {
  case 0:
    x = 1;
  case 1:
    MPI_Send(buf, x, MPI_DOUBLE, peer, threadIdx.x, MPI_COMM_WORLD);
    break;
  default:
    break;
  }
  MPI_Send(buf, x, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD);
}
//--- check
CHECK: in.cu:8: MPI_Send: thread scope, queue: `x` is assigned under `threadIdx.x` (line 4){{$}}
CHECK-NEXT: in.cu:13: MPI_Send: thread scope, queue: `x` is assigned under `threadIdx.x` (line 4){{$}}
