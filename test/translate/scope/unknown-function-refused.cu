// A function that is defined elsewhere.
// RUN: rm -rf %t && split-file %s %t && cd %t
// RUN: not %gmpi-translate --cuda-path=none in.cu -o out.cu 2>&1 | FileCheck check --implicit-check-not=error: --implicit-check-not=note:
// RUN: not %gmpi-translate --device=cpu in.cu -o out.cu 2>&1 | FileCheck check --implicit-check-not=error: --implicit-check-not=note:
// RUN: not ls out.cu

//--- in.cu
#include <mpi.h>
__device__ int ask(int);
__device__ void change(int *);
__global__ void k(double *buf, int peer) {
  int count = 1;
  change(&count);
  MPI_Send(buf, count, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD);
  if (ask(1))
    MPI_Barrier(MPI_COMM_WORLD);
}
//--- check
CHECK: in.cu:7:{{.*}} error: the scope of this call of MPI_Send is not known: `count` may differ from thread to thread [gmpi-scope-unknown]
CHECK: note: make it the same for all threads, or say
CHECK: in.cu:6:{{.*}} note: `count`, whose address is given to `change`
CHECK: in.cu:9:{{.*}} error: the scope of this call of MPI_Barrier is not known: `ask(1)` may differ from thread to thread [gmpi-scope-unknown]
CHECK: note: make it the same for all threads, or say
CHECK: in.cu:8:{{.*}} note: `ask(1)` depends on the result of `ask`, whose body is not seen here
