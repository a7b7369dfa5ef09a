// Conditions that select one thread, or one block.
// RUN: rm -rf %t && split-file %s %t && cd %t
// RUN: %gmpi-translate --cuda-path=none in.cu -o out.cu --remarks 2>&1 | FileCheck check --implicit-check-not=in.cu:
// RUN: %compile-cuda out.cu
// RUN: %gmpi-translate --device=cpu in.cu -o cpu.cu --remarks 2>&1 | FileCheck check --implicit-check-not=in.cu:
// RUN: %compile-cpu cpu.cu

//--- in.cu
#include <mpi.h>
#include <cooperative_groups.h>
__device__ bool first() { return threadIdx.x == 0; }
__global__ void k(double *buf, int n, int peer) {
  if (threadIdx.x == 0)
    MPI_Send(buf, 1, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD);
  if (blockIdx.x == 0 && threadIdx.x == 0)
    MPI_Send(buf, 1, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD);
  int tid = blockIdx.x * blockDim.x + threadIdx.x;
  if (tid == 0)
    MPI_Send(buf, 1, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD);
  if (threadIdx.x == blockDim.x - 1)
    MPI_Send(buf, 1, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD);
  bool leader = !threadIdx.x && n > 3;
  if (leader)
    MPI_Send(buf, 1, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD);
  if (cooperative_groups::this_grid().thread_rank() == 0)
    MPI_Send(buf, 1, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD);
  if (first())
    MPI_Send(buf, 1, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD);
  if (threadIdx.x) {
  } else
    MPI_Send(buf, 1, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD);
  if (blockIdx.x == 0)
    MPI_Send(buf, 1, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD);
}
//--- check
CHECK: in.cu:6: MPI_Send: thread scope, queue: under `threadIdx.x == 0` (line 5): one thread of each block{{$}}
CHECK-NEXT: in.cu:8: MPI_Send: thread scope, queue: under `threadIdx.x == 0` (line 7): one thread of the grid{{$}}
CHECK-NEXT: in.cu:11: MPI_Send: thread scope, queue: under `tid == 0` (line 10): one thread of the grid{{$}}
CHECK-NEXT: in.cu:13: MPI_Send: thread scope, queue: under `threadIdx.x == blockDim.x - 1` (line 12): one thread of each block{{$}}
CHECK-NEXT: in.cu:16: MPI_Send: thread scope, queue: under `leader` (line 15): one thread of each block{{$}}
CHECK-NEXT: in.cu:18: MPI_Send: thread scope, queue: under `cooperative_groups::this_grid().thread_rank() == 0` (line 17): one thread of the grid{{$}}
CHECK-NEXT: in.cu:20: MPI_Send: thread scope, queue: under `first()` (line 19): one thread of each block{{$}}
CHECK-NEXT: in.cu:23: MPI_Send: thread scope, queue: under `threadIdx.x` (line 21): one thread of each block{{$}}
CHECK-NEXT: in.cu:25: MPI_Send: block scope, queue: under `blockIdx.x == 0` (line 24): one block{{$}}
