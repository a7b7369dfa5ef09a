// Two functions of one name that suspend, called by one kernel.
// RUN: rm -rf %t && split-file %s %t && cd %t
// RUN: %gmpi-translate --lower=split --cuda-path=none in.cu -o out.cu
// RUN: FileCheck --input-file=out.cu check
// RUN: %gmpi-translate --lower=split --device=cpu in.cu -o cpu.cu
// RUN: %compile-cpu cpu.cu
// RUN: %compile-cuda out.cu

//--- in.cu
#include <mpi.h>
__device__ int meet(int n) { return MPI_Barrier(MPI_COMM_WORLD) + n; }
__device__ double meet(double x) {
  MPI_Barrier(MPI_COMM_WORLD);
  return x;
}
__global__ void k(double *d) {
  d[0] = meet(3);
  d[1] = meet(1.5);
}
int main() { k<<<1, 32>>>(nullptr); }
//--- check
CHECK: template <int gmpi_resume> __global__ void k__segment(
CHECK-NEXT: meet__segment<::gmpi::within(gmpi_resume, 1, 1)>(
CHECK-SAME: 3)) { return; }
CHECK-NEXT: meet__segment<::gmpi::within(gmpi_resume, 2, 2)>(
CHECK-SAME: 1.5)) { return; }
