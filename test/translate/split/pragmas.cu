// A pragma stays before the loop that it is for.
// RUN: rm -rf %t && split-file %s %t && cd %t
// RUN: %gmpi-translate --lower=split --cuda-path=none in.cu -o out.cu
// RUN: FileCheck --input-file=out.cu check
// RUN: %compile-cuda out.cu
// RUN: %gmpi-translate --lower=split --device=cpu in.cu -o cpu.cu
// RUN: %compile-cpu cpu.cu

//--- in.cu
#include <mpi.h>
__global__ void k(int *buf, int n) {
  int sum = 0;
#pragma unroll 4
  for (int i = 0; i < 4; ++i)
    sum += buf[i];
#pragma gmpi scope(grid)
  MPI_Bcast(buf, n, MPI_INT, 0, MPI_COMM_WORLD);
#pragma unroll 1
  for (int i = 0; i < 2; ++i) {
    MPI_Barrier(MPI_COMM_WORLD);
  }
  buf[0] = sum;
}
int main() { k<<<1, 32>>>(nullptr, 4); }
//--- check
CHECK: if (!gmpi_re) {
CHECK: {{^ *}}#pragma unroll 4
CHECK-NEXT: for (int i = 0; i < 4; ++i)
CHECK: // #pragma gmpi scope(grid)
CHECK-NEXT: ::gmpi::split::MPI_Bcast<1>(gmpi_frame, gmpi_re, {{.*}} 8}, buf, n,
CHECK: {{^ *}}#pragma unroll 1
CHECK-NEXT: for (
CHECK-NEXT: ::gmpi::split::MPI_Barrier<2>(gmpi_frame, gmpi_re, {{.*}} 11}, MPI_COMM_WORLD)
