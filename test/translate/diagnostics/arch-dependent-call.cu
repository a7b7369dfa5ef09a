// __CUDA_ARCH__ is not defined on the cpu device: a call that depends on it would be lost.
// RUN: rm -rf %t && split-file %s %t && cd %t
// RUN: not %gmpi-translate --device=cpu in.cu -o out.cu 2>&1 | FileCheck --implicit-check-not=error: check
// RUN: %gmpi-translate --cuda-path=none in.cu -o cuda.cu
// RUN: FileCheck --check-prefix=CUDA --input-file=cuda.cu check
// RUN: %compile-cuda cuda.cu

//--- in.cu
#include <mpi.h>
__global__ void k(int n) {
#ifdef __CUDA_ARCH__
  MPI_Barrier(MPI_COMM_WORLD);
#endif
}
int main() { k<<<1, 1>>>(1); }
//--- check
CHECK: in.cu:4:3: error: this call of MPI_Barrier is there only where __CUDA_ARCH__ is defined, which the cpu device does not do [gmpi-arch-dependent-call]
CHECK: note: take the call out of the conditional
CUDA: ::gmpi::grid::MPI_Barrier(
