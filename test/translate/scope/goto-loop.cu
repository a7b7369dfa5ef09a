// Jumps are control flow like any other.
// RUN: rm -rf %t && split-file %s %t && cd %t
// RUN: %gmpi-translate --cuda-path=none in.cu -o out.cu --remarks 2>&1 | FileCheck check --implicit-check-not=in.cu:
// RUN: %compile-cuda out.cu
// RUN: %gmpi-translate --device=cpu in.cu -o cpu.cu --remarks 2>&1 | FileCheck check --implicit-check-not=in.cu:
// RUN: %compile-cpu cpu.cu

//--- in.cu
#include <mpi.h>
__global__ void k(double *buf, int n, int peer) {
  int x = 0;
  if (buf[threadIdx.x] > 0)
    goto middle;
again:
  x++;
middle:
  x += 2;
  if (x < n)
    goto again;
  MPI_Send(buf, x, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD);
  MPI_Barrier(MPI_COMM_WORLD);
}
//--- check
CHECK: in.cu:12: MPI_Send: thread scope, queue: `x` is assigned under `{{.*}}` (line {{4|10}}){{$}}
CHECK-NEXT: in.cu:13: MPI_Barrier: grid scope, queue: control and arguments are the same for all threads{{$}}
