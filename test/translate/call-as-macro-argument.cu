// A call that is a macro's argument is edited there; the macro stays.
// RUN: rm -rf %t && split-file %s %t && cd %t
// RUN: %gmpi-translate --cuda-path=none in.cu -o out.cu
// RUN: FileCheck --input-file=out.cu check
// RUN: %compile-cuda out.cu
// RUN: %gmpi-translate --device=cpu in.cu -o cpu.cu
// RUN: %compile-cpu cpu.cu

//--- in.cu
#include <mpi.h>
#define CHECK(call) do { if ((call) != MPI_SUCCESS) printf("failed: %s\n", #call); } while (0)
#define TAG 4
__global__ void k(int *p) {
  CHECK(MPI_Send(p, 1, MPI_INT, 1, TAG, MPI_COMM_WORLD));
  CHECK( (MPI_Barrier) (MPI_COMM_WORLD));
}
int main() { k<<<1, 1>>>(nullptr); }
//--- check
CHECK: CHECK(::gmpi::grid::MPI_Send({{[{].*}}, 5}, p, 1, MPI_INT, 1, TAG, MPI_COMM_WORLD));
CHECK: CHECK( (::gmpi::grid::MPI_Barrier) ({{[{].*}}, 6}, MPI_COMM_WORLD));
