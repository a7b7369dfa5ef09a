// Through references, pointers and structures that hold them, into device functions and back.
// RUN: rm -rf %t && split-file %s %t && cd %t
// RUN: %gmpi-translate --cuda-path=none in.cu -o out.cu --remarks 2>&1 | FileCheck check --implicit-check-not=in.cu:
// RUN: %compile-cuda out.cu
// RUN: %gmpi-translate --device=cpu in.cu -o cpu.cu --remarks 2>&1 | FileCheck check --implicit-check-not=in.cu:
// RUN: %compile-cpu cpu.cu

//--- in.cu
#include <mpi.h>
template <class T> __device__ void exchange(T &a, T &b) { T t = a; a = b; b = t; }
__device__ void set(int *p, int value) { *p = value; }
struct Counter { int *at; __device__ void count() { *at = threadIdx.x; } };
__global__ void k(double *u, double *v, int n, int peer) {
  for (int s = 0; s < n; ++s) {
    exchange(u, v);
    MPI_Send(u, n, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD);
  }
  int a = threadIdx.x, b = n;
  set(&a, n);
  MPI_Send(u, a, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD);
  Counter counter{&b};
  counter.count();
  MPI_Send(u, b, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD);
  if (u[threadIdx.x] > 0)
    exchange(u, v);
  MPI_Send(u, n, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD);
}
//--- check
CHECK: in.cu:8: MPI_Send: grid scope, queue: control and arguments are the same for all threads{{$}}
CHECK-NEXT: in.cu:12: MPI_Send: grid scope, queue: control and arguments are the same for all threads{{$}}
CHECK-NEXT: in.cu:15: MPI_Send: thread scope, queue: `b` depends on `threadIdx.x` (line 4){{$}}
CHECK-NEXT: in.cu:18: MPI_Send: thread scope, queue: `u` is assigned under `u[threadIdx.x] > 0` (line 16){{$}}
