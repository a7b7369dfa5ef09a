// MPI_Send may be left to what sends, or waits; not to what receives, maybe into its buffer. One that
// is not left takes nothing that is. What has been left is made behind a loop with it, not behind a
// condition: one alone is sooner made.
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
__global__ void exchange(int *b, int n) {
  MPI_Request r[6];
  for (int i = 0; i < n; ++i)
    MPI_Irecv(b + i, 1, MPI_INT, i, 10, MPI_COMM_WORLD, r + i);
  for (int i = 0; i < n; ++i) {
    if (MPI_Send(b + n, 1, MPI_INT, i, 11, MPI_COMM_WORLD) != MPI_SUCCESS)
      ++n;
  }
  MPI_Waitall(n, r, MPI_STATUSES_IGNORE);
  MPI_Irecv(b, 1, MPI_INT, 1, 12, MPI_COMM_WORLD, r);
  MPI_Send(b + 1, 1, MPI_INT, 1, 13, MPI_COMM_WORLD);
  MPI_Wait(r, MPI_STATUS_IGNORE);
  MPI_Send(b, 1, MPI_INT, 1, 14, MPI_COMM_WORLD);
  MPI_Isend(b, 1, MPI_INT, 2, 15, MPI_COMM_WORLD, r);
  MPI_Wait(r, MPI_STATUS_IGNORE);
}
__global__ void loops(int *b, int n) {
  MPI_Request r;
  for (int i = 0; i < n; ++i)
    if (i != 1)
      MPI_Send(b, 1, MPI_INT, i, 20, MPI_COMM_WORLD);
  work(b);
  if (n > 1)
    MPI_Send(b, 1, MPI_INT, 1, 21, MPI_COMM_WORLD);
  work(b);
  MPI_Irecv(b, 1, MPI_INT, 1, 22, MPI_COMM_WORLD, &r);
  MPI_Send(b, 1, MPI_INT, 1, 23, MPI_COMM_WORLD);
  work(b);
  MPI_Wait(&r, MPI_STATUS_IGNORE);
}
__global__ void received(int *b, int n) {
  MPI_Request r;
  MPI_Send(b, 1, MPI_INT, 1, 30, MPI_COMM_WORLD);
  MPI_Irecv(b, 1, MPI_INT, 1, 31, MPI_COMM_WORLD, &r);
  MPI_Wait(&r, MPI_STATUS_IGNORE);
  MPI_Send(b, 1, MPI_INT, 1, 32, MPI_COMM_WORLD);
  MPI_Recv(b, 1, MPI_INT, 1, 33, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  for (int i = 0; i < n; ++i) {
    MPI_Send(b, 1, MPI_INT, 1, 34, MPI_COMM_WORLD);
    MPI_Recv(b, 1, MPI_INT, 1, 35, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
}
__global__ void own(int *b) {
  MPI_Request r[1] = {MPI_REQUEST_NULL};
  int mine = b[0], several[2] = {1, 2};
  MPI_Send(&mine, 1, MPI_INT, 1, 40, MPI_COMM_WORLD);
  MPI_Send((void *)several, 2, MPI_INT, 1, 41, MPI_COMM_WORLD);
  MPI_Send(&several[1], 1, MPI_INT, 1, 42, MPI_COMM_WORLD);
  MPI_Send(&b[1], 1, MPI_INT, 1, 44, MPI_COMM_WORLD);
  MPI_Waitall(1, r, MPI_STATUSES_IGNORE);
}
//--- check
CHECK: ::gmpi::grid::followed::MPI_Irecv({{[{].*}} i, 10,
CHECK: if (::gmpi::grid::followed::MPI_Send({{[{].*}} i, 11,
CHECK: ::gmpi::grid::MPI_Waitall(
CHECK-NEXT: ::gmpi::grid::followed::MPI_Irecv({{[{].*}} 1, 12,
CHECK-NEXT: ::gmpi::grid::followed::MPI_Send({{[{].*}} 1, 13,
CHECK-NEXT: ::gmpi::grid::MPI_Wait(
CHECK-NEXT: ::gmpi::grid::followed::MPI_Send({{[{].*}} 1, 14,
CHECK-NEXT: ::gmpi::grid::followed::MPI_Isend({{[{].*}} 2, 15,
CHECK-NEXT: ::gmpi::grid::MPI_Wait(
CHECK: ::gmpi::grid::followed::MPI_Send({{[{].*}} i, 20, {{.*}}; ::gmpi::grid::make_left(
CHECK-NOT: make_left
CHECK: ::gmpi::grid::MPI_Send({{[{].*}} 1, 21,
CHECK-NOT: make_left
CHECK: ::gmpi::grid::MPI_Irecv({{[{].*}} 1, 22,
CHECK-NEXT: ::gmpi::grid::MPI_Send({{[{].*}} 1, 23,
CHECK-NOT: make_left
CHECK: ::gmpi::grid::MPI_Send({{[{].*}} 1, 30,
CHECK-NEXT: ::gmpi::grid::followed::MPI_Irecv({{[{].*}} 1, 31,
CHECK-NEXT: ::gmpi::grid::MPI_Wait(
CHECK-NEXT: ::gmpi::grid::MPI_Send({{[{].*}} 1, 32,
CHECK: ::gmpi::grid::MPI_Send({{[{].*}} 1, 34,
CHECK-NOT: make_left
CHECK: ::gmpi::grid::MPI_Send({{[{].*}} 1, 40,
CHECK-NEXT: ::gmpi::grid::MPI_Send({{[{].*}} 1, 41,
CHECK-NEXT: ::gmpi::grid::MPI_Send({{[{].*}} 1, 42,
CHECK-NEXT: ::gmpi::grid::followed::MPI_Send({{[{].*}} 1, 44,
