// One thread makes its call and leaves; the others stay a group.
// RUN: rm -rf %t && split-file %s %t && cd %t
// RUN: %gmpi-translate --cuda-path=none in.cu -o out.cu --remarks 2>&1 | FileCheck check --implicit-check-not=in.cu:
// RUN: %compile-cuda out.cu
// RUN: %gmpi-translate --device=cpu in.cu -o cpu.cu --remarks 2>&1 | FileCheck check --implicit-check-not=in.cu:
// RUN: %compile-cpu cpu.cu

//--- in.cu
#include <mpi.h>
__global__ void k(double *buf, int n, int peer) {
  if (blockIdx.x == 0 && threadIdx.x == 0) {
    MPI_Send(buf, n, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD);
    return;
  }
  MPI_Barrier(MPI_COMM_WORLD);
}
//--- check
CHECK: in.cu:4: MPI_Send: thread scope, queue: under `threadIdx.x == 0` (line 3): one thread of the grid{{$}}
CHECK-NEXT: in.cu:7: MPI_Barrier: grid scope, queue: control and arguments are the same for all threads{{$}}
