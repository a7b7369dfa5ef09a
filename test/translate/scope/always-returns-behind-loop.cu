// Where all paths leave early, behind a loop, that loop has no end in what is looked at. It stands in for
// one; not the loop before it that some threads do not come to.
// RUN: %gmpi-translate --cuda-path=none %s -o %t.cu --remarks 2>&1 | FileCheck %s --implicit-check-not=%s:
// RUN: %compile-cuda %t.cu
#include <mpi.h>

__global__ void k(unsigned *out, unsigned rank) {
  unsigned sum = 0;
  if (blockIdx.x * blockDim.x + threadIdx.x == 1) {
    switch (rank % 3) {
    case 0:
      for (unsigned i = rank; i > 0; --i)
        sum += i;
    }
  }
  // CHECK: {{.*}}.cu:[[#@LINE+1]]: MPI_Barrier: grid scope, queue: control and arguments are the same for all threads{{$}}
  MPI_Barrier(MPI_COMM_WORLD);
  out[threadIdx.x] = sum;
  unsigned turns = 2;
  do {
    out[threadIdx.x] += turns;
  } while (--turns > 0);
  if (sizeof(int) == 4)
    return;
  out[threadIdx.x] = 0;
}
