// Control comes back by the label that it went in by: the value is kept. `break` and falling through stay.
// RUN: rm -rf %t && split-file %s %t && cd %t
// RUN: %gmpi-translate --lower=split --cuda-path=none in.cu -o out.cu
// RUN: FileCheck --input-file=out.cu check
// RUN: %compile-cuda out.cu
// RUN: %gmpi-translate --lower=split --device=cpu in.cu -o cpu.cu
// RUN: %compile-cpu cpu.cu

//--- in.cu
#include <mpi.h>
__global__ void choose(int *buf, int which) {
  switch (which) {
  case 0:
    MPI_Barrier(MPI_COMM_WORLD);
    break;
  case 1:
    buf[0] = 1; // falls through
  case 2: {
    MPI_Bcast(buf, 1, MPI_INT, 0, MPI_COMM_WORLD);
  } break;
  default:
    buf[0] = 2;
  }
}
int main() { choose<<<1, 32>>>(nullptr, 1); }
//--- check
CHECK: template <int gmpi_resume> __global__ void choose__segment(::gmpi::Segment gmpi_segment, int *buf, int which) { {{.*}}
CHECK-NEXT: auto [[SWITCH1:gmpi_switch[0-9_]+]] = gmpi_re ? gmpi_frame.saved{{(_uniform)?}}_auto<{{[0-9]+}}, 8>() : (which); switch ([[SWITCH1]]) {
CHECK: if (!gmpi_re || gmpi_resume == 1) { if (::gmpi::split::MPI_Barrier<1>(gmpi_frame, gmpi_re, {{.*}} 5}, MPI_COMM_WORLD)) { gmpi_frame.save{{(_uniform)?}}<{{[0-9]+}}, 8>([[SWITCH1]]); return;
CHECK-NEXT: if (!gmpi_re) { break; }
CHECK: if (!gmpi_re) { buf[0] = 1; } // falls through
CHECK: if (::gmpi::split::MPI_Bcast<2>(gmpi_frame, gmpi_re, {{.*}} 10}, buf, 1, MPI_INT, 0, MPI_COMM_WORLD)) { gmpi_frame.save{{(_uniform)?}}<{{[0-9]+}}, 8>([[SWITCH1]]); return;
