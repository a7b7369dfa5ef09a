// A device function with a barrier of the grid is resumable though it makes no MPI call.
// RUN: rm -rf %t && split-file %s %t && cd %t
// RUN: %gmpi-translate --lower=split --cuda-path=none in.cu -o out.cu
// RUN: FileCheck --input-file=out.cu check
// RUN: %compile-cuda out.cu
// RUN: %gmpi-translate --lower=split --device=cpu in.cu -o cpu.cu
// RUN: %compile-cpu cpu.cu

//--- in.cu
#include <mpi.h>
#include <cooperative_groups.h>
__device__ void meet(int *buf) {
  buf[threadIdx.x] = 1;
  cooperative_groups::this_grid().sync();
}
__global__ void k(int *buf) {
  meet(buf);
  MPI_Barrier(MPI_COMM_WORLD);
}
int main() { k<<<1, 32>>>(nullptr); }
//--- check
CHECK: template <int gmpi_resume> __device__ inline bool meet__segment(::gmpi::Frame gmpi_frame, bool &gmpi_re, int *buf) {
CHECK-NEXT: if (!gmpi_re) { buf[threadIdx.x] = 1; }
CHECK-NEXT: if (::gmpi::split::grid_sync<1>(gmpi_frame, gmpi_re)) { return true; }
CHECK-NEXT: return false;
CHECK-NEXT: #line 7
CHECK-NEXT: template <int gmpi_resume> __global__ void k__segment(::gmpi::Segment gmpi_segment, int *buf) { {{.*}}
CHECK-NEXT: if (!gmpi_re || gmpi_resume == 1) { if (meet__segment<::gmpi::within(gmpi_resume, 1, 1)>(gmpi_frame.callee(gmpi_meet_{{[0-9]+}}_uniform, gmpi_meet_{{[0-9]+}}_block, gmpi_meet_{{[0-9]+}}_thread, 1), gmpi_re, buf)) { return;
CHECK-NEXT: if (::gmpi::split::MPI_Barrier<2>(gmpi_frame, gmpi_re, {{.*}} 9}, MPI_COMM_WORLD)) { return;
