// A call is made before the statement whose condition it stands in, or at the top of the loop.
// RUN: rm -rf %t && split-file %s %t && cd %t
// RUN: %gmpi-translate --lower=split --cuda-path=none in.cu -o out.cu
// RUN: FileCheck --input-file=out.cu check
// RUN: %compile-cuda out.cu
// RUN: %gmpi-translate --lower=split --device=cpu in.cu -o cpu.cu
// RUN: %compile-cpu cpu.cu

//--- in.cu
#include <mpi.h>
__global__ void converge(double *residual, double *sum, MPI_Request *request, int *flag) {
  if (MPI_Allreduce(residual, sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD) != MPI_SUCCESS)
    return;
  while (MPI_Test(request, flag, MPI_STATUS_IGNORE) == MPI_SUCCESS)
    residual[0] = 0;
  for (int i = 0; MPI_Barrier(MPI_COMM_WORLD) == MPI_SUCCESS; ++i)
    residual[i] = 0;
  switch (MPI_Barrier(MPI_COMM_WORLD)) {
  case MPI_SUCCESS:
    residual[1] = 1;
  }
}
int main() { converge<<<1, 32>>>(nullptr, nullptr, nullptr, nullptr); }
//--- check
CHECK: template <int gmpi_resume> __global__ void converge__segment(::gmpi::Segment gmpi_segment, double *residual, double *sum, MPI_Request *request, int *flag) { {{.*}} if (gmpi_frame.gone()) return;
CHECK-NEXT: if (!gmpi_re || gmpi_resume == 1) { if (::gmpi::split::MPI_Allreduce<1>(gmpi_frame, gmpi_re, {{.*}} 3}, residual, sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD)) { return; } int [[VALUE1:gmpi_value[0-9_]+]] = gmpi_frame.error(); if ([[VALUE1]] != MPI_SUCCESS)
CHECK-NEXT: return;
CHECK-NEXT: if (!gmpi_re || gmpi_resume == 2) { while (true)
CHECK-NEXT: if (!gmpi_re || gmpi_resume == 2) { if (::gmpi::split::MPI_Test<2>(gmpi_frame, gmpi_re, {{.*}} 5}, request, flag, MPI_STATUS_IGNORE)) { return; } int [[VALUE2:gmpi_value[0-9_]+]] = gmpi_frame.error(); if (!([[VALUE2]] == MPI_SUCCESS )) break; } residual[0] = 0;
CHECK-NEXT: if (!gmpi_re || gmpi_resume == 3) { int i = gmpi_re ? gmpi_frame.saved{{.*}} : (0); for (; ; ++i)
CHECK-NEXT: if (!gmpi_re || gmpi_resume == 3) { if (::gmpi::split::MPI_Barrier<3>(gmpi_frame, gmpi_re, {{.*}} 7}, MPI_COMM_WORLD)) { gmpi_frame.save{{(_uniform)?}}<{{[0-9]+}}, 4>(i); return; } int [[VALUE3:gmpi_value[0-9_]+]] = gmpi_frame.error(); if (!([[VALUE3]] == MPI_SUCCESS )) break; } residual[i] = 0;
CHECK-NEXT: if (::gmpi::split::MPI_Barrier<4>(gmpi_frame, gmpi_re, {{.*}} 9}, MPI_COMM_WORLD)) { return; } int [[VALUE4:gmpi_value[0-9_]+]] = gmpi_frame.error(); switch ([[VALUE4]]) {
