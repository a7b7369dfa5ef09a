// Global memory that the kernel writes, read before the grid has met.
// RUN: rm -rf %t && split-file %s %t && cd %t
// RUN: not %gmpi-translate --cuda-path=none in.cu -o out.cu 2>&1 | FileCheck check --implicit-check-not=error: --implicit-check-not=note:
// RUN: not %gmpi-translate --device=cpu in.cu -o out.cu 2>&1 | FileCheck check --implicit-check-not=error: --implicit-check-not=note:
// RUN: not ls out.cu

//--- in.cu
#include <mpi.h>
__device__ int counter;
__global__ void written(double *buf, int *flag, int peer) {
  if (threadIdx.x == 0)
    *flag = 1;
  __syncthreads();
  if (*flag)
    MPI_Send(buf, 1, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD);
}
__global__ void updated() {
  atomicAdd(&counter, 1);
  if (counter == 7)
    MPI_Barrier(MPI_COMM_WORLD);
}
__global__ void leaving(int *flag) {
  if (threadIdx.x == 5) {
    *flag = 1;
    return;
  }
  if (*flag)
    MPI_Barrier(MPI_COMM_WORLD);
}
//--- check
CHECK: in.cu:8:{{.*}} error: the scope of this call of MPI_Send is not known: `*flag` may differ from thread to thread [gmpi-scope-unknown]
CHECK: note: make it the same for all threads, or say
CHECK: in.cu:7:{{.*}} note: `*flag`, which the kernel writes at line 5 with no grid-wide point (an MPI call, grid.sync()) between
CHECK: in.cu:13:{{.*}} error: the scope of this call of MPI_Barrier is not known: `counter == 7` may differ from thread to thread [gmpi-scope-unknown]
CHECK: note: make it the same for all threads, or say
CHECK: in.cu:12:{{.*}} note: `counter`, which the kernel updates atomically at line 11 with no grid-wide point (an MPI call, grid.sync()) between
CHECK: in.cu:21:{{.*}} error: the scope of this call of MPI_Barrier is not known: `*flag` may differ from thread to thread [gmpi-scope-unknown]
CHECK: note: make it the same for all threads, or say
CHECK: in.cu:20:{{.*}} note: `*flag`, which the kernel writes at line 17 with no grid-wide point (an MPI call, grid.sync()) between
