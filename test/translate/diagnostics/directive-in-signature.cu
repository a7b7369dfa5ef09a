// RUN: rm -rf %t && split-file %s %t && cd %t
// RUN: not %gmpi-translate --cuda-path=none in.cu -o out.cu 2>&1 | FileCheck --implicit-check-not=error: check

//--- in.cu
#include <mpi.h>
__global__ void k(int n
#ifdef WITH_PEER
                  , int peer
#endif
                  ) { MPI_Barrier(MPI_COMM_WORLD); }
int main() { k<<<1, 1>>>(1); }
//--- check
CHECK: in.cu:2:17: error: a preprocessor directive stands within the signature of 'k' [gmpi-directive-in-signature]
CHECK: note: put the directive around the whole function
