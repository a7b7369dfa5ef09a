// And only after a barrier.
// RUN: rm -rf %t && split-file %s %t && cd %t
// RUN: not %gmpi-translate --cuda-path=none in.cu -o out.cu 2>&1 | FileCheck check --implicit-check-not=error: --implicit-check-not=note:
// RUN: not %gmpi-translate --device=cpu in.cu -o out.cu 2>&1 | FileCheck check --implicit-check-not=error: --implicit-check-not=note:
// RUN: not ls out.cu

//--- in.cu
#include <mpi.h>
__global__ void k(double *buf, int peer) {
  __shared__ int command;
  if (threadIdx.x == 0)
    command = buf[blockIdx.x] > 0;
  if (command)
    MPI_Send(buf + blockIdx.x, 1, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD);
}
//--- check
CHECK: in.cu:7:{{.*}} error: the scope of this call of MPI_Send is not known: `command` may differ from thread to thread [gmpi-scope-unknown]
CHECK: note: make it the same for all threads, or say
CHECK: in.cu:6:{{.*}} note: `command`, which the block stores to at line 5 with no __syncthreads() between
