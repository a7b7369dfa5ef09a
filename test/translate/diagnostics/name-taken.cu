// RUN: rm -rf %t && split-file %s %t && cd %t
// RUN: not %gmpi-translate --cuda-path=none in.cu -o out.cu 2>&1 | FileCheck --implicit-check-not=error: check

//--- in.cu
#include <mpi.h>
int k__queue;
__global__ void k(int n) { MPI_Barrier(MPI_COMM_WORLD); }
//--- check
CHECK: in.cu:3:17: error: 'k__queue' is a name that the translated file needs [gmpi-name-taken]
CHECK: note: rename this declaration
