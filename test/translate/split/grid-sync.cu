// A barrier of the grid is a suspension like a call; groups are made again. Barriers alone are no reason to split.
// RUN: rm -rf %t && split-file %s %t && cd %t
// RUN: %gmpi-translate --lower=split --cuda-path=none in.cu -o out.cu
// RUN: FileCheck --input-file=out.cu check
// RUN: %compile-cuda out.cu
// RUN: %gmpi-translate --lower=split --device=cpu in.cu -o cpu.cu
// RUN: %compile-cpu cpu.cu

//--- in.cu
#include <cooperative_groups.h>
#include <mpi.h>
namespace cg = cooperative_groups;
__global__ void k(int *buf) {
  cg::grid_group grid = cg::this_grid();
  auto block = cg::this_thread_block();
  MPI_Barrier(MPI_COMM_WORLD);
  buf[threadIdx.x] = 3;
  grid.sync();
  buf[0] = buf[31] + block.thread_rank();
}
__global__ void alone(int *buf) { cg::this_grid().sync(); }
int main() { k<<<1, 32>>>(nullptr); }
//--- check
CHECK: template <int gmpi_resume> __global__ void k__segment(::gmpi::Segment gmpi_segment, int *buf) { {{.*}}
CHECK: if (!gmpi_re || gmpi_resume == 1) { if (::gmpi::split::MPI_Barrier<1>(gmpi_frame, gmpi_re, {{.*}} 7}, MPI_COMM_WORLD)) { return;
CHECK-NEXT: if (!gmpi_re) { buf[threadIdx.x] = 3; }
CHECK-NEXT: if (::gmpi::split::grid_sync<2>(gmpi_frame, gmpi_re)) { return; }
