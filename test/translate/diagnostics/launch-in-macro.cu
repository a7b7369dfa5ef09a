// RUN: rm -rf %t && split-file %s %t && cd %t
// RUN: not %gmpi-translate --cuda-path=none in.cu -o out.cu 2>&1 | FileCheck --implicit-check-not=error: check

//--- in.cu
#include <mpi.h>
#define LAUNCH(kernel, ...) kernel<<<1, 32>>>(__VA_ARGS__)
__global__ void k(int n) { MPI_Barrier(MPI_COMM_WORLD); }
__global__ void plain(int n) {}
int main() {
  LAUNCH(plain, 1);
  LAUNCH(k, 1);
}
//--- check
CHECK: in.cu:7:3: error: this launch stands in the body of a macro, where it cannot be rewritten [gmpi-launch-in-macro]
CHECK: note: write the launch outside the macro; a launch as a macro's argument works
CHECK: in.cu:2:{{[0-9]+}}: note: macro 'LAUNCH' is defined here
