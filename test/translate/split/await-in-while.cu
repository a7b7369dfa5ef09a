// A parameter that changes is saved like a variable.
// RUN: rm -rf %t && split-file %s %t && cd %t
// RUN: %gmpi-translate --lower=split --cuda-path=none in.cu -o out.cu
// RUN: FileCheck --input-file=out.cu check
// RUN: %compile-cuda out.cu
// RUN: %gmpi-translate --lower=split --device=cpu in.cu -o cpu.cu
// RUN: %compile-cpu cpu.cu

//--- in.cu
#include <mpi.h>
__global__ void drain(int n) {
  while (n > 0) {
    MPI_Barrier(MPI_COMM_WORLD);
    if (--n == 3)
      break;
  }
}
int main() { drain<<<1, 32>>>(10); }
//--- check
CHECK: template <int gmpi_resume> __global__ void drain__segment(::gmpi::Segment gmpi_segment, int n) { {{.*}} if (gmpi_re) gmpi_frame.restore{{(_uniform)?}}<{{[0-9]+}}, 4>(n);
CHECK-NEXT: while (gmpi_re || (n > 0)) {
CHECK-NEXT: if (::gmpi::split::MPI_Barrier<1>(gmpi_frame, gmpi_re, {{.*}} 4}, MPI_COMM_WORLD)) { gmpi_frame.save{{(_uniform)?}}<{{[0-9]+}}, 4>(n); return;
