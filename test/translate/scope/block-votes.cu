// Results of block-wide barriers are uniform in the block; shuffles and warp votes are not.
// RUN: rm -rf %t && split-file %s %t && cd %t
// RUN: %gmpi-translate --cuda-path=none in.cu -o out.cu --remarks 2>&1 | FileCheck check --implicit-check-not=in.cu:
// RUN: %compile-cuda out.cu
// RUN: %gmpi-translate --device=cpu in.cu -o cpu.cu --remarks 2>&1 | FileCheck check --implicit-check-not=in.cu:
// RUN: %compile-cpu cpu.cu

//--- in.cu
#include <mpi.h>
__global__ void k(double *buf, int peer) {
  if (__syncthreads_or(buf[threadIdx.x] > 0))
    MPI_Send(buf + blockIdx.x, 1, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD);
  int lane0 = __shfl_sync(0xffffffffu, peer, 0);
  MPI_Send(buf, 1, MPI_DOUBLE, lane0, 0, MPI_COMM_WORLD);
}
//--- check
CHECK: in.cu:4: MPI_Send: block scope, queue: `buf + blockIdx.x` depends on `blockIdx.x` (line 4){{$}}
CHECK-NEXT: in.cu:6: MPI_Send: thread scope, queue: `lane0` depends on `__shfl_sync(0xffffffffu, peer, 0)` (line 5){{$}}
