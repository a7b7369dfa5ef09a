// `#pragma gmpi scope` becomes a comment, so that no compiler warns of it.
// RUN: rm -rf %t && split-file %s %t && cd %t
// RUN: %gmpi-translate --cuda-path=none in.cu -o out.cu
// RUN: FileCheck --input-file=out.cu check
// RUN: %compile-cuda -Werror all-warnings out.cu

//--- in.cu
#include <mpi.h>
__global__ void k(int *p) {
  #pragma gmpi scope(thread)
  MPI_Send(p, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
}
//--- check
CHECK: // #pragma gmpi scope(thread)
CHECK-NEXT: ::gmpi::thread::MPI_Send({{[{].*}}, 4}, p,
