// RUN: rm -rf %t && split-file %s %t && cd %t
// RUN: not %gmpi-translate --cuda-path=none in.cu -o out.cu 2>&1 | FileCheck --implicit-check-not=error: check

//--- in.cu
#include <mpi.h>
template <class T> __global__ void k(T n) { MPI_Barrier(MPI_COMM_WORLD); }
template <> __global__ void k<int>(int n) {}
int main() { k<<<1, 1>>>(1); k<<<1, 1>>>(1.0); }
//--- check
CHECK: in.cu:2:36: error: kernel 'k' calls MPI and has explicit specializations [gmpi-kernel-specialization]
CHECK: note: overload it, or choose inside the kernel with if constexpr
CHECK: in.cu:3:29: error: kernel 'k' calls MPI and has explicit specializations [gmpi-kernel-specialization]
