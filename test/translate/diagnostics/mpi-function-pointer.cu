// RUN: rm -rf %t && split-file %s %t && cd %t
// RUN: not %gmpi-translate --cuda-path=none in.cu -o out.cu 2>&1 | FileCheck --implicit-check-not=error: check

//--- in.cu
#include <mpi.h>
__global__ void k() {
  int (*barrier)(MPI_Comm) = MPI_Barrier;
  barrier(MPI_COMM_WORLD);
}
void host() { int (*barrier)(MPI_Comm) = MPI_Barrier; }
//--- check
CHECK: in.cu:3:30: error: MPI_Barrier is used in device code without being called [gmpi-mpi-function-pointer]
CHECK: note: call it by its name: MPI functions have no address in kernels
