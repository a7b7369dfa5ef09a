// Two to four arguments, spaces and comments, conversions, templates with commas, launches as macro
// arguments and in templates.
// RUN: rm -rf %t && split-file %s %t && cd %t
// RUN: %gmpi-translate --cuda-path=none in.cu -o out.cu
// RUN: FileCheck --input-file=out.cu check
// RUN: %compile-cuda out.cu
// RUN: %gmpi-translate --device=cpu in.cu -o cpu.cu
// RUN: %compile-cpu cpu.cu

//--- in.cu
#include <mpi.h>
#define ARGUMENT(...) __VA_ARGS__
#define GRID 1, 2
struct Three { operator int() const { return 3; } };
template <int A, int B> __global__ void t(int n, const char *s) { MPI_Barrier(MPI_COMM_WORLD); }
__global__ void k(double x) { MPI_Barrier(MPI_COMM_WORLD); }
template <class T> void host(T x) {
  k<<<1, 1>>>(x);
  t<sizeof(T), (2 > 1)><<<1, 1>>>(x, "");
}
int main() {
  cudaStream_t s = nullptr;
  k <<< 1, /* threads */ 2 >>> (3);
  k<<<1, 2, 64>>>(Three());
  k<<<1, 2, 64, s>>>(3.f);
  k<<<GRID>>>(4);
  (k)<<<1, 1>>>(5);
  ARGUMENT(k<<<1, 2>>>(6));
  t<1, (1, 2)><<<dim3(1, 1), 1>>>(Three(), "a");
  host(7);
}
//--- check
CHECK: k__launch(::gmpi::Launch(1, 1), x);
CHECK-NEXT: t__launch<sizeof(T), (2 > 1)>(::gmpi::Launch(1, 1), x, "");
CHECK: k__launch (::gmpi::Launch( 1, /* threads */ 2 ), 3);
CHECK-NEXT: k__launch(::gmpi::Launch(1, 2, 64), Three());
CHECK-NEXT: k__launch(::gmpi::Launch(1, 2, 64, s), 3.f);
CHECK-NEXT: k__launch(::gmpi::Launch(GRID), 4);
CHECK-NEXT: (k__launch)(::gmpi::Launch(1, 1), 5);
CHECK-NEXT: ARGUMENT(k__launch(::gmpi::Launch(1, 2), 6));
CHECK-NEXT: t__launch<1, (1, 2)>(::gmpi::Launch(dim3(1, 1), 1), Three(), "a");
