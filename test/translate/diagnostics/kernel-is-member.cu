// RUN: rm -rf %t && split-file %s %t && cd %t
// RUN: not %gmpi-translate --cuda-path=none in.cu -o out.cu 2>&1 | FileCheck --implicit-check-not=error: check

//--- in.cu
#include <mpi.h>
struct S {
  static __global__ void k() { MPI_Barrier(MPI_COMM_WORLD); }
};
int main() { S::k<<<1, 1>>>(); }
//--- check
CHECK: in.cu:3:26: error: kernel 'k' calls MPI and is a member of a class [gmpi-kernel-is-member]
CHECK: note: make it a function of a namespace
