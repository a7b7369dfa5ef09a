// After a device function whose threads came back at different places, all are together again.
// RUN: rm -rf %t && split-file %s %t && cd %t
// RUN: %gmpi-translate --cuda-path=none in.cu -o out.cu --remarks 2>&1 | FileCheck check --implicit-check-not=in.cu:
// RUN: %compile-cuda out.cu
// RUN: %gmpi-translate --device=cpu in.cu -o cpu.cu --remarks 2>&1 | FileCheck check --implicit-check-not=in.cu:
// RUN: %compile-cpu cpu.cu

//--- in.cu
#include <mpi.h>
__device__ void fill(double *buf, int n) {
  if (threadIdx.x >= n) return;
  buf[threadIdx.x] = n;
}
__global__ void k(double *buf, int n, int peer) {
  fill(buf, n);
  MPI_Send(buf, n, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD);
}
//--- check
CHECK: in.cu:8: MPI_Send: grid scope, queue: control and arguments are the same for all threads{{$}}
