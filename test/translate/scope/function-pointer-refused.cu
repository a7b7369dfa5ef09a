// Where a pointer leads to is not known.
// RUN: rm -rf %t && split-file %s %t && cd %t
// RUN: not %gmpi-translate --cuda-path=none in.cu -o out.cu 2>&1 | FileCheck check --implicit-check-not=error: --implicit-check-not=note:
// RUN: not %gmpi-translate --device=cpu in.cu -o out.cu 2>&1 | FileCheck check --implicit-check-not=error: --implicit-check-not=note:
// RUN: not ls out.cu

//--- in.cu
#include <mpi.h>
__device__ void send(double *buf, int peer) { MPI_Send(buf, 1, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD); }
__global__ void k(double *buf, int peer) {
  void (*f)(double *, int) = send;
  f(buf, peer);
}
//--- check
CHECK: in.cu:5:{{.*}} error: this call through the function pointer `f` may reach MPI [gmpi-scope-function-pointer]
CHECK: note: call the function by its name
CHECK: in.cu:2:{{.*}} note: `send` reaches MPI
