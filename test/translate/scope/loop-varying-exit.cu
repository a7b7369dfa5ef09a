// After such a loop all threads are together, but what was counted in it differs.
// RUN: rm -rf %t && split-file %s %t && cd %t
// RUN: %gmpi-translate --cuda-path=none in.cu -o out.cu --remarks 2>&1 | FileCheck check --implicit-check-not=in.cu:
// RUN: %compile-cuda out.cu
// RUN: %gmpi-translate --device=cpu in.cu -o cpu.cu --remarks 2>&1 | FileCheck check --implicit-check-not=in.cu:
// RUN: %compile-cpu cpu.cu

//--- in.cu
#include <mpi.h>
__global__ void k(double *buf, int n, int peer) {
  int s;
  for (s = 0; s < n; ++s)
    if (buf[threadIdx.x] > s)
      break;
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Send(buf, s, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD);
}
//--- check
CHECK: in.cu:7: MPI_Barrier: grid scope, queue: control and arguments are the same for all threads{{$}}
CHECK-NEXT: in.cu:8: MPI_Send: thread scope, queue: `s` is assigned under `buf[threadIdx.x] > s` (line 5){{$}}
