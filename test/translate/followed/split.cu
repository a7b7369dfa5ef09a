// Calls of segments are left to nobody; what stays whole beside them is as with the queue alone.
// RUN: rm -rf %t && split-file %s %t && cd %t
// RUN: %gmpi-translate --cuda-path=none --lower=queue,split in.cu -o out.cu
// RUN: FileCheck --input-file=out.cu check
// RUN: %compile-cuda out.cu
// RUN: %gmpi-translate --device=cpu --lower=queue,split in.cu -o cpu.cu
// RUN: FileCheck --input-file=cpu.cu check
// RUN: %compile-cpu cpu.cu

//--- in.cu
#include <mpi.h>
__device__ void exchange(int *b) {
  MPI_Request r;
  MPI_Irecv(b, 1, MPI_INT, 1, 10, MPI_COMM_WORLD, &r);
  MPI_Wait(&r, MPI_STATUS_IGNORE);
}
__global__ void k(int *b) {
  MPI_Request r;
  MPI_Isend(b, 1, MPI_INT, 1, 11, MPI_COMM_WORLD, &r);
  MPI_Wait(&r, MPI_STATUS_IGNORE);
  exchange(b);
}
__global__ void loops(int *b, int n) {
  MPI_Request r[6];
  for (int i = 0; i < n; ++i)
    MPI_Isend(b, 1, MPI_INT, i, 12, MPI_COMM_WORLD, r + i);
  b[threadIdx.x] = 1;
  MPI_Waitall(n, r, MPI_STATUSES_IGNORE);
}
//--- check
CHECK: void exchange(int *b) {
CHECK: ::gmpi::grid::followed::MPI_Irecv({{[{].*}} 1, 10,
CHECK: bool exchange__segment(
CHECK-NOT: followed
CHECK: ::gmpi::split::MPI_Irecv<1>({{.*}} 1, 10,
CHECK: void{{.*}} k__queue(
CHECK: ::gmpi::grid::followed::MPI_Isend({{[{].*}} 1, 11,
CHECK: void k__segment(
CHECK-NOT: followed
CHECK: ::gmpi::split::MPI_Isend<1>({{.*}} 1, 11,
CHECK-NOT: followed
CHECK: void{{.*}} loops__queue(
CHECK: ::gmpi::grid::followed::MPI_Isend({{[{].*}} i, 12,{{.*}}; ::gmpi::grid::make_left(
CHECK: void loops__segment(
CHECK-NOT: make_left
CHECK: ::gmpi::split::MPI_Isend<1>({{.*}} i, 12,
CHECK-NOT: make_left
