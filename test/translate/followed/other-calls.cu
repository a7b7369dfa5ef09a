// The next call must be one of the grid's that takes what was left: no other function of MPI, none
// of a block or a thread. Calls of blocks and threads are never left.
// RUN: rm -rf %t && split-file %s %t && cd %t
// RUN: %gmpi-translate --cuda-path=none in.cu -o out.cu
// RUN: FileCheck --input-file=out.cu check
// RUN: %compile-cuda out.cu

//--- in.cu
#include <mpi.h>
__global__ void functions(int *b) {
  MPI_Request r, s;
  int rank, done;
  MPI_Irecv(b, 1, MPI_INT, 1, 10, MPI_COMM_WORLD, &r);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Irecv(b, 1, MPI_INT, 1, 11, MPI_COMM_WORLD, &r);
  MPI_Ssend(b, 1, MPI_INT, 1, 11, MPI_COMM_WORLD);
  MPI_Irecv(b, 1, MPI_INT, 1, 12, MPI_COMM_WORLD, &r);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Irecv(b, 1, MPI_INT, 1, 13, MPI_COMM_WORLD, &r);
  MPI_Test(&r, &done, MPI_STATUS_IGNORE);
  MPI_Irecv(b, 1, MPI_INT, 1, 14, MPI_COMM_WORLD, &r);
  if (threadIdx.x == 0)
    MPI_Isend(b, 1, MPI_INT, 1, 15, MPI_COMM_WORLD, &s);
  MPI_Wait(&r, MPI_STATUS_IGNORE);
}
__global__ void block(int *b) {
  MPI_Request r[2];
  MPI_Irecv(b + blockIdx.x, 1, MPI_INT, 1, 20, MPI_COMM_WORLD, &r[0]);
  MPI_Isend(b + blockIdx.x, 1, MPI_INT, 1, 21, MPI_COMM_WORLD, &r[1]);
  MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
}
__global__ void thread(int *b) {
  MPI_Request r[2];
  MPI_Irecv(b + threadIdx.x, 1, MPI_INT, 1, 30, MPI_COMM_WORLD, &r[0]);
  MPI_Isend(b + threadIdx.x, 1, MPI_INT, 1, 31, MPI_COMM_WORLD, &r[1]);
  MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
}
//--- check
CHECK: GMPI_KERNEL_REGISTERS functions__queue
CHECK-NOT: followed
CHECK: ::gmpi::grid::MPI_Irecv({{[{].*}} 1, 10,
CHECK-NEXT: ::gmpi::grid::MPI_Barrier(
CHECK-NEXT: ::gmpi::grid::MPI_Irecv({{[{].*}} 1, 11,
CHECK: ::gmpi::grid::MPI_Irecv({{[{].*}} 1, 12,
CHECK: ::gmpi::grid::MPI_Irecv({{[{].*}} 1, 13,
CHECK: ::gmpi::grid::MPI_Irecv({{[{].*}} 1, 14,
CHECK: ::gmpi::thread::MPI_Isend({{[{].*}} 1, 15,
CHECK: ::gmpi::block::MPI_Irecv({{[{].*}} 1, 20,
CHECK-NEXT: ::gmpi::block::MPI_Isend({{[{].*}} 1, 21,
CHECK: ::gmpi::thread::MPI_Irecv({{[{].*}} 1, 30,
CHECK-NEXT: ::gmpi::thread::MPI_Isend({{[{].*}} 1, 31,
CHECK-NOT: followed
