// A pragma decides, for the statement that follows.
// RUN: rm -rf %t && split-file %s %t && cd %t
// RUN: %gmpi-translate --cuda-path=none in.cu -o out.cu --remarks 2>&1 | FileCheck check --implicit-check-not=in.cu:
// RUN: %compile-cuda out.cu
// RUN: %gmpi-translate --device=cpu in.cu -o cpu.cu --remarks 2>&1 | FileCheck check --implicit-check-not=in.cu:
// RUN: %compile-cpu cpu.cu

//--- in.cu
#include <mpi.h>
__global__ void k(double *buf, int n, int peer) {
  int i = threadIdx.x;
  if (i < n) {
#pragma gmpi scope(thread)
    MPI_Send(buf, 1, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD);
  }
#pragma gmpi scope(block)
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Barrier(MPI_COMM_WORLD);
#pragma gmpi scope(thread)
  for (int k = 0; k < n; ++k) {
    MPI_Send(buf, 1, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD);
#pragma gmpi scope(grid)
    MPI_Send(buf, 2, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD);
  }
}
//--- check
CHECK: in.cu:6: MPI_Send: thread scope, queue: as '#pragma gmpi scope(thread)' says{{$}}
CHECK-NEXT: in.cu:9: MPI_Barrier: block scope, queue: as '#pragma gmpi scope(block)' says{{$}}
CHECK-NEXT: in.cu:10: MPI_Barrier: grid scope, queue: control and arguments are the same for all threads{{$}}
CHECK-NEXT: in.cu:13: MPI_Send: thread scope, queue: as '#pragma gmpi scope(thread)' says{{$}}
CHECK-NEXT: in.cu:15: MPI_Send: grid scope, queue: as '#pragma gmpi scope(grid)' says{{$}}
