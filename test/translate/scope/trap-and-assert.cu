// Threads that never come back make nothing varying.
// RUN: rm -rf %t && split-file %s %t && cd %t
// RUN: %gmpi-translate --cuda-path=none in.cu -o out.cu --remarks 2>&1 | FileCheck check --implicit-check-not=in.cu:
// RUN: %compile-cuda out.cu
// RUN: %gmpi-translate --device=cpu in.cu -o cpu.cu --remarks 2>&1 | FileCheck check --implicit-check-not=in.cu:
// RUN: %compile-cpu cpu.cu

//--- in.cu
#include <mpi.h>
#include <assert.h>
__global__ void k(double *buf) {
  assert(buf[threadIdx.x] > 0);
  if (buf[threadIdx.x] > 9)
    __trap();
  MPI_Barrier(MPI_COMM_WORLD);
}
//--- check
CHECK: in.cu:7: MPI_Barrier: grid scope, queue: control and arguments are the same for all threads{{$}}
