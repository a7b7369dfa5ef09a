// Members too; an object whose member suspends lives in the frame.
// RUN: rm -rf %t && split-file %s %t && cd %t
// RUN: %gmpi-translate --lower=split --cuda-path=none in.cu -o out.cu
// RUN: FileCheck --input-file=out.cu check
// RUN: %compile-cuda out.cu
// RUN: %gmpi-translate --lower=split --device=cpu in.cu -o cpu.cu
// RUN: %compile-cpu cpu.cu

//--- in.cu
#include <mpi.h>
struct Grid {
  int *buf;
  __device__ int get(int i) const {
    MPI_Barrier(MPI_COMM_WORLD);
    return buf[i];
  }
  template <class T> static __device__ void meet(T) { MPI_Barrier(MPI_COMM_WORLD); }
};
__global__ void k(Grid grid) {
  grid.buf[1] = grid.get(2);
  grid.meet(1.0);
}
int main() { k<<<1, 32>>>(Grid{nullptr}); }
//--- check
CHECK: ::gmpi::grid::MPI_Barrier({{.*}} 5}, MPI_COMM_WORLD);
CHECK: template <int gmpi_resume, class gmpi_Result> __device__ inline bool get__segment(::gmpi::Frame gmpi_frame, bool &gmpi_re, gmpi_Result &gmpi_result, int i) const { if (gmpi_re) gmpi_frame.restore{{(_uniform)?}}<{{[0-9]+}}, 4>(i);
CHECK-NEXT: if (::gmpi::split::MPI_Barrier<1>(gmpi_frame, gmpi_re, {{.*}} 5}, MPI_COMM_WORLD)) { gmpi_frame.save{{(_uniform)?}}<{{[0-9]+}}, 4>(i); return true;
CHECK-NEXT: gmpi_result = buf[i]; return false;
CHECK-NEXT: return false;
CHECK-NEXT: #line 8
CHECK-NEXT: template <class T> static __device__ void meet(T) { ::gmpi::grid::MPI_Barrier({{.*}} 8}, MPI_COMM_WORLD);
CHECK-NEXT: #line 8
CHECK-NEXT: template <int gmpi_resume, class T> static __device__ inline bool meet__segment(::gmpi::Frame gmpi_frame, bool &gmpi_re, T) { if (::gmpi::split::MPI_Barrier<1>(gmpi_frame, gmpi_re, {{.*}} 8}, MPI_COMM_WORLD)) { return true; } return false;
CHECK-NEXT: #line 9
CHECK: template <int gmpi_resume> __global__ void k__segment(::gmpi::Segment gmpi_segment, Grid gmpi_passed_grid) { {{.*}} ::gmpi::split::Plain<decltype(gmpi_passed_grid)> &grid = gmpi_frame.resident<::gmpi::split::Plain<decltype(gmpi_passed_grid)>, {{[0-9]+}}, 8>(); if (!gmpi_re) ::gmpi::split::copy(grid, gmpi_passed_grid); {{.*}}
CHECK-NEXT: if (!gmpi_re || gmpi_resume == 1) { ::gmpi::split::Plain<decltype(grid.get(2))> [[VALUE1:gmpi_value[0-9_]+]]; if (grid.get__segment<::gmpi::within(gmpi_resume, 1, 1)>(gmpi_frame.callee(gmpi_get_{{[0-9]+}}_uniform, gmpi_get_{{[0-9]+}}_block, gmpi_get_{{[0-9]+}}_thread, 1), gmpi_re, [[VALUE1]], 2)) { return; } grid.buf[1] = [[VALUE1]]; }
CHECK-NEXT: if (grid.meet__segment<::gmpi::within(gmpi_resume, 2, 2)>(gmpi_frame.callee(gmpi_meet_{{[0-9]+}}_uniform, gmpi_meet_{{[0-9]+}}_block, gmpi_meet_{{[0-9]+}}_thread, 2), gmpi_re, 1.0)) { return; }
