// A barrier of the grid in a lambda.
// RUN: rm -rf %t && split-file %s %t && cd %t
// RUN: not %gmpi-translate --lower=split --cuda-path=none in.cu -o out.cu 2>&1 | FileCheck check
// RUN: not ls out.cu
// RUN: %gmpi-translate --lower=queue,split --cuda-path=none in.cu -o out.cu 2>&1 | FileCheck --check-prefix=WARN check
// RUN: FileCheck --check-prefix=OUT --implicit-check-not=gmpi_segment --input-file=out.cu check

//--- in.cu
#include <mpi.h>
#include <cooperative_groups.h>
__global__ void k(int *buf) {
  auto meet = [] { cooperative_groups::this_grid().sync(); };
  meet();
  MPI_Barrier(MPI_COMM_WORLD);
}
int main() { k<<<1, 1>>>(nullptr); }
//--- check
CHECK: in.cu:4:52: error: 'k' cannot be split: this barrier of the whole grid is where it cannot suspend [gmpi-split-barrier]
CHECK: note: call the barrier in the kernel itself, or in a function that the kernel calls by its name
WARN: in.cu:4:52: warning: 'k' cannot be split: this barrier of the whole grid is where it cannot suspend [gmpi-split-barrier]
OUT: void GMPI_KERNEL_REGISTERS k__queue(
