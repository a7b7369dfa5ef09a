// With if constexpr each instantiation has calls of its own.
// RUN: rm -rf %t && split-file %s %t && cd %t
// RUN: %gmpi-translate --cuda-path=none in.cu -o out.cu --remarks 2>&1 | FileCheck check --implicit-check-not=in.cu:
// RUN: %compile-cuda out.cu
// RUN: %gmpi-translate --device=cpu in.cu -o cpu.cu --remarks 2>&1 | FileCheck check --implicit-check-not=in.cu:
// RUN: %compile-cpu cpu.cu

//--- in.cu
#include <mpi.h>
template <bool Each> __global__ void k(double *buf, int n, int peer) {
  if constexpr (Each)
    MPI_Send(buf + threadIdx.x, n, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD);
  else
    MPI_Send(buf, n, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD);
}
template __global__ void k<true>(double *, int, int);
template __global__ void k<false>(double *, int, int);
//--- check
CHECK: in.cu:4: MPI_Send: thread scope, queue: `buf + threadIdx.x` depends on `threadIdx.x` (line 4){{$}}
CHECK-NEXT: in.cu:6: MPI_Send: grid scope, queue: control and arguments are the same for all threads{{$}}
