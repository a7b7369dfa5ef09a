// Declarations that cannot take their value from the frame.
// RUN: rm -rf %t && split-file %s %t && cd %t
// RUN: not %gmpi-translate --lower=split --cuda-path=none in.cu -o out.cu 2>&1 | FileCheck --implicit-check-not=error: check
// RUN: not ls out.cu
// RUN: %gmpi-translate --lower=queue,split --cuda-path=none in.cu -o out.cu 2>&1 | FileCheck --check-prefix=WARN --implicit-check-not=warning: check
// RUN: FileCheck --check-prefix=OUT --implicit-check-not=gmpi_segment --input-file=out.cu check

//--- in.cu
#include <mpi.h>
__global__ void aligned(int *buf) {
  alignas(16) int values[4] = {buf[0]};
  int *pointer = values;
  MPI_Barrier(MPI_COMM_WORLD);
  buf[1] = *pointer;
}
template <class... T> __global__ void pack(int *buf, T... values) {
  (++values, ...);
  MPI_Barrier(MPI_COMM_WORLD);
  buf[0] = (values + ...);
}
__device__ void store(int *at, int value) { *at = value; }
__global__ void crossed(int *buf, int n) {
  switch (n) {
  case 0:
    int value;
    store(&value, 3);
    MPI_Barrier(MPI_COMM_WORLD);
    buf[0] = value;
    break;
  case 1:
    store(&value, 4);
    MPI_Barrier(MPI_COMM_WORLD);
    buf[2] = value;
  }
}
int main() {
  aligned<<<1, 1>>>(nullptr);
  pack<<<1, 1>>>(nullptr, 1, 2);
  crossed<<<1, 1>>>(nullptr, 1);
}
//--- check
CHECK: in.cu:3:19: error: 'aligned' cannot be split: this declaration cannot be taken apart [gmpi-split-declaration]
CHECK: note: declare the variable in a statement of its own, before the statement that makes the MPI call
CHECK: in.cu:8:59: error: 'pack' cannot be split: this declaration cannot be taken apart [gmpi-split-declaration]
CHECK: in.cu:17:9: error: 'crossed' cannot be split: this declaration cannot be taken apart [gmpi-split-declaration]
WARN: in.cu:3:19: warning: 'aligned' cannot be split: this declaration cannot be taken apart [gmpi-split-declaration]
WARN: in.cu:8:59: warning: 'pack' cannot be split: this declaration cannot be taken apart [gmpi-split-declaration]
WARN: in.cu:17:9: warning: 'crossed' cannot be split: this declaration cannot be taken apart [gmpi-split-declaration]
OUT: void GMPI_KERNEL_REGISTERS aligned__queue(
OUT: void GMPI_KERNEL_REGISTERS pack__queue(
OUT: void GMPI_KERNEL_REGISTERS crossed__queue(
