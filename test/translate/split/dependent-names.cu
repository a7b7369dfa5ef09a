// Calls whose meaning depends on a template's arguments; what they name is a template itself.
// RUN: rm -rf %t && split-file %s %t && cd %t
// RUN: %gmpi-translate --lower=split --cuda-path=none in.cu -o out.cu
// RUN: FileCheck --input-file=out.cu check
// RUN: %compile-cuda out.cu
// RUN: %gmpi-translate --lower=split --device=cpu in.cu -o cpu.cu
// RUN: %compile-cpu cpu.cu

//--- in.cu
#include <mpi.h>
template <class T> struct Box {
  T held;
  __device__ void once() { MPI_Barrier(MPI_COMM_WORLD); }
  static __device__ void all(T *buf) { MPI_Barrier(MPI_COMM_WORLD); buf[1] = 1; }
};
struct Plain {
  template <int I> __device__ void repeat(int *buf) { MPI_Barrier(MPI_COMM_WORLD); buf[I] = 1; }
  template <int I> static __device__ void shared(int *buf) { MPI_Barrier(MPI_COMM_WORLD); buf[I] = 1; }
};
template <class T, class P> __global__ void k(T *buf) {
  Box<T> box{};
  box.once();
  Box<T>::all(buf);
  P plain;
  plain.template repeat<3>(buf);
  P::template shared<4>(buf);
}
int main() { k<int, Plain><<<1, 32>>>(nullptr); }
//--- check
CHECK: void k__segment(
CHECK: (box.template once__segment<::gmpi::within(gmpi_resume, 1, 1)>(
CHECK-NEXT: (Box<T>::template all__segment<::gmpi::within(gmpi_resume, 2, 2)>(
CHECK: (plain.template repeat__segment<::gmpi::within(gmpi_resume, 3, 3), 3>(
CHECK-NEXT: (P::template shared__segment<::gmpi::within(gmpi_resume, 4, 4), 4>(
