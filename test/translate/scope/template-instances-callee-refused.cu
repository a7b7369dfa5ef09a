// The functions it calls may have several versions, but a call names one of them.
// RUN: rm -rf %t && split-file %s %t && cd %t
// RUN: not %gmpi-translate --cuda-path=none in.cu -o out.cu 2>&1 | FileCheck check --implicit-check-not=error: --implicit-check-not=note:
// RUN: not %gmpi-translate --device=cpu in.cu -o out.cu 2>&1 | FileCheck check --implicit-check-not=error: --implicit-check-not=note:
// RUN: not ls out.cu

//--- in.cu
#include <mpi.h>
__device__ void send(double *buf, int n, int peer) { MPI_Send(buf, n, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD); }
template <bool Each> __global__ void k(double *buf, int n, int peer) {
  send(buf, Each ? threadIdx.x : n, peer);
}
template __global__ void k<true>(double *, int, int);
template __global__ void k<false>(double *, int, int);
//--- check
CHECK: in.cu:4:{{.*}} error: this call of 'send' makes MPI calls of other scopes in 'k<true>' than in 'k<false>' [gmpi-scope-instances-callee]
CHECK: note: choose with if constexpr
