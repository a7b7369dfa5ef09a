// MPI_Recv may be left behind what only begins, and to what waits. One that is not left takes nothing
// that is.
// RUN: rm -rf %t && split-file %s %t && cd %t
// RUN: %gmpi-translate --cuda-path=none in.cu -o out.cu
// RUN: FileCheck --input-file=out.cu check
// RUN: %compile-cuda out.cu
// RUN: %gmpi-translate --device=cpu in.cu -o cpu.cu
// RUN: FileCheck --input-file=cpu.cu check
// RUN: %compile-cpu cpu.cu

//--- in.cu
#include <mpi.h>
__device__ void work(int *b) { b[threadIdx.x] += 1; }
__global__ void left(int *b, int n) {
  MPI_Request r[2];
  for (int i = 0; i < n; ++i) {
    MPI_Isend(b, 1, MPI_INT, i, 10, MPI_COMM_WORLD, r);
    MPI_Recv(b + 1, 1, MPI_INT, i, 11, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Wait(r, MPI_STATUS_IGNORE);
  }
  MPI_Irecv(b, 1, MPI_INT, 1, 12, MPI_COMM_WORLD, r);
  MPI_Isend(b + 1, 1, MPI_INT, 1, 13, MPI_COMM_WORLD, r + 1);
  (void)MPI_Recv(b + 2, 1, MPI_INT, 1, 14, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
}
__global__ void behind(int *b) { // what comes behind an MPI_Recv, or before it, is no wait, or begins
  MPI_Request r[2];
  MPI_Isend(b, 1, MPI_INT, 1, 20, MPI_COMM_WORLD, r);
  MPI_Recv(b + 1, 1, MPI_INT, 1, 21, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Isend(b + 1, 1, MPI_INT, 1, 22, MPI_COMM_WORLD, r + 1);
  MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
  MPI_Isend(b, 1, MPI_INT, 1, 23, MPI_COMM_WORLD, r);
  MPI_Recv(b + 1, 1, MPI_INT, 1, 24, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Recv(b + 2, 1, MPI_INT, 1, 25, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  work(b);
  MPI_Wait(r, MPI_STATUS_IGNORE);
  MPI_Send(b + 1, 1, MPI_INT, 1, 26, MPI_COMM_WORLD);
  MPI_Recv(b + 1, 1, MPI_INT, 1, 27, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Wait(r + 1, MPI_STATUS_IGNORE);
}
__global__ void not_left(int *b, MPI_Status *p) { // a status, a result, any source, a variable
  MPI_Request r;
  MPI_Status s;
  int own;
  MPI_Isend(b, 1, MPI_INT, 1, 30, MPI_COMM_WORLD, &r);
  MPI_Recv(b + 1, 1, MPI_INT, 1, 31, MPI_COMM_WORLD, &s);
  MPI_Wait(&r, MPI_STATUS_IGNORE);
  MPI_Isend(b, 1, MPI_INT, 1, 32, MPI_COMM_WORLD, &r);
  MPI_Recv(b + 1, 1, MPI_INT, 1, 33, MPI_COMM_WORLD, p);
  MPI_Wait(&r, MPI_STATUS_IGNORE);
  MPI_Isend(b, 1, MPI_INT, 1, 34, MPI_COMM_WORLD, &r);
  int error = MPI_Recv(b + 1, 1, MPI_INT, 1, 35, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Wait(&r, MPI_STATUS_IGNORE);
  MPI_Isend(b, 1, MPI_INT, 1, 36, MPI_COMM_WORLD, &r);
  MPI_Recv(b + 1, 1, MPI_INT, MPI_ANY_SOURCE, 37, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Wait(&r, MPI_STATUS_IGNORE);
  MPI_Isend(b, 1, MPI_INT, 1, 38, MPI_COMM_WORLD, &r);
  MPI_Recv(&own, 1, MPI_INT, 1, 39, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Wait(&r, MPI_STATUS_IGNORE);
}
//--- check
CHECK: ::gmpi::grid::followed::MPI_Isend({{[{].*}} i, 10,
CHECK-NEXT: ::gmpi::grid::followed::MPI_Recv({{[{].*}} i, 11,
CHECK-NEXT: ::gmpi::grid::MPI_Wait(
CHECK: ::gmpi::grid::followed::MPI_Irecv({{[{].*}} 1, 12,
CHECK-NEXT: ::gmpi::grid::followed::MPI_Isend({{[{].*}} 1, 13,
CHECK-NEXT: (void)::gmpi::grid::followed::MPI_Recv({{[{].*}} 1, 14,
CHECK-NEXT: ::gmpi::grid::MPI_Waitall(
CHECK: ::gmpi::grid::MPI_Isend({{[{].*}} 1, 20,
CHECK-NEXT: ::gmpi::grid::MPI_Recv({{[{].*}} 1, 21,
CHECK-NEXT: ::gmpi::grid::followed::MPI_Isend({{[{].*}} 1, 22,
CHECK-NEXT: ::gmpi::grid::MPI_Waitall(
CHECK-NEXT: ::gmpi::grid::MPI_Isend({{[{].*}} 1, 23,
CHECK-NEXT: ::gmpi::grid::MPI_Recv({{[{].*}} 1, 24,
CHECK-NEXT: ::gmpi::grid::MPI_Recv({{[{].*}} 1, 25,
CHECK: ::gmpi::grid::MPI_Send({{[{].*}} 1, 26,
CHECK-NEXT: ::gmpi::grid::followed::MPI_Recv({{[{].*}} 1, 27,
CHECK-NEXT: ::gmpi::grid::MPI_Wait(
CHECK: ::gmpi::grid::MPI_Isend({{[{].*}} 1, 30,
CHECK-NEXT: ::gmpi::grid::MPI_Recv({{[{].*}} 1, 31,
CHECK: ::gmpi::grid::MPI_Isend({{[{].*}} 1, 32,
CHECK-NEXT: ::gmpi::grid::MPI_Recv({{[{].*}} 1, 33,
CHECK: ::gmpi::grid::MPI_Isend({{[{].*}} 1, 34,
CHECK-NEXT: int error = ::gmpi::grid::MPI_Recv({{[{].*}} 1, 35,
CHECK: ::gmpi::grid::MPI_Isend({{[{].*}} 1, 36,
CHECK-NEXT: ::gmpi::grid::MPI_Recv({{.*}} 37,
CHECK: ::gmpi::grid::MPI_Isend({{[{].*}} 1, 38,
CHECK-NEXT: ::gmpi::grid::MPI_Recv({{[{].*}} 1, 39,
