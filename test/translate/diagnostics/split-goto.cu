// Labels among the statements that a resumed segment passes.
// RUN: rm -rf %t && split-file %s %t && cd %t
// RUN: not %gmpi-translate --lower=split --cuda-path=none in.cu -o out.cu 2>&1 | FileCheck --implicit-check-not=error: check
// RUN: not ls out.cu
// RUN: %gmpi-translate --lower=queue,split --cuda-path=none in.cu -o out.cu 2>&1 | FileCheck --check-prefix=WARN --implicit-check-not=warning: check
// RUN: FileCheck --check-prefix=OUT --implicit-check-not=gmpi_segment --input-file=out.cu check

//--- in.cu
#include <mpi.h>
__global__ void k(int n) {
again:
  MPI_Barrier(MPI_COMM_WORLD);
  if (--n > 0)
    goto again;
}
int main() { k<<<1, 1>>>(3); }
//--- check
CHECK: in.cu:3:1: error: 'k' cannot be split: it makes MPI calls for its whole grid and has labels [gmpi-split-goto]
CHECK: note: write loops and branches instead of goto
WARN: in.cu:3:1: warning: 'k' cannot be split: it makes MPI calls for its whole grid and has labels [gmpi-split-goto]
OUT: void GMPI_KERNEL_REGISTERS k__queue(
