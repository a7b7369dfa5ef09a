// Braces in a launch's configuration, which Clang does not parse: they stay as they are, and places
// after them are right.
// RUN: rm -rf %t && split-file %s %t && cd %t
// RUN: %gmpi-translate --cuda-path=none in.cu -o out.cu
// RUN: FileCheck --input-file=out.cu check
// RUN: %compile-cuda -diag-suppress 2361 out.cu
// RUN: %gmpi-translate --device=cpu in.cu -o cpu.cu
// RUN: %compile-cpu -Wno-narrowing cpu.cu

//--- in.cu
#include <mpi.h>
#include "kernels.h"
int main() {
  int x = 2, y = 3;
  dim3 g;
  k<<<g, {x, y, 1}>>>(1), k<<<{1}, {}, {}>>>(2), k<<<dim3{1}, g, {}, {}>>>(3);
  helper();
}
//--- kernels.h
#pragma once
__global__ void k(int n) { MPI_Barrier(MPI_COMM_WORLD); }
inline void helper() { k<<<{1, 1}, 1>>>(4); k<<<1, {1}>>>(5); }
//--- check
CHECK: k__launch(::gmpi::Launch(g, {x, y, 1}), 1), k__launch(::gmpi::Launch({1}, {}, {}), 2), k__launch(::gmpi::Launch(dim3{1}, g, {}, {}), 3);
