// Shared memory is somewhere else in the next segment: what points there is not kept.
// RUN: rm -rf %t && split-file %s %t && cd %t
// RUN: not %gmpi-translate --lower=split --cuda-path=none in.cu -o out.cu 2>&1 | FileCheck --implicit-check-not=error: check
// RUN: not ls out.cu
// RUN: %gmpi-translate --lower=queue,split --cuda-path=none in.cu -o out.cu 2>&1 | FileCheck --check-prefix=WARN --implicit-check-not=warning: check
// RUN: FileCheck --check-prefix=OUT --implicit-check-not=gmpi_segment --input-file=out.cu check

//--- in.cu
#include <mpi.h>
__device__ int meet(int *here) {
  MPI_Barrier(MPI_COMM_WORLD);
  return *here;
}
__global__ void k(int *buf) {
  __shared__ int tile[32];
  int *mine = tile + threadIdx.x;
  MPI_Barrier(MPI_COMM_WORLD);
  buf[0] = *mine;
}
__global__ void passes(int *buf) {
  __shared__ int tile[32];
  buf[0] = meet(tile);
}
int main() {
  k<<<1, 1>>>(nullptr);
  passes<<<1, 1>>>(nullptr);
}
//--- check
CHECK: in.cu:8:8: error: 'k' cannot be split: 'mine' may point into __shared__ memory and is live across an MPI call [gmpi-split-shared-pointer]
CHECK: note: keep an index instead of a pointer, or point there again after the call
CHECK: in.cu:14:12: error: 'passes' cannot be split: 'here' may point into __shared__ memory and is live across an MPI call [gmpi-split-shared-pointer]
WARN: in.cu:8:8: warning: 'k' cannot be split: 'mine' may point into __shared__ memory and is live across an MPI call [gmpi-split-shared-pointer]
WARN: in.cu:14:12: warning: 'passes' cannot be split: 'here' may point into __shared__ memory and is live across an MPI call [gmpi-split-shared-pointer]
OUT: void GMPI_KERNEL_REGISTERS k__queue(
OUT: void GMPI_KERNEL_REGISTERS passes__queue(
