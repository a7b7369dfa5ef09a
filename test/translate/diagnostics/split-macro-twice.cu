// A macro that evaluates its argument twice makes two calls, which cannot be made before it.
// RUN: rm -rf %t && split-file %s %t && cd %t
// RUN: not %gmpi-translate --lower=split --cuda-path=none in.cu -o out.cu 2>&1 | FileCheck --implicit-check-not=error: check

//--- in.cu
#include <mpi.h>
#define TWICE(call) ((call) + (call))
__global__ void k(int *buf) {
  buf[0] = TWICE(MPI_Barrier(MPI_COMM_WORLD));
}
int main() { k<<<1, 1>>>(nullptr); }
//--- check
CHECK: in.cu:4:{{[0-9]+}}: error: 'k' cannot be split: {{.*}}[gmpi-split-macro]
