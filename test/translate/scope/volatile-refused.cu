// A volatile load may be another for each thread.
// RUN: rm -rf %t && split-file %s %t && cd %t
// RUN: not %gmpi-translate --cuda-path=none in.cu -o out.cu 2>&1 | FileCheck check --implicit-check-not=error: --implicit-check-not=note:
// RUN: not %gmpi-translate --device=cpu in.cu -o out.cu 2>&1 | FileCheck check --implicit-check-not=error: --implicit-check-not=note:
// RUN: not ls out.cu

//--- in.cu
#include <mpi.h>
__global__ void k(volatile int *flag) {
  while (*flag == 0)
    ;
  if (*flag == 2)
    MPI_Barrier(MPI_COMM_WORLD);
}
//--- check
CHECK: in.cu:6:{{.*}} error: the scope of this call of MPI_Barrier is not known: `*flag == 2` may differ from thread to thread [gmpi-scope-unknown]
CHECK: note: make it the same for all threads, or say
CHECK: in.cu:5:{{.*}} note: `*flag == 2` depends on `*flag`, which is volatile: it may be another for each thread that loads it
