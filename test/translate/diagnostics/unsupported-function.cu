// MPI functions that kernels do not have are refused by our own message; what host code calls is
// nobody's business.
// RUN: rm -rf %t && split-file %s %t && cd %t
// RUN: not %gmpi-translate --cuda-path=none in.cu -o out.cu 2>&1 | FileCheck --implicit-check-not=error: check
// RUN: not %gmpi-translate --cuda-path=none template.cu -o out.cu 2>&1 | FileCheck --check-prefix=TEMPLATE --implicit-check-not=error: check

//--- in.cu
#include <mpi.h>
__device__ void helper() { PMPI_Barrier(MPI_COMM_WORLD); }
__global__ void k(double *p) {
  MPI_Comm dup;
  MPI_Comm_dup(MPI_COMM_WORLD, &dup);
  helper();
}
int main() { MPI_Comm_dup(MPI_COMM_WORLD, nullptr); k<<<1, 1>>>(nullptr); }
//--- template.cu
#include <mpi.h>
template <class T> __global__ void t(T *p) { MPI_Scan(p, p, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD); }
__global__ void k() {
  auto f = [=] { MPI_Comm_free(nullptr); };
  f();
}
//--- check
CHECK: in.cu:2:28: error: PMPI_Barrier cannot be called in a kernel [gmpi-unsupported-function]
CHECK: note: call it in host code; docs/mpi-functions.md lists what kernels may call
CHECK: in.cu:5:3: error: MPI_Comm_dup cannot be called in a kernel [gmpi-unsupported-function]
TEMPLATE: template.cu:2:46: error: MPI_Scan cannot be called in a kernel [gmpi-unsupported-function]
TEMPLATE: template.cu:4:18: error: MPI_Comm_free cannot be called in a kernel [gmpi-unsupported-function]
