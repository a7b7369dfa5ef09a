// Function pointers, kernels whose body is elsewhere, expressions: launched by address. The address
// of a template's instantiation registers it.
// RUN: rm -rf %t && split-file %s %t && cd %t
// RUN: %gmpi-translate --cuda-path=none in.cu -o out.cu
// RUN: FileCheck --input-file=out.cu check
// RUN: %compile-cuda out.cu
// RUN: %gmpi-translate --device=cpu in.cu -o cpu.cu
// RUN: %compile-cpu cpu.cu

//--- in.cu
#include <mpi.h>
__global__ void elsewhere(int n);
__global__ void elsewhere(double n);
template <class T> __global__ void instance(T x);
__global__ void k(int n) { MPI_Barrier(MPI_COMM_WORLD); }
__global__ void plain(int n) {}
template <class T> __global__ void t(T n) { MPI_Barrier(MPI_COMM_WORLD); }
template <class F> void launch(F f) { f<<<1, 2>>>(1); }
int main() {
  void (*p)(int) = k;
  p<<<1, 2>>>(1);
  (*p)<<<1, 2, 3>>>(2);
  elsewhere<<<1, 2>>>(3);
  instance<int><<<1, 2>>>(4);
  auto q = t<int>;
  p = &t<int>;
  (p ? q : plain)<<<1, 2>>>(5);
  plain<<<1, 2>>>(6);
  launch(k);
}
//--- check
CHECK: void launch(F f) { ::gmpi::of(f)(::gmpi::Launch(1, 2))(1); }
CHECK: void (*p)(int) = k;
CHECK-NEXT: ::gmpi::of(p)(::gmpi::Launch(1, 2))(1);
CHECK-NEXT: ::gmpi::of((*p))(::gmpi::Launch(1, 2, 3))(2);
CHECK-NEXT: ::gmpi::of(static_cast<void (*)(int)>(elsewhere))(::gmpi::Launch(1, 2))(3);
CHECK-NEXT: ::gmpi::of(instance<int>)(::gmpi::Launch(1, 2))(4);
CHECK-NEXT: auto q = t__pointer<int>();
CHECK-NEXT: p = t__pointer<int>();
CHECK-NEXT: ::gmpi::of((p ? q : plain))(::gmpi::Launch(1, 2))(5);
CHECK-NEXT: plain<<<1, 2>>>(6);
