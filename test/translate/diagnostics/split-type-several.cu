// Each variable is named.
// RUN: rm -rf %t && split-file %s %t && cd %t
// RUN: not %gmpi-translate --lower=split --cuda-path=none in.cu -o out.cu 2>&1 | FileCheck --implicit-check-not=error: check
// RUN: %gmpi-translate --lower=queue,split --cuda-path=none in.cu -o out.cu

//--- in.cu
#include <mpi.h>
struct Counted {
  int value;
  __device__ Counted(int value) : value(value) {}
  __device__ Counted(const Counted &other) : value(other.value + 1) {}
};
__global__ void k(int *buf) {
  Counted first = buf[0];
  Counted second = buf[1];
  MPI_Barrier(MPI_COMM_WORLD);
  buf[0] = first.value + second.value;
}
int main() { k<<<1, 1>>>(nullptr); }
//--- check
CHECK: in.cu:8:11: error: 'k' cannot be split: its variable 'first' {{.*}}[gmpi-split-type]
CHECK: in.cu:9:11: error: 'k' cannot be split: its variable 'second' {{.*}}[gmpi-split-type]
