// A call in the body of a macro is refused, with a note at the macro.
// RUN: rm -rf %t && split-file %s %t && cd %t
// RUN: not %gmpi-translate --cuda-path=none in.cu -o out.cu 2>&1 | FileCheck --implicit-check-not=error: check
// RUN: not ls out.cu

//--- in.cu
#include <mpi.h>
#define BARRIER() MPI_Barrier(MPI_COMM_WORLD)
#define NAMED(name) name(MPI_COMM_WORLD)
__global__ void k() {
  BARRIER();
  NAMED(MPI_Barrier);
}
//--- check
CHECK: in.cu:5:3: error: this call of MPI_Barrier stands in the body of a macro, where it cannot be rewritten [gmpi-call-in-macro]
CHECK: note: write the call outside the macro, or make the macro a __device__ function
CHECK: in.cu:2:19: note: macro 'BARRIER' is defined here
CHECK: in.cu:6:3: error: this call of MPI_Barrier stands in the body of a macro{{.*}}[gmpi-call-in-macro]
