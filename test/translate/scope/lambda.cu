// A lambda is a device function of the kernel it stands in; captures are its members.
// RUN: rm -rf %t && split-file %s %t && cd %t
// RUN: %gmpi-translate --cuda-path=none in.cu -o out.cu --remarks 2>&1 | FileCheck check --implicit-check-not=in.cu:
// RUN: %compile-cuda out.cu
// RUN: %gmpi-translate --device=cpu in.cu -o cpu.cu --remarks 2>&1 | FileCheck check --implicit-check-not=in.cu:
// RUN: %compile-cpu cpu.cu

//--- in.cu
#include <mpi.h>
template <class F> __device__ void times(int n, F f) {
  for (int i = 0; i < n; ++i)
    f(i);
}
__global__ void k(double *buf, int n, int peer) {
  int count = n;
  auto send = [&](int tag) { MPI_Send(buf, count, MPI_DOUBLE, peer, tag, MPI_COMM_WORLD); };
  send(1);
  times(n, send);
  auto vary = [&count] { count = threadIdx.x; };
  vary();
  MPI_Send(buf, count, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD);
}
//--- check
CHECK: in.cu:8: MPI_Send: grid scope, queue: control and arguments are the same for all threads{{$}}
CHECK-NEXT: in.cu:13: MPI_Send: thread scope, queue: `count` depends on `threadIdx.x` (line 11){{$}}
