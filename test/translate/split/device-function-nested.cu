// Functions that suspend call functions that suspend; a call takes as many resume points as the function has.
// RUN: rm -rf %t && split-file %s %t && cd %t
// RUN: %gmpi-translate --lower=split --cuda-path=none in.cu -o out.cu
// RUN: FileCheck --input-file=out.cu check
// RUN: %compile-cuda out.cu
// RUN: %gmpi-translate --lower=split --device=cpu in.cu -o cpu.cu
// RUN: %compile-cpu cpu.cu

//--- in.cu
#include <mpi.h>
__device__ void inner(int *buf) {
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Bcast(buf, 1, MPI_INT, 0, MPI_COMM_WORLD);
}
__device__ void outer(int *buf, int &count) {
  inner(buf);
  ++count;
  MPI_Barrier(MPI_COMM_WORLD);
  inner(buf + 1);
}
__global__ void k(int *buf) {
  int count = 0;
  for (int i = 0; i < 3; ++i)
    outer(buf, count);
  buf[0] = count;
}
int main() { k<<<1, 32>>>(nullptr); }
//--- check
CHECK: ::gmpi::grid::MPI_Barrier({{.*}} 3}, MPI_COMM_WORLD);
CHECK-NEXT: ::gmpi::grid::MPI_Bcast({{.*}} 4}, buf, 1, MPI_INT, 0, MPI_COMM_WORLD);
CHECK: template <int gmpi_resume> __device__ inline bool inner__segment(::gmpi::Frame gmpi_frame, bool &gmpi_re, int *buf) { if (gmpi_re) gmpi_frame.restore{{(_uniform)?}}<{{[0-9]+}}, 8>(buf);
CHECK-NEXT: if (!gmpi_re || gmpi_resume == 1) { if (::gmpi::split::MPI_Barrier<1>(gmpi_frame, gmpi_re, {{.*}} 3}, MPI_COMM_WORLD)) { gmpi_frame.save{{(_uniform)?}}<{{[0-9]+}}, 8>(buf); return true;
CHECK-NEXT: if (::gmpi::split::MPI_Bcast<2>(gmpi_frame, gmpi_re, {{.*}} 4}, buf, 1, MPI_INT, 0, MPI_COMM_WORLD)) { gmpi_frame.save{{(_uniform)?}}<{{[0-9]+}}, 8>(buf); return true;
CHECK-NEXT: return false;
CHECK-NEXT: #line 6
CHECK: ::gmpi::grid::MPI_Barrier({{.*}} 9}, MPI_COMM_WORLD);
CHECK: template <int gmpi_resume> __device__ inline bool outer__segment(::gmpi::Frame gmpi_frame, bool &gmpi_re, int *buf, int &gmpi_passed_count) { if (gmpi_re) gmpi_frame.restore{{(_uniform)?}}<{{[0-9]+}}, 8>(buf); decltype(gmpi_passed_count) count = gmpi_re ? gmpi_frame.saved_reference<decltype(gmpi_passed_count), {{[0-9]+}}, 8>() : gmpi_passed_count; {{.*}}
CHECK-NEXT: if (!gmpi_re || (gmpi_resume >= 1 && gmpi_resume <= 2)) { if (inner__segment<::gmpi::within(gmpi_resume, 1, 2)>(gmpi_frame.callee(gmpi_inner_{{[0-9]+}}_uniform, gmpi_inner_{{[0-9]+}}_block, gmpi_inner_{{[0-9]+}}_thread, 1), gmpi_re, buf)) { gmpi_frame.save{{(_uniform)?}}<{{[0-9]+}}, 8>(buf); gmpi_frame.save_reference<{{[0-9]+}}, 8>(count); return true;
CHECK-NEXT: if (!gmpi_re) { ++count; }
CHECK-NEXT: if (!gmpi_re || gmpi_resume == 3) { if (::gmpi::split::MPI_Barrier<3>(gmpi_frame, gmpi_re, {{.*}} 9}, MPI_COMM_WORLD)) { gmpi_frame.save{{(_uniform)?}}<{{[0-9]+}}, 8>(buf); return true;
CHECK-NEXT: if (inner__segment<::gmpi::within(gmpi_resume, 4, 5)>(gmpi_frame.callee(gmpi_inner_{{[0-9]+}}_uniform, gmpi_inner_{{[0-9]+}}_block, gmpi_inner_{{[0-9]+}}_thread, 4), gmpi_re, buf + 1)) { gmpi_frame.save{{(_uniform)?}}<{{[0-9]+}}, 8>(buf); return true; }
CHECK-NEXT: return false;
CHECK-NEXT: #line 12
CHECK-NEXT: template <int gmpi_resume> __global__ void k__segment(::gmpi::Segment gmpi_segment, int *buf) { {{.*}}
CHECK-NEXT: typedef int gmpi_count_t ; gmpi_count_t &count = gmpi_frame.resident<gmpi_count_t, {{[0-9]+}}, 4>(); if (!gmpi_re) { int gmpi_init = 0; ::gmpi::split::copy(count, gmpi_init); }
CHECK-NEXT: int i = gmpi_re ? gmpi_frame.saved{{(_uniform)?}}<decltype(i), {{[0-9]+}}, 4>() : (0); for (; gmpi_re || (i < 3); ++i)
CHECK-NEXT: if (outer__segment<::gmpi::within(gmpi_resume, 1, 5)>(gmpi_frame.callee(gmpi_outer_{{[0-9]+}}_uniform, gmpi_outer_{{[0-9]+}}_block, gmpi_outer_{{[0-9]+}}_thread, 1), gmpi_re, buf, count)) { gmpi_frame.save{{(_uniform)?}}<{{[0-9]+}}, 4>(i); return;
