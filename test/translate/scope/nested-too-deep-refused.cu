// Calls nested without end in sight.
// RUN: rm -rf %t && split-file %s %t && cd %t
// RUN: not %gmpi-translate --cuda-path=none in.cu -o out.cu 2>&1 | FileCheck check --implicit-check-not=error: --implicit-check-not=note:
// RUN: not %gmpi-translate --device=cpu in.cu -o out.cu 2>&1 | FileCheck check --implicit-check-not=error: --implicit-check-not=note:
// RUN: not ls out.cu

//--- in.cu
#include <mpi.h>
template <int N> __device__ void send(double *buf) { send<N - 1>(buf); }
template <> __device__ void send<0>(double *buf) { MPI_Send(buf, 1, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD); }
__global__ void k(double *buf) { send<60>(buf); }
//--- check
CHECK: in.cu:2:{{.*}} error: `send` reaches MPI but the calls that lead there cannot be followed [gmpi-scope-too-deep]
CHECK: note: call MPI nearer to the kernel
CHECK: in.cu:2:{{.*}} note: `send` reaches MPI
