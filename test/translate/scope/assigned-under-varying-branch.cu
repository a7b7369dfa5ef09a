// A variable assigned on one side only differs where the sides meet.
// RUN: rm -rf %t && split-file %s %t && cd %t
// RUN: %gmpi-translate --cuda-path=none in.cu -o out.cu --remarks 2>&1 | FileCheck check --implicit-check-not=in.cu:
// RUN: %compile-cuda out.cu
// RUN: %gmpi-translate --device=cpu in.cu -o cpu.cu --remarks 2>&1 | FileCheck check --implicit-check-not=in.cu:
// RUN: %compile-cpu cpu.cu

//--- in.cu
#include <mpi.h>
__global__ void k(double *buf, int n, int peer) {
  int count = n;
  if (buf[threadIdx.x] > 0)
    count = 1;
  MPI_Send(buf, count, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD);
}
//--- check
CHECK: in.cu:6: MPI_Send: thread scope, queue: `count` is assigned under `buf[threadIdx.x] > 0` (line 4){{$}}
