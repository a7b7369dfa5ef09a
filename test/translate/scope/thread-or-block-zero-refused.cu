// One of two conditions selects nobody.
// RUN: rm -rf %t && split-file %s %t && cd %t
// RUN: not %gmpi-translate --cuda-path=none in.cu -o out.cu 2>&1 | FileCheck check --implicit-check-not=error: --implicit-check-not=note:
// RUN: not %gmpi-translate --device=cpu in.cu -o out.cu 2>&1 | FileCheck check --implicit-check-not=error: --implicit-check-not=note:
// RUN: not ls out.cu

//--- in.cu
#include <mpi.h>
__global__ void k(double *buf, int peer) {
  if (threadIdx.x == 0 || blockIdx.x == 0)
    MPI_Send(buf, 1, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD);
}
//--- check
CHECK: in.cu:4:{{.*}} error: MPI_Send would be called by each thread for which `threadIdx.x == 0` holds, every time with the same arguments [gmpi-scope-repeated-call]
CHECK: note: take the call out of the condition, put it under one that selects one thread (threadIdx.x == 0), or say '#pragma gmpi scope(thread)' before it if each thread is to make a call of its own
CHECK: in.cu:3:{{.*}} note: `threadIdx.x == 0` depends on `threadIdx.x`
