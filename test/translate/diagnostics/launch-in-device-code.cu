// RUN: rm -rf %t && split-file %s %t && cd %t
// RUN: not %gmpi-translate --cuda-path=none in.cu -o out.cu -- -rdc=true 2>&1 | FileCheck --implicit-check-not=error: check

//--- in.cu
#include <mpi.h>
__global__ void k(int n) { MPI_Barrier(MPI_COMM_WORLD); }
__global__ void parent() { k<<<1, 1>>>(1); }
int main() { parent<<<1, 1>>>(); }
//--- check
CHECK: in.cu:3:28: error: kernel 'k' calls MPI and is launched from device code [gmpi-launch-in-device-code]
CHECK: note: launch it from the host
