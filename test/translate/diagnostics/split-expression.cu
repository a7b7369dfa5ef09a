// Calls in expressions whose order of evaluation they would change.
// RUN: rm -rf %t && split-file %s %t && cd %t
// RUN: not %gmpi-translate --lower=split --cuda-path=none in.cu -o out.cu 2>&1 | FileCheck --implicit-check-not=error: check
// RUN: not ls out.cu
// RUN: %gmpi-translate --lower=queue,split --cuda-path=none in.cu -o out.cu 2>&1 | FileCheck --check-prefix=WARN --implicit-check-not=warning: check
// RUN: FileCheck --check-prefix=OUT --implicit-check-not=gmpi_segment --input-file=out.cu check

//--- in.cu
#include <mpi.h>
struct Pair { int a, b; };
__device__ Pair pair(int a) { return {a, a}; }
__global__ void order(int *buf) {
  int next = buf[0];
  buf[MPI_Barrier(MPI_COMM_WORLD)] = next++;
}
__global__ void branches(Pair *buf, int n) {
  buf[1] = n > 3 ? pair(MPI_Barrier(MPI_COMM_WORLD)) : pair(3);
}
int main() {
  order<<<1, 1>>>(nullptr);
  branches<<<1, 1>>>(nullptr, 3);
}
//--- check
CHECK: in.cu:6:3: error: 'order' cannot be split: the MPI call cannot be taken out of this expression [gmpi-split-expression]
CHECK: note: make the call in a statement of its own, and use its result behind it
CHECK: in.cu:9:12: error: 'branches' cannot be split: the MPI call cannot be taken out of this expression [gmpi-split-expression]
WARN: in.cu:6:3: warning: 'order' cannot be split: the MPI call cannot be taken out of this expression [gmpi-split-expression]
WARN: in.cu:9:12: warning: 'branches' cannot be split: the MPI call cannot be taken out of this expression [gmpi-split-expression]
OUT: void GMPI_KERNEL_REGISTERS order__queue(
OUT: void GMPI_KERNEL_REGISTERS branches__queue(
