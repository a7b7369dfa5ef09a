// A lambda in a function that a kernel calls: nothing of the function suspends, and its callers must not be split.
// RUN: rm -rf %t && split-file %s %t && cd %t
// RUN: not %gmpi-translate --lower=split --cuda-path=none in.cu -o out.cu 2>&1 | FileCheck --implicit-check-not=error: check
// RUN: not ls out.cu
// RUN: not %gmpi-translate --lower=split --cuda-path=none alone.cu -o out.cu 2>&1 | FileCheck --check-prefix=ALONE check
// RUN: %gmpi-translate --lower=queue,split --cuda-path=none in.cu -o out.cu 2>&1 | FileCheck --check-prefix=WARN check
// RUN: FileCheck --check-prefix=OUT --implicit-check-not=gmpi_segment --input-file=out.cu check

//--- in.cu
#include <mpi.h>
__device__ void helper(int *buf) {
  auto meet = [] { MPI_Barrier(MPI_COMM_WORLD); };
  meet();
  buf[0] = 1;
}
__global__ void first(int *buf) {
  MPI_Barrier(MPI_COMM_WORLD);
  helper(buf);
}
__global__ void second(int *buf) { helper(buf); }
int main() {
  first<<<1, 32>>>(nullptr);
  second<<<1, 32>>>(nullptr);
}
//--- alone.cu
#include <mpi.h>
__device__ void helper() {
  auto meet = [] { MPI_Barrier(MPI_COMM_WORLD); };
  meet();
}
__global__ void k() { helper(); }
int main() { k<<<1, 32>>>(); }
//--- check
ALONE: alone.cu:3:15: error: 'helper' cannot be split: this lambda in it makes MPI calls for the whole grid [gmpi-split-lambda]
CHECK: in.cu:3:15: error: 'helper' cannot be split: this lambda in it makes MPI calls for the whole grid [gmpi-split-lambda]
CHECK: in.cu:3:20: note: the call is here
WARN: in.cu:3:15: warning: 'helper' cannot be split: this lambda in it makes MPI calls for the whole grid [gmpi-split-lambda]
OUT: void GMPI_KERNEL_REGISTERS first__queue(
OUT: void GMPI_KERNEL_REGISTERS second__queue(
