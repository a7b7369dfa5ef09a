// A nonblocking receive for the whole grid cannot write to every thread's local variable later.
// RUN: rm -rf %t && split-file %s %t && cd %t
// RUN: not %gmpi-translate --cuda-path=none in.cu -o out.cu 2>&1 | FileCheck check --implicit-check-not=error: --implicit-check-not=note:
// RUN: not %gmpi-translate --device=cpu in.cu -o out.cu 2>&1 | FileCheck check --implicit-check-not=error: --implicit-check-not=note:
// RUN: not ls out.cu

//--- in.cu
#include <mpi.h>
__global__ void k(int peer) {
  double x;
  MPI_Request request;
  MPI_Irecv(&x, 1, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}
//--- check
CHECK: in.cu:5:{{.*}} error: MPI_Irecv would go on writing to `x`, a local variable of every thread, after the call for the whole grid has returned [gmpi-scope-receive-local]
CHECK: note: receive into global memory, or call the blocking function
