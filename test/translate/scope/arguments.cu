// An argument that differs decides the scope.
// RUN: rm -rf %t && split-file %s %t && cd %t
// RUN: %gmpi-translate --cuda-path=none in.cu -o out.cu --remarks 2>&1 | FileCheck check --implicit-check-not=in.cu:
// RUN: %compile-cuda out.cu
// RUN: %gmpi-translate --device=cpu in.cu -o cpu.cu --remarks 2>&1 | FileCheck check --implicit-check-not=in.cu:
// RUN: %compile-cpu cpu.cu

//--- in.cu
#include <mpi.h>
__global__ void k(double *buf, int n, int peer) {
  int mine = threadIdx.x;
  MPI_Send(buf + mine, n, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD);
  MPI_Send(buf, n, MPI_DOUBLE, blockIdx.x, 0, MPI_COMM_WORLD);
  MPI_Send(buf, n < 3 ? 1 : 2, MPI_DOUBLE, peer, n, MPI_COMM_WORLD);
  if (mine < n)
    MPI_Send(buf, n, MPI_DOUBLE, peer, mine, MPI_COMM_WORLD);
}
//--- check
CHECK: in.cu:4: MPI_Send: thread scope, queue: `mine` depends on `threadIdx.x` (line 3){{$}}
CHECK-NEXT: in.cu:5: MPI_Send: block scope, queue: `blockIdx.x` (line 5){{$}}
CHECK-NEXT: in.cu:6: MPI_Send: grid scope, queue: control and arguments are the same for all threads{{$}}
CHECK-NEXT: in.cu:8: MPI_Send: thread scope, queue: `mine` depends on `threadIdx.x` (line 3){{$}}
