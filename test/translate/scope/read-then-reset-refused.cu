// Memory that is set to zero again before all threads can have read it is not uniform.
// RUN: rm -rf %t && split-file %s %t && cd %t
// RUN: not %gmpi-translate --cuda-path=none in.cu -o out.cu 2>&1 | FileCheck check --implicit-check-not=error: --implicit-check-not=note:
// RUN: not %gmpi-translate --device=cpu in.cu -o out.cu 2>&1 | FileCheck check --implicit-check-not=error: --implicit-check-not=note:
// RUN: not ls out.cu

//--- in.cu
#include <mpi.h>
__global__ void relax(double *residual, double tolerance) {
  for (;;) {
    MPI_Allreduce(MPI_IN_PLACE, residual, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    if (*residual < tolerance)
      break;
    if (blockIdx.x == 0 && threadIdx.x == 0)
      *residual = 0;
  }
}
//--- check
CHECK: in.cu:4:{{.*}} error: the scope of this call of MPI_Allreduce is not known: `*residual < tolerance` may differ from thread to thread [gmpi-scope-unknown]
CHECK: note: make it the same for all threads, or say
CHECK: in.cu:5:{{.*}} note: `*residual < tolerance` depends on `*residual`, which the kernel writes at line 8, perhaps before the other threads have loaded it: no grid-wide point (an MPI call, grid.sync()) is between
