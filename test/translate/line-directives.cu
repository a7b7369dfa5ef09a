// nvcc's messages point at the user's lines, before and after what was generated.
// REQUIRES: nvcc
// RUN: rm -rf %t && split-file %s %t && cd %t
// RUN: %gmpi-translate --cuda-path=none in.cu -o out.cu
// RUN: not %compile-cuda -DBROKEN out.cu 2>&1 | FileCheck --implicit-check-not=error: check

//--- in.cu
#include <mpi.h>
#ifdef BROKEN
#define BREAK wrong wrong
#else
#define BREAK
#endif
__global__ void k() {
  MPI_Barrier(MPI_COMM_WORLD);
  BREAK
}
int main() {
  BREAK
  k<<<1, 1>>>();
}
//--- check
CHECK-DAG: in.cu(9): error:
CHECK-DAG: in.cu(12): error:
