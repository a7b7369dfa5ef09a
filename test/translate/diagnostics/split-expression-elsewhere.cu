// Calls that are written outside of the function that makes them, and values whose size is not known where one has to
// be kept across another call.
// RUN: rm -rf %t && split-file %s %t && cd %t
// RUN: not %gmpi-translate --lower=split --cuda-path=none in.cu -o out.cu 2>&1 | FileCheck --implicit-check-not=error: check
// RUN: not ls out.cu

//--- in.cu
#include <mpi.h>
__device__ int value(int *buf) { MPI_Barrier(MPI_COMM_WORLD); return buf[0]; }
struct Holder {
  int *buf;
  int held = value(buf);
};
__global__ void initializer(int *buf) {
  Holder holder{buf};
  buf[1] = holder.held;
}
struct Plain {
  template <int I> __device__ int at(int *buf) { MPI_Barrier(MPI_COMM_WORLD); return buf[I]; }
};
template <class P> __global__ void sum(int *buf) {
  P plain;
  buf[5] = plain.template at<2>(buf) + plain.template at<3>(buf);
}
int main() {
  initializer<<<1, 32>>>(nullptr);
  sum<Plain><<<1, 32>>>(nullptr);
}
//--- check
CHECK: in.cu:5:14: error: 'initializer' cannot be split: the MPI call cannot be taken out of this expression [gmpi-split-expression]
CHECK: in.cu:16:12: error: 'sum' cannot be split: the MPI call cannot be taken out of this expression [gmpi-split-expression]
