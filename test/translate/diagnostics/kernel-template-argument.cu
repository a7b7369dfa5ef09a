// RUN: rm -rf %t && split-file %s %t && cd %t
// RUN: not %gmpi-translate --cuda-path=none in.cu -o out.cu 2>&1 | FileCheck --implicit-check-not=error: check

//--- in.cu
#include <mpi.h>
template <class T> __global__ void k(T n) { MPI_Barrier(MPI_COMM_WORLD); }
template <void (*Kernel)(int)> void run() { Kernel<<<1, 1>>>(1); }
int main() { run<k<int>>(); }
//--- check
CHECK: in.cu:4:18: error: kernel 'k', which calls MPI, is a template argument [gmpi-kernel-template-argument]
CHECK: note: pass it as a function argument
