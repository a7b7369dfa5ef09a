// A kernel whose only call stands in a lambda is not silently left whole.
// RUN: rm -rf %t && split-file %s %t && cd %t
// RUN: not %gmpi-translate --lower=split --cuda-path=none in.cu -o out.cu 2>&1 | FileCheck --implicit-check-not=error: check

//--- in.cu
#include <mpi.h>
__global__ void k() {
  auto meet = [] { return MPI_Barrier(MPI_COMM_WORLD); };
  meet();
}
int main() { k<<<1, 1>>>(); }
//--- check
CHECK: in.cu:3:15: error: 'k' cannot be split: this lambda in it makes MPI calls for the whole grid [gmpi-split-lambda]
CHECK: in.cu:3:27: note: the call is here
