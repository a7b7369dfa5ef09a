// A receive from MPI_PROC_NULL leaves its buffer alone: what differed before may differ still.
// RUN: rm -rf %t && split-file %s %t && cd %t
// RUN: %gmpi-translate --cuda-path=none in.cu -o out.cu --remarks 2>&1 | FileCheck check --implicit-check-not=in.cu:
// RUN: %compile-cuda out.cu
// RUN: %gmpi-translate --device=cpu in.cu -o cpu.cu --remarks 2>&1 | FileCheck check --implicit-check-not=in.cu:
// RUN: %compile-cpu cpu.cu

//--- in.cu
#include <mpi.h>
__global__ void k(double *buf, int peer) {
  int count = threadIdx.x;
  MPI_Recv(&count, 1, MPI_INT, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Send(buf, count, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD);
}
//--- check
CHECK: in.cu:4: MPI_Recv: grid scope, queue: control and arguments are the same for all threads{{$}}
CHECK-NEXT: in.cu:5: MPI_Send: thread scope, queue: `count` depends on `threadIdx.x` (line 3){{$}}
