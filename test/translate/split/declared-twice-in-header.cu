// An `if` that declares two variables, of which the second needs the first.
// RUN: rm -rf %t && split-file %s %t && cd %t
// RUN: %gmpi-translate --lower=split --cuda-path=none in.cu -o out.cu
// RUN: FileCheck --input-file=out.cu check
// RUN: %gmpi-translate --lower=split --device=cpu in.cu -o cpu.cu
// RUN: %compile-cpu cpu.cu
// RUN: %compile-cuda out.cu

//--- in.cu
#include <mpi.h>
__global__ void k(const int *in, int *buf) {
  if (const int *p = in + 1; int first = p[0])
    MPI_Bcast(buf, first, MPI_INT, 0, MPI_COMM_WORLD);
}
int main() { k<<<1, 32>>>(nullptr, nullptr); }
//--- check
CHECK: template <int gmpi_resume> __global__ void k__segment(
CHECK-NEXT: const int *p = {{.*}} int first = {{.*}}(p[0])
CHECK-NEXT: ::gmpi::split::MPI_Bcast<1>(gmpi_frame, gmpi_re, {{.*}} 4}, buf, first,
