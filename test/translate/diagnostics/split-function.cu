// Device functions that have no resumable version.
// RUN: rm -rf %t && split-file %s %t && cd %t
// RUN: not %gmpi-translate --lower=split --cuda-path=none in.cu -o out.cu 2>&1 | FileCheck --implicit-check-not=error: check
// RUN: not ls out.cu
// RUN: %gmpi-translate --lower=queue,split --cuda-path=none in.cu -o out.cu 2>&1 | FileCheck --check-prefix=WARN --implicit-check-not=warning: check
// RUN: FileCheck --check-prefix=OUT --implicit-check-not=gmpi_segment --input-file=out.cu check
// RUN: %compile-cuda out.cu

//--- in.cu
#include <mpi.h>
struct Meeting {
  __device__ void meet();
};
__device__ void Meeting::meet() { MPI_Barrier(MPI_COMM_WORLD); }
template <class T> __device__ void meet(T) { MPI_Barrier(MPI_COMM_WORLD); }
template <> __device__ void meet<int>(int) { MPI_Barrier(MPI_COMM_WORLD); }
__global__ void member() {
  Meeting meeting;
  meeting.meet();
}
__global__ void specialised() { meet(3); }
class Kept {
  int value = 1;
  friend __device__ int look(const Kept &kept);
};
__device__ int look(const Kept &kept) {
  MPI_Barrier(MPI_COMM_WORLD);
  return kept.value;
}
__global__ void friends(int *buf) {
  Kept kept;
  buf[0] = look(kept);
}
int main() {
  friends<<<1, 1>>>(nullptr);
  member<<<1, 1>>>();
  specialised<<<1, 1>>>();
}
//--- check
CHECK: in.cu:5:26: error: 'meet' cannot be split: it makes MPI calls for the whole grid and is no ordinary function [gmpi-split-function]
CHECK: note: make it an ordinary function: defined in its class or outside of any, not virtual, no operator, no constructor, no friend, no specialization
CHECK: in.cu:7:29: error: 'meet' cannot be split: it makes MPI calls for the whole grid and is no ordinary function [gmpi-split-function]
CHECK: in.cu:17:16: error: 'look' cannot be split: it makes MPI calls for the whole grid and is no ordinary function [gmpi-split-function]
WARN: in.cu:5:26: warning: 'meet' cannot be split: it makes MPI calls for the whole grid and is no ordinary function [gmpi-split-function]
WARN: in.cu:7:29: warning: 'meet' cannot be split: it makes MPI calls for the whole grid and is no ordinary function [gmpi-split-function]
WARN: in.cu:17:16: warning: 'look' cannot be split: it makes MPI calls for the whole grid and is no ordinary function [gmpi-split-function]
OUT: void GMPI_KERNEL_REGISTERS member__queue(
OUT: void GMPI_KERNEL_REGISTERS specialised__queue(
OUT: void GMPI_KERNEL_REGISTERS friends__queue(
