// Arrays: filled again by a pure initializer, saved as a whole, or living in the frame where they decay.
// RUN: rm -rf %t && split-file %s %t && cd %t
// RUN: %gmpi-translate --lower=split --cuda-path=none in.cu -o out.cu
// RUN: FileCheck --input-file=out.cu check
// RUN: %assemble-cuda out.cu
// RUN: %gmpi-translate --lower=split --device=cpu in.cu -o cpu.cu
// RUN: %compile-cpu cpu.cu

//--- in.cu
#include <mpi.h>
__device__ int sum(const int *values) { return values[0] + values[1]; }
__global__ void arrays(int *buf, int n) {
  double weights[2] = {0.25, 0.75};
  int counts[] = {n, buf[0]};
  int rows[2][3];
  rows[threadIdx.x % 2][1] = n;
  MPI_Barrier(MPI_COMM_WORLD);
  buf[threadIdx.x] = int(weights[1]) + sum(counts) + rows[0][1];
}
int main() { arrays<<<1, 32>>>(nullptr, 32); }
//--- check
CHECK: template <int gmpi_resume> __global__ void arrays__segment(::gmpi::Segment gmpi_segment, int *buf, int n) { {{.*}}
CHECK: typedef int gmpi_counts_t[2] ; gmpi_counts_t &counts = gmpi_frame.resident<gmpi_counts_t, {{[0-9]+}}, 8>(); if (!gmpi_re) { int gmpi_init[] = {n, buf[0]}; ::gmpi::split::copy(counts, gmpi_init); }
CHECK-NEXT: int rows[2][3]; if (gmpi_re) gmpi_frame.restore{{(_uniform)?}}<{{[0-9]+}}, 32>(rows);
CHECK-NEXT: if (!gmpi_re) { rows[threadIdx.x % 2][1] = n; }
CHECK-NEXT: if (::gmpi::split::MPI_Barrier<1>(gmpi_frame, gmpi_re, {{.*}} 8}, MPI_COMM_WORLD)) { gmpi_frame.save{{(_uniform)?}}<{{[0-9]+}}, 32>(rows); return;
