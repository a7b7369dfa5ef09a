// A lambda cannot suspend.
// RUN: rm -rf %t && split-file %s %t && cd %t
// RUN: not %gmpi-translate --lower=split --cuda-path=none in.cu -o out.cu 2>&1 | FileCheck --implicit-check-not=error: check
// RUN: not ls out.cu
// RUN: %gmpi-translate --lower=queue,split --cuda-path=none in.cu -o out.cu 2>&1 | FileCheck --check-prefix=WARN --implicit-check-not=warning: check
// RUN: FileCheck --check-prefix=OUT --implicit-check-not=gmpi_segment --input-file=out.cu check

//--- in.cu
#include <mpi.h>
__global__ void k(int *buf) {
  auto meet = [] { return MPI_Barrier(MPI_COMM_WORLD); };
  MPI_Bcast(buf, 1, MPI_INT, 0, MPI_COMM_WORLD);
  meet();
}
int main() { k<<<1, 1>>>(nullptr); }
//--- check
CHECK: in.cu:3:15: error: 'k' cannot be split: this lambda in it makes MPI calls for the whole grid [gmpi-split-lambda]
CHECK: note: make the lambda a __device__ function
CHECK: in.cu:3:27: note: the call is here
WARN: in.cu:3:15: warning: 'k' cannot be split: this lambda in it makes MPI calls for the whole grid [gmpi-split-lambda]
OUT: void GMPI_KERNEL_REGISTERS k__queue(
