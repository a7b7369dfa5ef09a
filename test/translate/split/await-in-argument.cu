// Calls are made in order of evaluation, before the statement; an argument that is itself a call is evaluated once.
// RUN: rm -rf %t && split-file %s %t && cd %t
// RUN: %gmpi-translate --lower=split --cuda-path=none in.cu -o out.cu
// RUN: FileCheck --input-file=out.cu check
// RUN: %compile-cuda out.cu
// RUN: %gmpi-translate --lower=split --device=cpu in.cu -o cpu.cu
// RUN: %compile-cpu cpu.cu

//--- in.cu
#include <mpi.h>
__device__ int worse(int a, int b) { return a > b ? a : b; }
__global__ void count(int *buf, int n) {
  int error = worse(MPI_Barrier(MPI_COMM_WORLD), MPI_Bcast(buf, n, MPI_INT, 0, MPI_COMM_WORLD));
  buf[worse(error, 0)] = MPI_Barrier(MPI_COMM_WORLD);
  MPI_Bcast(buf, worse(n, 3), MPI_INT, 0, MPI_COMM_WORLD);
}
int main() { count<<<1, 32>>>(nullptr, 32); }
//--- check
CHECK: template <int gmpi_resume> __global__ void count__segment(::gmpi::Segment gmpi_segment, int *buf, int n) { {{.*}}
CHECK-NEXT: if (!gmpi_re || gmpi_resume == 1) { if (::gmpi::split::MPI_Barrier<1>(gmpi_frame, gmpi_re, {{.*}} 4}, MPI_COMM_WORLD)) { return; } } int [[VALUE1:gmpi_value[0-9_]+]] = gmpi_re ? gmpi_frame.saved{{(_uniform)?}}<int, {{[0-9]+}}, 4>() : gmpi_frame.error(); if (!gmpi_re || gmpi_resume == 2) { if (::gmpi::split::MPI_Bcast<2>(gmpi_frame, gmpi_re, {{.*}} 4}, buf, n, MPI_INT, 0, MPI_COMM_WORLD)) { gmpi_frame.save{{(_uniform)?}}<{{[0-9]+}}, 4>([[VALUE1]]); return; } } int [[VALUE2:gmpi_value[0-9_]+]] = gmpi_frame.error(); int error = gmpi_re ? gmpi_frame.saved{{(_uniform)?}}<decltype(error), {{[0-9]+}}, 4>() : (worse([[VALUE1]], [[VALUE2]]));
CHECK-NEXT: if (!gmpi_re || gmpi_resume == 3) { if (::gmpi::split::MPI_Barrier<3>(gmpi_frame, gmpi_re, {{.*}} 5}, MPI_COMM_WORLD)) { gmpi_frame.save{{(_uniform)?}}<{{[0-9]+}}, 4>(error); return; } int [[VALUE3:gmpi_value[0-9_]+]] = gmpi_frame.error(); buf[worse(error, 0)] = [[VALUE3]];
CHECK-NEXT: auto [[ARGUMENT4:gmpi_argument[0-9_]+]] = gmpi_re ? gmpi_frame.saved{{(_uniform)?}}_auto<{{[0-9]+}}, 8>() : (worse(n, 3)); if (::gmpi::split::MPI_Bcast<4>(gmpi_frame, gmpi_re, {{.*}} 6}, buf, [[ARGUMENT4]], MPI_INT, 0, MPI_COMM_WORLD)) { gmpi_frame.save{{(_uniform)?}}<{{[0-9]+}}, 8>([[ARGUMENT4]]); return;
