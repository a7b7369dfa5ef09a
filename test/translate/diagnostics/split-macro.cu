// A loop whose header a macro makes, with a call in its body.
// RUN: rm -rf %t && split-file %s %t && cd %t
// RUN: not %gmpi-translate --lower=split --cuda-path=none in.cu -o out.cu 2>&1 | FileCheck --implicit-check-not=error: check
// RUN: not ls out.cu
// RUN: %gmpi-translate --lower=queue,split --cuda-path=none in.cu -o out.cu 2>&1 | FileCheck --check-prefix=WARN --implicit-check-not=warning: check
// RUN: FileCheck --check-prefix=OUT --implicit-check-not=gmpi_segment --input-file=out.cu check

//--- in.cu
#include <mpi.h>
#define TIMES(n) for (int i = 0; i < (n); ++i)
__global__ void k(int n) {
  TIMES(n) {
    MPI_Barrier(MPI_COMM_WORLD);
  }
}
int main() { k<<<1, 1>>>(3); }
//--- check
CHECK: in.cu:4:3: error: 'k' cannot be split: this comes from a macro and would have to be rewritten [gmpi-split-macro]
CHECK: note: write it out; an MPI call as a macro's argument works where the macro evaluates it once, first of all
WARN: in.cu:4:3: warning: 'k' cannot be split: this comes from a macro and would have to be rewritten [gmpi-split-macro]
OUT: void GMPI_KERNEL_REGISTERS k__queue(
