// Threads that return leave the group: what follows is made once by those that stay.
// RUN: rm -rf %t && split-file %s %t && cd %t
// RUN: %gmpi-translate --cuda-path=none in.cu -o out.cu --remarks 2>&1 | FileCheck check --implicit-check-not=in.cu:
// RUN: %compile-cuda out.cu
// RUN: %gmpi-translate --device=cpu in.cu -o cpu.cu --remarks 2>&1 | FileCheck check --implicit-check-not=in.cu:
// RUN: %compile-cpu cpu.cu

//--- in.cu
#include <mpi.h>
__global__ void some(double *buf, int n, int peer) {
  if (blockIdx.x * blockDim.x + threadIdx.x >= n) return;
  MPI_Send(buf, n, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD);
}
__global__ void allButOne(double *buf, int n, int peer) {
  if (blockIdx.x != 0 || threadIdx.x != 0)
    return;
  MPI_Send(buf, n, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD);
}
__global__ void later(double *buf, int n, int peer) {
  for (int s = 0; s < n; ++s) {
    if (buf[threadIdx.x] > s)
      return;
    MPI_Send(buf, s, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD);
  }
}
//--- check
CHECK: in.cu:4: MPI_Send: grid scope, queue: control and arguments are the same for all threads{{$}}
CHECK-NEXT: in.cu:9: MPI_Send: grid scope, queue: control and arguments are the same for all threads{{$}}
CHECK-NEXT: in.cu:15: MPI_Send: grid scope, queue: control and arguments are the same for all threads{{$}}
