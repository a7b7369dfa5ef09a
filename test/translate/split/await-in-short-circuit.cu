// What decides whether the call is made is kept, for the way back to it.
// RUN: rm -rf %t && split-file %s %t && cd %t
// RUN: %gmpi-translate --lower=split --cuda-path=none in.cu -o out.cu
// RUN: FileCheck --input-file=out.cu check
// RUN: %compile-cuda out.cu
// RUN: %gmpi-translate --lower=split --device=cpu in.cu -o cpu.cu
// RUN: %compile-cpu cpu.cu

//--- in.cu
#include <mpi.h>
__global__ void both(int *buf, int n) {
  if (n > 3 && MPI_Barrier(MPI_COMM_WORLD) == MPI_SUCCESS)
    buf[0] = 1;
  bool done = n < 3 || MPI_Bcast(buf, n, MPI_INT, 0, MPI_COMM_WORLD) == MPI_SUCCESS;
  int error = n > 5 ? MPI_Barrier(MPI_COMM_WORLD) : 7;
  buf[1] = done + error;
}
int main() { both<<<1, 32>>>(nullptr, 32); }
//--- check
CHECK: template <int gmpi_resume> __global__ void both__segment(::gmpi::Segment gmpi_segment, int *buf, int n) { {{.*}}
CHECK-NEXT: if (!gmpi_re || gmpi_resume == 1) { bool [[VALUE1:gmpi_value[0-9_]+]] = gmpi_re ? gmpi_frame.saved{{(_uniform)?}}<bool, {{[0-9]+}}, 1>() : static_cast<bool>(n > 3); if ([[VALUE1]]) { if (::gmpi::split::MPI_Barrier<1>(gmpi_frame, gmpi_re, {{.*}} 3}, MPI_COMM_WORLD)) { gmpi_frame.save{{(_uniform)?}}<{{[0-9]+}}, 1>([[VALUE1]]); return; } int [[VALUE2:gmpi_value[0-9_]+]] = gmpi_frame.error(); [[VALUE1]] = static_cast<bool>([[VALUE2]] == MPI_SUCCESS); } if ([[VALUE1]])
CHECK-NEXT: buf[0] = 1;
CHECK-NEXT: bool [[VALUE3:gmpi_value[0-9_]+]] = gmpi_re ? gmpi_frame.saved{{(_uniform)?}}<bool, {{[0-9]+}}, 1>() : static_cast<bool>(n < 3); if (!gmpi_re || gmpi_resume == 2) if (![[VALUE3]]) { if (::gmpi::split::MPI_Bcast<2>(gmpi_frame, gmpi_re, {{.*}} 5}, buf, n, MPI_INT, 0, MPI_COMM_WORLD)) { gmpi_frame.save{{(_uniform)?}}<{{[0-9]+}}, 1>([[VALUE3]]); return; } int [[VALUE4:gmpi_value[0-9_]+]] = gmpi_frame.error(); [[VALUE3]] = static_cast<bool>([[VALUE4]] == MPI_SUCCESS); } bool done = gmpi_re ? gmpi_frame.saved{{(_uniform)?}}<decltype(done), {{[0-9]+}}, 1>() : ([[VALUE3]]);
CHECK-NEXT: bool [[VALUE5:gmpi_value[0-9_]+]] = gmpi_re ? gmpi_frame.saved{{(_uniform)?}}<bool, {{[0-9]+}}, 1>() : static_cast<bool>(n > 5); int [[VALUE6:gmpi_value[0-9_]+]] = gmpi_re ? gmpi_frame.saved{{(_uniform)?}}<int, {{[0-9]+}}, 8>() : 0; if ([[VALUE5]]) { if (::gmpi::split::MPI_Barrier<3>(gmpi_frame, gmpi_re, {{.*}} 6}, MPI_COMM_WORLD)) { gmpi_frame.save{{(_uniform)?}}<{{[0-9]+}}, 1>(done); gmpi_frame.save{{(_uniform)?}}<{{[0-9]+}}, 1>([[VALUE5]]); gmpi_frame.save{{(_uniform)?}}<{{[0-9]+}}, 8>([[VALUE6]]); return; } int [[VALUE7:gmpi_value[0-9_]+]] = gmpi_frame.error(); [[VALUE6]] = [[VALUE7]]; } if (![[VALUE5]]) { [[VALUE6]] = 7; } int error = [[VALUE6]];
