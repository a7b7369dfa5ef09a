// A template that calls itself, alone or by way of another, has no frame of a known size; whoever calls them keeps the
// queue.
// RUN: rm -rf %t && split-file %s %t && cd %t
// RUN: not %gmpi-translate --lower=split --cuda-path=none in.cu -o out.cu 2>&1 | FileCheck --implicit-check-not=error: check
// RUN: not ls out.cu
// RUN: %gmpi-translate --lower=queue,split --cuda-path=none in.cu -o out.cu 2>&1 | FileCheck --check-prefix=WARN check
// RUN: FileCheck --check-prefix=OUT --implicit-check-not=gmpi_segment --input-file=out.cu check

//--- in.cu
#include <mpi.h>
template <int N> __device__ int alone(int *buf) {
  MPI_Bcast(buf, N, MPI_INT, 0, MPI_COMM_WORLD);
  if constexpr (N > 1)
    return alone<N / 2>(buf);
  else
    return buf[0];
}
template <int N> __device__ void even(int *buf);
template <int N> __device__ void odd(int *buf) {
  MPI_Barrier(MPI_COMM_WORLD);
  if constexpr (N > 1)
    even<N - 1>(buf);
}
template <int N> __device__ void even(int *buf) {
  if constexpr (N > 1)
    odd<N - 1>(buf);
}
__global__ void first(int *buf) { buf[1] = alone<8>(buf); }
__global__ void second(int *buf) { odd<5>(buf); }
__global__ void third(int *buf) { even<4>(buf); }
int main() {
  first<<<1, 32>>>(nullptr);
  second<<<1, 32>>>(nullptr);
  third<<<1, 32>>>(nullptr);
}
//--- check
CHECK: in.cu:2:33: error: 'alone' cannot be split: it is a template that makes MPI calls for the whole grid, and calls itself [gmpi-split-recursion]
CHECK: note: write it as a loop
CHECK: error: 'odd' cannot be split: it is a template
CHECK: error: 'even' cannot be split: it is a template
WARN: in.cu:2:33: warning: 'alone' cannot be split: it is a template that makes MPI calls for the whole grid, and calls itself [gmpi-split-recursion]
OUT: void GMPI_KERNEL_REGISTERS first__queue(
OUT: void GMPI_KERNEL_REGISTERS second__queue(
OUT: void GMPI_KERNEL_REGISTERS third__queue(
