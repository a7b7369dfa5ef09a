// Signatures and bodies that a macro makes, as opposed to names that it is given.
// RUN: rm -rf %t && split-file %s %t && cd %t
// RUN: not %gmpi-translate --cuda-path=none in.cu -o out.cu 2>&1 | FileCheck --implicit-check-not=error: check

//--- in.cu
#include <mpi.h>
#define ALL(...) __VA_ARGS__
ALL(__global__ void second(int n) { MPI_Barrier(MPI_COMM_WORLD); })
#define ARGUMENTS (int n)
__global__ void third ARGUMENTS { MPI_Barrier(MPI_COMM_WORLD); }
int main() { second<<<1, 1>>>(1); third<<<1, 1>>>(1); }
//--- check
CHECK: in.cu:3:{{[0-9]+}}: error: the signature of 'second' comes from a macro and cannot be rewritten [gmpi-code-in-macro]
CHECK: note: write it out
CHECK: in.cu:5:17: error: the signature of 'third' comes from a macro and cannot be rewritten [gmpi-code-in-macro]
