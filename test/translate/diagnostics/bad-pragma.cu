// RUN: rm -rf %t && split-file %s %t && cd %t
// RUN: not %gmpi-translate --cuda-path=none in.cu -o out.cu 2>&1 | FileCheck --implicit-check-not=error: check

//--- in.cu
#include <mpi.h>
__global__ void k(int n) {
#pragma gmpi scope(warp)
  MPI_Barrier(MPI_COMM_WORLD);
}
//--- check
CHECK: in.cu:3:1: error: '#pragma gmpi scope(warp)' is not understood [gmpi-bad-pragma]
CHECK: note: it may be '#pragma gmpi scope(grid)', 'scope(block)' or 'scope(thread)'
