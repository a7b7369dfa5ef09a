// Project headers with kernels are copied, changed, into a tree beside the output; so are headers on
// the way to them. Neighbours are still found. System headers and unchanged ones stay where they are.
// RUN: rm -rf %t && split-file %s %t && cd %t && mkdir out
// RUN: %gmpi-translate --cuda-path=none src/in.cu -o out/out.cu --depfile=out/out.d -- -Iinclude
// RUN: FileCheck --check-prefix=MAIN --input-file=out/out.cu check
// RUN: FileCheck --check-prefix=OUTER --input-file=out/out.cu.d/src/outer.h check
// RUN: FileCheck --check-prefix=KERNELS --input-file=out/out.cu.d/include/deep/kernels.h check
// RUN: FileCheck --check-prefix=DEP --input-file=out/out.d check
// RUN: not ls out/out.cu.d/src/plain.h
// RUN: %compile-cuda -Iinclude out/out.cu
// RUN: %gmpi-translate --device=cpu src/in.cu -o out/cpu.cu -- -Iinclude
// RUN: %compile-cpu -iquote src -Iinclude out/cpu.cu

//--- src/in.cu
#include <mpi.h>
#include "outer.h"
int main() { k<<<1, 1>>>(TWO); }
//--- src/outer.h
#pragma once
#include "plain.h" // a neighbour
#include <deep/kernels.h>
//--- src/plain.h
#define TWO 2
//--- include/deep/kernels.h
#ifndef KERNELS_H
#define KERNELS_H
#include <mpi.h>
static __global__ void k(int n) { MPI_Barrier(MPI_COMM_WORLD); }
#endif
//--- check
MAIN: #include "out.cu.d/src/outer.h"
MAIN-NEXT: int main() { k__launch(::gmpi::Launch(1, 1), TWO); }
MAIN-NEXT: gmpi_sources[] = {{[{][{]}}0x{{[0-9a-f]+}}, "include/deep/kernels.h"}};
OUTER: #line 1 "src/outer.h"
OUTER-NEXT: #pragma once
OUTER-NEXT: #include "../../../src/plain.h" // a neighbour
OUTER-NEXT: #include "../include/deep/kernels.h"
KERNELS: #line 1 "include/deep/kernels.h"
KERNELS: static __global__ void GMPI_KERNEL_REGISTERS k__queue(::gmpi::Launched gmpi_launched, int n)
KERNELS: #line 5 "include/deep/kernels.h"
KERNELS-NEXT: #endif
DEP: out/out.cu:
DEP-NEXT: src/in.cu
DEP-NEXT: src/outer.h
DEP-NEXT: src/plain.h
DEP-NEXT: include/deep/kernels.h
DEP-NOT: mpi.h
