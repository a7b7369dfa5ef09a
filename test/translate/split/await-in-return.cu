// A device function gives its value through a reference and returns whether it has suspended.
// RUN: rm -rf %t && split-file %s %t && cd %t
// RUN: %gmpi-translate --lower=split --cuda-path=none in.cu -o out.cu
// RUN: FileCheck --input-file=out.cu check
// RUN: %compile-cuda out.cu
// RUN: %gmpi-translate --lower=split --device=cpu in.cu -o cpu.cu
// RUN: %compile-cpu cpu.cu

//--- in.cu
#include <mpi.h>
__device__ int meet(int *buf) {
  if (buf)
    return MPI_Bcast(buf, 1, MPI_INT, 0, MPI_COMM_WORLD);
  return MPI_Barrier(MPI_COMM_WORLD) + 1;
}
__device__ void just_meet() { return (void)MPI_Barrier(MPI_COMM_WORLD); }
__global__ void k(int *buf) {
  buf[1] = meet(buf);
  just_meet();
}
int main() { k<<<1, 32>>>(nullptr); }
//--- check
CHECK: return ::gmpi::grid::MPI_Bcast({{.*}} 4}, buf, 1, MPI_INT, 0, MPI_COMM_WORLD);
CHECK-NEXT: return ::gmpi::grid::MPI_Barrier({{.*}} 5}, MPI_COMM_WORLD) + 1;
CHECK: template <int gmpi_resume, class gmpi_Result> __device__ inline bool meet__segment(::gmpi::Frame gmpi_frame, bool &gmpi_re, gmpi_Result &gmpi_result, int *buf) { if (gmpi_re) gmpi_frame.restore{{(_uniform)?}}<{{[0-9]+}}, 8>(buf);
CHECK-NEXT: if (!gmpi_re || gmpi_resume == 1) { if (gmpi_re ? true : static_cast<bool>(buf))
CHECK-NEXT: if (::gmpi::split::MPI_Bcast<1>(gmpi_frame, gmpi_re, {{.*}} 4}, buf, 1, MPI_INT, 0, MPI_COMM_WORLD)) { gmpi_frame.save{{(_uniform)?}}<{{[0-9]+}}, 8>(buf); return true; } int [[VALUE1:gmpi_value[0-9_]+]] = gmpi_frame.error(); { gmpi_result = [[VALUE1]]; return false;
CHECK-NEXT: if (::gmpi::split::MPI_Barrier<2>(gmpi_frame, gmpi_re, {{.*}} 5}, MPI_COMM_WORLD)) { return true; } int [[VALUE2:gmpi_value[0-9_]+]] = gmpi_frame.error(); { gmpi_result = [[VALUE2]] + 1; return false;
CHECK-NEXT: return false;
CHECK-NEXT: #line 7
CHECK-NEXT: __device__ void just_meet() { return (void)::gmpi::grid::MPI_Barrier({{.*}} 7}, MPI_COMM_WORLD);
CHECK-NEXT: #line 7
CHECK-NEXT: template <int gmpi_resume> __device__ inline bool just_meet__segment(::gmpi::Frame gmpi_frame, bool &gmpi_re) { { if (::gmpi::split::MPI_Barrier<1>(gmpi_frame, gmpi_re, {{.*}} 7}, MPI_COMM_WORLD)) { return true; } int [[VALUE1:gmpi_value[0-9_]+]] = gmpi_frame.error(); { (void)[[VALUE1]]; return false; } } return false;
CHECK-NEXT: #line 8
CHECK-NEXT: template <int gmpi_resume> __global__ void k__segment(::gmpi::Segment gmpi_segment, int *buf) { {{.*}}
CHECK-NEXT: if (!gmpi_re || (gmpi_resume >= 1 && gmpi_resume <= 2)) { ::gmpi::split::Plain<decltype(meet(buf))> [[VALUE1:gmpi_value[0-9_]+]]; if (meet__segment<::gmpi::within(gmpi_resume, 1, 2)>(gmpi_frame.callee(gmpi_meet_{{[0-9]+}}_uniform, gmpi_meet_{{[0-9]+}}_block, gmpi_meet_{{[0-9]+}}_thread, 1), gmpi_re, [[VALUE1]], buf)) { return; } buf[1] = [[VALUE1]]; }
CHECK-NEXT: if (just_meet__segment<::gmpi::within(gmpi_resume, 3, 3)>(gmpi_frame.callee(gmpi_just_meet_{{[0-9]+}}_uniform, gmpi_just_meet_{{[0-9]+}}_block, gmpi_just_meet_{{[0-9]+}}_thread, 3), gmpi_re)) { return; }
