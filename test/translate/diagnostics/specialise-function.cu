// RUN: rm -rf %t && split-file %s %t && cd %t
// RUN: not %gmpi-translate --cuda-path=none in.cu -o out.cu 2>&1 | FileCheck --implicit-check-not=error: check

//--- in.cu
#include <mpi.h>
struct Sender {
  __device__ void operator()(int *p) const { MPI_Send(p, 1, MPI_INT, 1, 0, MPI_COMM_WORLD); }
};
__global__ void k(int *p) {
  Sender send;
  send(p);
  if (threadIdx.x == 0)
    send(p);
}
int main() { k<<<1, 1>>>(nullptr); }
//--- check
CHECK: in.cu:3:19: error: 'operator()' calls MPI under more than one scope, and an operator cannot be copied [gmpi-specialise-function]
CHECK: note: make it an ordinary function, or write one for each scope
