// RUN: rm -rf %t && split-file %s %t && cd %t
// RUN: not %gmpi-translate --cuda-path=none in.cu -o out.cu 2>&1 | FileCheck --implicit-check-not=error: check

//--- in.cu
#include <mpi.h>
#ifdef __CUDA_ARCH__
__global__ void k(int n) { MPI_Barrier(MPI_COMM_WORLD); }
#endif
int main() {}
//--- check
CHECK: in.cu:3:17: error: what stands here differs between the compilation for the host and the one for the GPU: kernel 'k' [gmpi-passes-disagree]
CHECK: note: keep __CUDA_ARCH__ out of kernel signatures and of what decides which kernels exist
