// A call in the condition is made at the top of the next round, where `continue` leads too.
// RUN: rm -rf %t && split-file %s %t && cd %t
// RUN: %gmpi-translate --lower=split --cuda-path=none in.cu -o out.cu
// RUN: FileCheck --input-file=out.cu check
// RUN: %compile-cuda out.cu
// RUN: %gmpi-translate --lower=split --device=cpu in.cu -o cpu.cu
// RUN: %compile-cpu cpu.cu

//--- in.cu
#include <mpi.h>
__global__ void again(int n) {
  do
    MPI_Barrier(MPI_COMM_WORLD);
  while (--n > 0);
  do {
    --n;
  } while (MPI_Barrier(MPI_COMM_WORLD) == MPI_SUCCESS && n > -5);
}
int main() { again<<<1, 32>>>(10); }
//--- check
CHECK: template <int gmpi_resume> __global__ void again__segment(::gmpi::Segment gmpi_segment, int n) { {{.*}} if (gmpi_re) gmpi_frame.restore{{(_uniform)?}}<{{[0-9]+}}, 4>(n);
CHECK-NEXT: if (!gmpi_re || gmpi_resume == 1) { do
CHECK-NEXT: if (::gmpi::split::MPI_Barrier<1>(gmpi_frame, gmpi_re, {{.*}} 4}, MPI_COMM_WORLD)) { gmpi_frame.save{{(_uniform)?}}<{{[0-9]+}}, 4>(n); return;
CHECK-NEXT: while (--n > 0);
CHECK-NEXT: for (bool [[FIRST2:gmpi_first[0-9_]+]] = true;; [[FIRST2]] = false) { { if (gmpi_re ? gmpi_resume == 2 : ![[FIRST2]]) { if (::gmpi::split::MPI_Barrier<2>(gmpi_frame, gmpi_re, {{.*}} 8}, MPI_COMM_WORLD)) { gmpi_frame.save{{(_uniform)?}}<{{[0-9]+}}, 4>(n); return; } int [[VALUE1:gmpi_value[0-9_]+]] = gmpi_frame.error(); if (!([[VALUE1]] == MPI_SUCCESS && n > -5)) break; }
