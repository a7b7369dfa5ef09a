// RUN: rm -rf %t && split-file %s %t && cd %t
// RUN: not %gmpi-translate --cuda-path=none in.cu -o out.cu 2>&1 | FileCheck --implicit-check-not=error: check

//--- in.cu
#include <mpi.h>
template <class T> __global__ void k(T n) { MPI_Barrier(MPI_COMM_WORLD); }
int main() {
  void (*p)(int) = k;
  p<<<1, 1>>>(1);
}
//--- check
CHECK: in.cu:4:20: error: the address of kernel template 'k', which calls MPI, is taken without its template arguments [gmpi-kernel-address]
CHECK: note: write them out, as in k<int>
