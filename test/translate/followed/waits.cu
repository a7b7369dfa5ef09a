// A wait may be left, too, where nothing touches memory that other threads may touch before the next
// call: so not what has been received.
// RUN: rm -rf %t && split-file %s %t && cd %t
// RUN: %gmpi-translate --cuda-path=none in.cu -o out.cu
// RUN: FileCheck --input-file=out.cu check
// RUN: %compile-cuda out.cu
// RUN: %gmpi-translate --device=cpu in.cu -o cpu.cu
// RUN: FileCheck --input-file=cpu.cu check
// RUN: %compile-cpu cpu.cu

//--- in.cu
#include <mpi.h>
__global__ void one_by_one(int *b, int n) {
  MPI_Request r[12];
  for (int i = 0; i < n; ++i)
    MPI_Irecv(b + i, 1, MPI_INT, i, 10, MPI_COMM_WORLD, r + i);
  for (int i = 0; i < n; ++i)
    MPI_Wait(r + i, MPI_STATUS_IGNORE);
  b[0] = 1;
  MPI_Irecv(b, 1, MPI_INT, 1, 11, MPI_COMM_WORLD, r);
  MPI_Isend(b + 1, 1, MPI_INT, 1, 12, MPI_COMM_WORLD, r + 1);
  MPI_Wait(r, MPI_STATUS_IGNORE);
  MPI_Wait(r + 1, MPI_STATUS_IGNORE);
}
__global__ void used(int *b, int n) {
  MPI_Request r[12];
  int sum = 0;
  for (int i = 0; i < n; ++i)
    MPI_Irecv(b + i, 1, MPI_INT, i, 20, MPI_COMM_WORLD, r + i);
  for (int i = 0; i < n; ++i) {
    MPI_Wait(r + i, MPI_STATUS_IGNORE);
    sum += b[i];
  }
  b[n] = sum;
}
__global__ void looked_at(int *b, int *error) {
  MPI_Request r[2];
  MPI_Irecv(b, 1, MPI_INT, 1, 22, MPI_COMM_WORLD, r);
  int first = MPI_Wait(r, MPI_STATUS_IGNORE);
  (void)MPI_Wait(r, MPI_STATUS_IGNORE);
  if (MPI_Wait(r, MPI_STATUS_IGNORE) == MPI_SUCCESS)
    MPI_Wait(r, MPI_STATUS_IGNORE);
  MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
  *error = first;
}
__global__ void scopes(int *b) {
  MPI_Request r;
  MPI_Irecv(b + blockIdx.x, 1, MPI_INT, 1, 30, MPI_COMM_WORLD, &r);
  MPI_Wait(&r, MPI_STATUS_IGNORE);
  MPI_Irecv(b, 1, MPI_INT, 1, 31, MPI_COMM_WORLD, &r);
  MPI_Wait(&r, MPI_STATUS_IGNORE);
  MPI_Barrier(MPI_COMM_WORLD);
}
//--- check
CHECK: ::gmpi::grid::followed::MPI_Irecv({{[{].*}} i, 10,
CHECK-NOT: make_left
CHECK: ::gmpi::grid::followed::MPI_Wait({{[{].*}} r + i, MPI_STATUS_IGNORE); ::gmpi::grid::make_left({{[{].*}}});
CHECK: ::gmpi::grid::followed::MPI_Irecv({{[{].*}} 1, 11,
CHECK-NEXT: ::gmpi::grid::followed::MPI_Isend({{[{].*}} 1, 12,
CHECK-NEXT: ::gmpi::grid::followed::MPI_Wait({{[{].*}} r, MPI_STATUS_IGNORE);
CHECK-NEXT: ::gmpi::grid::MPI_Wait({{[{].*}} r + 1, MPI_STATUS_IGNORE);
CHECK: ::gmpi::grid::followed::MPI_Irecv({{[{].*}} i, 20,{{.*}}); ::gmpi::grid::make_left({{[{].*}}});
CHECK: ::gmpi::grid::MPI_Wait({{[{].*}} r + i, MPI_STATUS_IGNORE);
CHECK: ::gmpi::grid::followed::MPI_Irecv({{[{].*}} 1, 22,
CHECK-NEXT: int first = ::gmpi::grid::MPI_Wait(
CHECK-NEXT: (void)::gmpi::grid::followed::MPI_Wait(
CHECK-NEXT: if (::gmpi::grid::MPI_Wait(
CHECK-NEXT: ::gmpi::grid::followed::MPI_Wait(
CHECK-NEXT: ::gmpi::grid::MPI_Waitall(
CHECK: ::gmpi::block::MPI_Wait(
CHECK: ::gmpi::grid::followed::MPI_Irecv({{[{].*}} 1, 31,
CHECK-NEXT: ::gmpi::grid::MPI_Wait(
