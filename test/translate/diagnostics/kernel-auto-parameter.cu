// RUN: rm -rf %t && split-file %s %t && cd %t
// RUN: not %gmpi-translate --cuda-path=none in.cu -o out.cu -- -std=c++20 2>&1 | FileCheck --implicit-check-not=error: check

//--- in.cu
#include <mpi.h>
__global__ void k(auto n) { MPI_Barrier(MPI_COMM_WORLD); }
int main() { k<<<1, 1>>>(1); }
//--- check
CHECK: in.cu:2:17: error: kernel 'k' calls MPI and has a parameter declared with auto [gmpi-kernel-auto-parameter]
CHECK: note: write 'template <class T>' and 'T' instead
