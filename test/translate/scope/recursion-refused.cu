// A recursive function has paths without end.
// RUN: rm -rf %t && split-file %s %t && cd %t
// RUN: not %gmpi-translate --cuda-path=none in.cu -o out.cu 2>&1 | FileCheck check --implicit-check-not=error: --implicit-check-not=note:
// RUN: not %gmpi-translate --device=cpu in.cu -o out.cu 2>&1 | FileCheck check --implicit-check-not=error: --implicit-check-not=note:
// RUN: not ls out.cu

//--- in.cu
#include <mpi.h>
__device__ void send(double *buf, int n, int peer) {
  MPI_Send(buf, n, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD);
  if (n)
    send(buf, n - 1, peer);
}
__global__ void k(double *buf, int n, int peer) { send(buf, n, peer); }
//--- check
CHECK: in.cu:5:{{.*}} error: `send` reaches MPI and calls itself [gmpi-scope-recursion]
CHECK: note: write it as a loop
CHECK: in.cu:2:{{.*}} note: `send` reaches MPI
