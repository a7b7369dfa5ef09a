// It has one text, and so one scope for each of its calls.
// RUN: rm -rf %t && split-file %s %t && cd %t
// RUN: not %gmpi-translate --cuda-path=none in.cu -o out.cu 2>&1 | FileCheck check --implicit-check-not=error: --implicit-check-not=note:
// RUN: not %gmpi-translate --device=cpu in.cu -o out.cu 2>&1 | FileCheck check --implicit-check-not=error: --implicit-check-not=note:
// RUN: not ls out.cu

//--- in.cu
#include <mpi.h>
__global__ void k(double *buf, int n, int peer) {
  auto send = [&](int tag) { MPI_Send(buf, n, MPI_DOUBLE, peer, tag, MPI_COMM_WORLD); };
  send(1);
  send(threadIdx.x);
}
//--- check
CHECK: in.cu:3:{{.*}} error: this lambda is used under more than one scope, and MPI_Send in it can have only one [gmpi-scope-lambda]
CHECK: note: write one lambda for each use
