// Calls that do not look like calls: operators, conversions, constructors.
// RUN: rm -rf %t && split-file %s %t && cd %t
// RUN: not %gmpi-translate --lower=split --cuda-path=none in.cu -o out.cu 2>&1 | FileCheck --implicit-check-not=error: check

//--- in.cu
#include <mpi.h>
struct Called {
  __device__ int operator()() const { return MPI_Barrier(MPI_COMM_WORLD); }
};
struct Converted {
  __device__ operator int() const { return MPI_Barrier(MPI_COMM_WORLD); }
};
struct Made {
  __device__ Made() { MPI_Barrier(MPI_COMM_WORLD); }
};
__global__ void calls() {
  Called()();
  MPI_Barrier(MPI_COMM_WORLD);
}
__global__ void converts(int *buf) {
  buf[0] = Converted();
  MPI_Barrier(MPI_COMM_WORLD);
}
__global__ void makes() {
  Made made;
  MPI_Barrier(MPI_COMM_WORLD);
}
int main() {
  calls<<<1, 1>>>();
  converts<<<1, 1>>>(nullptr);
  makes<<<1, 1>>>();
}
//--- check
CHECK-DAG: in.cu:3:{{[0-9]+}}: error: {{.*}}[gmpi-split-function]
CHECK-DAG: in.cu:6:{{[0-9]+}}: error: {{.*}}[gmpi-split-function]
CHECK-DAG: in.cu:9:{{[0-9]+}}: error: {{.*}}[gmpi-split-function]
