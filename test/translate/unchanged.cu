// A file without MPI in kernels comes out byte for byte, its launches included; the same input gives
// the same output; on the cpu device its kernels are made launchable.
// RUN: rm -rf %t && split-file %s %t && cd %t
// RUN: %gmpi-translate --cuda-path=none in.cu -o out.cu && cmp in.cu out.cu
// RUN: %gmpi-translate --cuda-path=none mpi.cu -o one.cu && %gmpi-translate --cuda-path=none mpi.cu -o two.cu && cmp one.cu two.cu
// RUN: %compile-cuda out.cu && %compile-cuda one.cu
// RUN: %gmpi-translate --device=cpu in.cu -o cpu.cu
// RUN: FileCheck --input-file=cpu.cu check
// RUN: %compile-cpu cpu.cu

//--- in.cu
#include <cstdio>
#include <mpi.h>
template <class T> __global__ void k( T n ) { __shared__ T tile[32]; tile[threadIdx.x] = n;	} // tab
__global__ void unused(int) {}
int main( ) {
  k <<<1, 1>>> (1);
  MPI_Barrier(MPI_COMM_WORLD); MPI_Comm dup; MPI_Comm_dup(MPI_COMM_WORLD, &dup);
}
//--- mpi.cu
#include <mpi.h>
__global__ void k(int n) { MPI_Barrier(MPI_COMM_WORLD); }
//--- check
CHECK: auto &tile = ::gmpi::cpu::shared<T [32]>({0x{{[0-9a-f]+}}, 3, 60}); tile[threadIdx.x] = n;
CHECK: static inline void k__launch(const ::gmpi::Launch &gmpi_launch, T n) { gmpi_launch(static_cast<void (*)(decltype(n))>(k<T>), n); }
CHECK: static const ::gmpi::Kernel unused__kernel{unused, unused__info};
CHECK: k__launch (::gmpi::Launch(1, 1), 1);
CHECK-NEXT: MPI_Barrier(MPI_COMM_WORLD); MPI_Comm dup;
