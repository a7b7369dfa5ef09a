// A barrier that only an instantiation of a device function shows must not stay in a segment.
// RUN: rm -rf %t && split-file %s %t && cd %t
// RUN: not %gmpi-translate --lower=split --cuda-path=none in.cu -o out.cu 2>&1 | FileCheck --implicit-check-not=error: check

//--- in.cu
#include <cooperative_groups.h>
#include <mpi.h>
template <class Group> __device__ void meet(Group group) { group.sync(); }
__global__ void k() {
  meet(cooperative_groups::this_grid());
  MPI_Barrier(MPI_COMM_WORLD);
}
int main() { k<<<1, 1>>>(); }
//--- check
CHECK: in.cu:{{[35]}}:{{[0-9]+}}: error: {{.*}}[gmpi-split-barrier]
