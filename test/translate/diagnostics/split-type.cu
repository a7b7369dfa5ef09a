// Only what is live across the call, or in scope there, must be trivially copyable.
// RUN: rm -rf %t && split-file %s %t && cd %t
// RUN: not %gmpi-translate --lower=split --cuda-path=none in.cu -o out.cu 2>&1 | FileCheck --implicit-check-not=error: check
// RUN: not ls out.cu
// RUN: %gmpi-translate --lower=queue,split --cuda-path=none in.cu -o out.cu 2>&1 | FileCheck --check-prefix=WARN --implicit-check-not=warning: check
// RUN: FileCheck --check-prefix=OUT --implicit-check-not=gmpi_segment --input-file=out.cu check
// RUN: %compile-cuda out.cu

//--- in.cu
#include <mpi.h>
struct Counted {
  int value;
  __device__ Counted(int value) : value(value) {}
  __device__ Counted(const Counted &other) : value(other.value + 1) {}
};
__global__ void k(int *buf) {
  {
    Counted before = 3;
    buf[1] = before.value;
  }
  Counted kept = buf[0];
  MPI_Barrier(MPI_COMM_WORLD);
  Counted after = kept;
  buf[0] = after.value;
}
int main() { k<<<1, 1>>>(nullptr); }
//--- check
CHECK: in.cu:12:11: error: 'k' cannot be split: its variable 'kept' of type 'Counted' is live across an MPI call, and is not trivially copyable [gmpi-split-type]
CHECK: note: declare it after the call or in a block of its own before it, or keep what it holds in device memory
WARN: in.cu:12:11: warning: 'k' cannot be split: its variable 'kept' of type 'Counted' is live across an MPI call, and is not trivially copyable [gmpi-split-type]
OUT: void GMPI_KERNEL_REGISTERS k__queue(
