// A device function that is called by a qualified name.
// RUN: rm -rf %t && split-file %s %t && cd %t
// RUN: %gmpi-translate --lower=split --cuda-path=none in.cu -o out.cu
// RUN: FileCheck --input-file=out.cu check
// RUN: %compile-cuda out.cu
// RUN: %gmpi-translate --lower=split --device=cpu in.cu -o cpu.cu
// RUN: %compile-cpu cpu.cu

//--- in.cu
#include <mpi.h>
namespace halo {
__device__ void meet() { MPI_Barrier(MPI_COMM_WORLD); }
struct Side {
  static __device__ void meet() { MPI_Barrier(MPI_COMM_WORLD); }
};
} // namespace halo
__global__ void k() {
  halo::meet();
  halo::Side::meet();
}
int main() { k<<<1, 32>>>(); }
//--- check
CHECK: template <int gmpi_resume> __global__ void k__segment(
CHECK-NEXT: halo::meet__segment<::gmpi::within(gmpi_resume, 1, 1)>(
CHECK-NEXT: halo::Side::meet__segment<::gmpi::within(gmpi_resume, 2, 2)>(
