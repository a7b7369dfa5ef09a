// RUN: rm -rf %t && split-file %s %t && cd %t
// RUN: not %gmpi-translate --cuda-path=none in.cu -o out.cu -- -isystem sys 2>&1 | FileCheck --implicit-check-not=error: check

//--- in.cu
#include <mpi.h>
#include <user.h>
__global__ void k(int n) { exchange(); }
//--- sys/user.h
__device__ inline void exchange() { MPI_Barrier(MPI_COMM_WORLD); }
//--- check
CHECK: sys/user.h:1:37: error: 'MPI_Barrier' would have to be rewritten, but it is in a system header [gmpi-system-header]
CHECK: note: include the header from a folder given with -I instead of -isystem
