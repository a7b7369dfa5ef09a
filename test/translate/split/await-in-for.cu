// A loop lets a resumed segment in; its counter is in the frame. Bodies get the braces that they lack.
// RUN: rm -rf %t && split-file %s %t && cd %t
// RUN: %gmpi-translate --lower=split --cuda-path=none in.cu -o out.cu
// RUN: FileCheck --input-file=out.cu check
// RUN: %compile-cuda out.cu
// RUN: %gmpi-translate --lower=split --device=cpu in.cu -o cpu.cu
// RUN: %compile-cpu cpu.cu

//--- in.cu
#include <mpi.h>
__global__ void relax(double *u, int steps) {
  for (int s = 0; s < steps; ++s) {
    u[s] = s;
    if (s == 3)
      continue;
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < s; ++i)
      u[i] += s;
  }
}
__global__ void no_braces(int steps) {
  int s;
  for (s = 0; s < steps; s++)
    MPI_Barrier(MPI_COMM_WORLD);
  for (;;) {
    MPI_Barrier(MPI_COMM_WORLD);
    break;
  }
}
int main() {
  relax<<<1, 32>>>(nullptr, 10);
  no_braces<<<1, 32>>>(10);
}
//--- check
CHECK: template <int gmpi_resume> __global__ void relax__segment(::gmpi::Segment gmpi_segment, double *u, int steps) { {{.*}}
CHECK-NEXT: int s = gmpi_re ? gmpi_frame.saved{{(_uniform)?}}<decltype(s), {{[0-9]+}}, 4>() : (0); for (; gmpi_re || (s < steps); ++s) {
CHECK-NEXT: if (!gmpi_re) { u[s] = s;
CHECK: continue;
CHECK-NEXT: if (::gmpi::split::MPI_Barrier<1>(gmpi_frame, gmpi_re, {{.*}} 7}, MPI_COMM_WORLD)) { gmpi_frame.save{{(_uniform)?}}<{{[0-9]+}}, 4>(s); return;
CHECK: template <int gmpi_resume> __global__ void no_braces__segment(::gmpi::Segment gmpi_segment, int steps) { {{.*}}
CHECK-NEXT: int s; if (gmpi_re) gmpi_frame.restore{{(_uniform)?}}<{{[0-9]+}}, 4>(s);
CHECK-NEXT: if (!gmpi_re || gmpi_resume == 1) { if (!gmpi_re) { s = 0; } for (; gmpi_re || (s < steps); s++)
CHECK-NEXT: if (::gmpi::split::MPI_Barrier<1>(gmpi_frame, gmpi_re, {{.*}} 15}, MPI_COMM_WORLD)) { gmpi_frame.save{{(_uniform)?}}<{{[0-9]+}}, 4>(s); return;
CHECK-NEXT: for (;;) {
CHECK-NEXT: if (::gmpi::split::MPI_Barrier<2>(gmpi_frame, gmpi_re, {{.*}} 17}, MPI_COMM_WORLD)) { return;
CHECK: relax__launch(::gmpi::Launch(1, 32), nullptr, 10);
CHECK-NEXT: no_braces__launch(::gmpi::Launch(1, 32), 10);
