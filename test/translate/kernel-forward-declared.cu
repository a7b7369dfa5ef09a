// A launch between a kernel's declaration and its definition needs the launch function declared;
// default arguments stay where the user put them.
// RUN: rm -rf %t && split-file %s %t && cd %t
// RUN: %gmpi-translate --cuda-path=none in.cu -o out.cu
// RUN: FileCheck --input-file=out.cu check
// RUN: %compile-cuda out.cu
// RUN: %gmpi-translate --device=cpu in.cu -o cpu.cu
// RUN: %compile-cpu cpu.cu

//--- in.cu
#include <mpi.h>
template <class T> __global__ void early(T *p, int n = 7);
__global__ void late(int n = 3);
void host() { early<<<1, 1>>>((int *)nullptr); }
template <class T> __global__ void early(T *p, int n) { MPI_Bcast(p, n, MPI_INT, 0, MPI_COMM_WORLD); }
__global__ void late(int n) { MPI_Barrier(MPI_COMM_WORLD); }
void after() { late<<<1, 1>>>(); }
//--- check
CHECK: __global__ void early(T *p, int n = 7);
CHECK-NEXT: template <class T> static inline void early__launch(const ::gmpi::Launch &gmpi_launch, T *p, int n = 7);
CHECK-NEXT: #line 3 "in.cu"
CHECK-NEXT: __global__ void late(int n = 3);
CHECK-NEXT: void host() { early__launch(::gmpi::Launch(1, 1), (int *)nullptr); }
CHECK: early__launch(const ::gmpi::Launch &gmpi_launch, T *p, int n) {
CHECK: late__launch(const ::gmpi::Launch &gmpi_launch, int n = 3) {
CHECK: void after() { late__launch(::gmpi::Launch(1, 1)); }
