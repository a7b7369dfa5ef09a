// A call in an operand of inline assembly.
// RUN: rm -rf %t && split-file %s %t && cd %t
// RUN: not %gmpi-translate --lower=split --cuda-path=none in.cu -o out.cu 2>&1 | FileCheck --implicit-check-not=error: check
// RUN: not ls out.cu
// RUN: %gmpi-translate --lower=queue,split --cuda-path=none in.cu -o out.cu 2>&1 | FileCheck --check-prefix=WARN --implicit-check-not=warning: check
// RUN: FileCheck --check-prefix=OUT --implicit-check-not=gmpi_segment --input-file=out.cu check

//--- in.cu
#include <mpi.h>
__global__ void k() {
  asm volatile("" ::"r"(MPI_Barrier(MPI_COMM_WORLD)));
}
int main() { k<<<1, 1>>>(); }
//--- check
CHECK: in.cu:3:3: error: 'k' cannot be split: this kind of statement makes an MPI call for the whole grid [gmpi-split-statement]
CHECK: note: make the call outside of it
WARN: in.cu:3:3: warning: 'k' cannot be split: this kind of statement makes an MPI call for the whole grid [gmpi-split-statement]
OUT: void GMPI_KERNEL_REGISTERS k__queue(
