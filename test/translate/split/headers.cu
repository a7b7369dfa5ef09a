// Split versions of what a header defines are written to its translated copy.
// RUN: rm -rf %t && split-file %s %t && cd %t
// RUN: %gmpi-translate --lower=split --cuda-path=none in.cu -o out.cu
// RUN: FileCheck --input-file=out.cu check
// RUN: FileCheck --check-prefix=HEADER --input-file=out.cu.d/meet.h check
// RUN: %compile-cuda out.cu
// RUN: %gmpi-translate --lower=split --device=cpu in.cu -o cpu.cu
// RUN: %compile-cpu cpu.cu

//--- in.cu
#include <mpi.h>
#include "meet.h"
__global__ void k() { meet(); }
int main() { k<<<1, 32>>>(); }
//--- meet.h
#pragma once
#include <mpi.h>
__device__ inline void meet() {
  MPI_Barrier(MPI_COMM_WORLD);
}
//--- check
CHECK: #include "out.cu.d/meet.h"
CHECK-NEXT: template <int gmpi_resume> __global__ void k__segment(
CHECK-SAME: meet__segment<::gmpi::within(gmpi_resume, 1, 1)>(
HEADER: ::gmpi::grid::MPI_Barrier(
HEADER: #line 3 "meet.h"
HEADER-NEXT: template <int gmpi_resume> __device__ inline bool meet__segment(::gmpi::Frame gmpi_frame, bool &gmpi_re) {
HEADER-NEXT: ::gmpi::split::MPI_Barrier<1>(gmpi_frame, gmpi_re, {{.*}} 4}, MPI_COMM_WORLD)
HEADER: return false; }
HEADER-NEXT: #line 6 "meet.h"
