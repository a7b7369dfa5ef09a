// A kernel template has one text too.
// RUN: rm -rf %t && split-file %s %t && cd %t
// RUN: not %gmpi-translate --cuda-path=none in.cu -o out.cu 2>&1 | FileCheck check --implicit-check-not=error: --implicit-check-not=note:
// RUN: not %gmpi-translate --device=cpu in.cu -o out.cu 2>&1 | FileCheck check --implicit-check-not=error: --implicit-check-not=note:
// RUN: not ls out.cu

//--- in.cu
#include <mpi.h>
template <bool Each> __global__ void k(double *buf, int n, int peer) {
  int count = n;
  if (Each)
    count = threadIdx.x;
  MPI_Send(buf, count, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD);
}
template __global__ void k<true>(double *, int, int);
template __global__ void k<false>(double *, int, int);
//--- check
CHECK: in.cu:6:{{.*}} error: this call of MPI_Send has scope thread in 'k<true>' but scope grid in 'k<false>' [gmpi-scope-instances]
CHECK: note: choose with if constexpr
