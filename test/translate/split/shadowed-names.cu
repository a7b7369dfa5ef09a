// A variable that is hidden where it must be saved has another name there.
// RUN: rm -rf %t && split-file %s %t && cd %t
// RUN: %gmpi-translate --lower=split --cuda-path=none in.cu -o out.cu
// RUN: FileCheck --input-file=out.cu check
// RUN: %compile-cuda out.cu
// RUN: %gmpi-translate --lower=split --device=cpu in.cu -o cpu.cu
// RUN: %compile-cpu cpu.cu

//--- in.cu
#include <mpi.h>
__global__ void shadow(int *buf, double n) {
  int x = buf[threadIdx.x];
  {
    double x = buf[0] * 0.5;
    MPI_Barrier(MPI_COMM_WORLD);
    buf[1] = int(x);
  }
  for (int n = 0; n < 3; ++n) {
    MPI_Barrier(MPI_COMM_WORLD);
    buf[n] = x;
  }
  buf[2] = int(n) + x;
}
int main() { shadow<<<1, 32>>>(nullptr, 32); }
//--- check
CHECK: template <int gmpi_resume> __global__ void shadow__segment(::gmpi::Segment gmpi_segment, int *buf, double n) { {{.*}}
CHECK-NEXT: int x = gmpi_re ? gmpi_frame.saved{{(_uniform)?}}<decltype(x), {{[0-9]+}}, 4>() : (buf[threadIdx.x]); auto &gmpi_outer_x_3 = x;
CHECK-NEXT: if (!gmpi_re || gmpi_resume == 1) { {
CHECK-NEXT: double x = gmpi_re ? gmpi_frame.saved{{(_uniform)?}}<decltype(x), {{[0-9]+}}, 8>() : (buf[0] * 0.5);
CHECK-NEXT: if (::gmpi::split::MPI_Barrier<1>(gmpi_frame, gmpi_re, {{.*}} 6}, MPI_COMM_WORLD)) { gmpi_frame.save{{(_uniform)?}}<{{[0-9]+}}, 4>(gmpi_outer_x_3); gmpi_frame.save{{(_uniform)?}}<{{[0-9]+}}, 8>(x); return;
CHECK: int n = gmpi_re ? gmpi_frame.saved{{(_uniform)?}}<decltype(n), {{[0-9]+}}, 4>() : (0); for (; gmpi_re || (n < 3); ++n) {
CHECK-NEXT: if (::gmpi::split::MPI_Barrier<2>(gmpi_frame, gmpi_re, {{.*}} 10}, MPI_COMM_WORLD)) { gmpi_frame.save{{(_uniform)?}}<{{[0-9]+}}, 4>(gmpi_outer_x_3); gmpi_frame.save{{(_uniform)?}}<{{[0-9]+}}, 4>(n); return;
