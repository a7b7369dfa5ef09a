// The same for blocks.
// RUN: rm -rf %t && split-file %s %t && cd %t
// RUN: not %gmpi-translate --cuda-path=none in.cu -o out.cu 2>&1 | FileCheck check --implicit-check-not=error: --implicit-check-not=note:
// RUN: not %gmpi-translate --device=cpu in.cu -o out.cu 2>&1 | FileCheck check --implicit-check-not=error: --implicit-check-not=note:
// RUN: not ls out.cu

//--- in.cu
#include <mpi.h>
__global__ void k(double *buf, int n, int peer) {
  if (blockIdx.x < 4)
    MPI_Send(buf, n, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD);
}
//--- check
CHECK: in.cu:4:{{.*}} error: MPI_Send would be called by each block for which `blockIdx.x < 4` holds, every time with the same arguments [gmpi-scope-repeated-call]
CHECK: note: take the call out of the condition, put it under one that selects one block (blockIdx.x == 0), or say '#pragma gmpi scope(block)' before it if each block is to make a call of its own
CHECK: in.cu:3:{{.*}} note: `blockIdx.x < 4` depends on `blockIdx.x`
