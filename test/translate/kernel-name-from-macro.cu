// A kernel's name that is a macro's argument is edited there; the macro stays.
// RUN: rm -rf %t && split-file %s %t && cd %t
// RUN: %gmpi-translate --cuda-path=none in.cu -o out.cu
// RUN: FileCheck --input-file=out.cu check
// RUN: %compile-cuda out.cu

//--- in.cu
#include <mpi.h>
#define KERNEL(name) __global__ void name
KERNEL(first)(int n) { MPI_Barrier(MPI_COMM_WORLD); }
int main() { first<<<1, 1>>>(1); }
//--- check
CHECK: KERNEL(first__queue)(::gmpi::Launched gmpi_launched, int n) {
CHECK: KERNEL(first)(int n) { ::gmpi::raw_launch(
