// Even a call before the break is made by fewer threads from the second round on.
// RUN: rm -rf %t && split-file %s %t && cd %t
// RUN: not %gmpi-translate --cuda-path=none in.cu -o out.cu 2>&1 | FileCheck check --implicit-check-not=error: --implicit-check-not=note:
// RUN: not %gmpi-translate --device=cpu in.cu -o out.cu 2>&1 | FileCheck check --implicit-check-not=error: --implicit-check-not=note:
// RUN: not ls out.cu

//--- in.cu
#include <mpi.h>
__global__ void k(double *buf, int n) {
  for (int s = 0; s < n; ++s) {
    MPI_Barrier(MPI_COMM_WORLD);
    if (buf[threadIdx.x] > s)
      break;
  }
}
//--- check
CHECK: in.cu:4:{{.*}} error: MPI_Barrier would be called by each thread for which `buf[threadIdx.x] > s` holds, every time with the same arguments [gmpi-scope-repeated-call]
CHECK: note: take the call out of the condition, put it under one that selects one thread (threadIdx.x == 0), or say '#pragma gmpi scope(thread)' before it if each thread is to make a call of its own
CHECK: in.cu:5:{{.*}} note: `buf[threadIdx.x] > s` depends on `threadIdx.x`
