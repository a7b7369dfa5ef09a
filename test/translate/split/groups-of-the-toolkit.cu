// Groups as the toolkit's own headers declare them, which are not trivially copyable, are made again.
// REQUIRES: nvcc
// RUN: rm -rf %t && split-file %s %t && cd %t
// RUN: %gmpi-translate --lower=split in.cu -o out.cu
// RUN: FileCheck --input-file=out.cu check
// RUN: %compile-cuda out.cu

//--- in.cu
#include <cooperative_groups.h>
#include <mpi.h>
__global__ void k(int *buf) {
  auto grid = cooperative_groups::this_grid();
  auto block = cooperative_groups::this_thread_block();
  MPI_Barrier(MPI_COMM_WORLD);
  grid.sync();
  buf[threadIdx.x] = block.thread_rank();
}
int main() { k<<<1, 32>>>(nullptr); }
//--- check
CHECK: template <int gmpi_resume> __global__ void k__segment(
CHECK-NEXT: auto grid = cooperative_groups::this_grid();
CHECK-NEXT: auto block = cooperative_groups::this_thread_block();
CHECK-NEXT: ::gmpi::split::MPI_Barrier<1>(
CHECK-NEXT: ::gmpi::split::grid_sync<2>(
