// A local variable as input: whose?
// RUN: rm -rf %t && split-file %s %t && cd %t
// RUN: not %gmpi-translate --cuda-path=none in.cu -o out.cu 2>&1 | FileCheck check --implicit-check-not=error: --implicit-check-not=note:
// RUN: not %gmpi-translate --device=cpu in.cu -o out.cu 2>&1 | FileCheck check --implicit-check-not=error: --implicit-check-not=note:
// RUN: not ls out.cu

//--- in.cu
#include <mpi.h>
__global__ void k(double *out) {
  double x = threadIdx.x, r;
  MPI_Allreduce(&x, &r, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  double y = 0;
  if (out[threadIdx.x] > 0)
    y = 1;
  MPI_Allreduce(MPI_IN_PLACE, &y, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}
//--- check
CHECK: in.cu:4:{{.*}} error: which thread's `x` is MPI_Allreduce to send? It differs from thread to thread, but the call is made once for the whole grid [gmpi-scope-send-buffer]
CHECK: note: combine the values first
CHECK: in.cu:3:{{.*}} note: `x` depends on `threadIdx.x`
CHECK: in.cu:8:{{.*}} error: which thread's `y` is MPI_Allreduce to send? It differs from thread to thread, but the call is made once for the whole grid [gmpi-scope-send-buffer]
CHECK: note: combine the values first
CHECK: in.cu:6:{{.*}} note: `y` is assigned under `out[threadIdx.x] > 0`, which differs
CHECK: in.cu:6:{{.*}} note: `out[threadIdx.x] > 0` depends on `threadIdx.x`
