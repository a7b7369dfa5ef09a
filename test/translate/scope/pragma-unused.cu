// A pragma that decides nothing is told of.
// RUN: rm -rf %t && split-file %s %t && cd %t
// RUN: %gmpi-translate --cuda-path=none in.cu -o out.cu --remarks 2>&1 | FileCheck check --implicit-check-not=in.cu:
// RUN: %compile-cuda out.cu
// RUN: %gmpi-translate --device=cpu in.cu -o cpu.cu --remarks 2>&1 | FileCheck check --implicit-check-not=in.cu:
// RUN: %compile-cpu cpu.cu

//--- in.cu
#include <mpi.h>
__global__ void k(double *buf) {
#pragma gmpi scope(thread)
  buf[0] = 1;
  MPI_Barrier(MPI_COMM_WORLD);
}
//--- check
CHECK: in.cu:3:{{.*}} warning: this '#pragma gmpi scope' comes before no statement with an MPI call [gmpi-scope-unused-pragma]
CHECK-NEXT: {{.+}}
CHECK-NEXT: {{.+}}
CHECK-NEXT: note: put it right before the call
CHECK-NEXT: in.cu:5: MPI_Barrier: grid scope, queue: control and arguments are the same for all threads{{$}}
