// Loops with calls, one behind another, of which a turn may make none; and loops that only compute,
// whose turns nobody knows the number of.
// RUN: rm -rf %t && split-file %s %t && cd %t
// RUN: %gmpi-translate --cuda-path=none in.cu -o out.cu
// RUN: FileCheck --input-file=out.cu check
// RUN: %compile-cuda out.cu
// RUN: %gmpi-translate --device=cpu in.cu -o cpu.cu
// RUN: FileCheck --input-file=cpu.cu check
// RUN: %compile-cpu cpu.cu

//--- in.cu
#include <mpi.h>
struct Halo {
  int *buf;
  int peer[6];
};
__global__ void neighbours(Halo halo) {
  MPI_Request r[12];
  int n = 0;
  for (int d = 0; d < 6; ++d)
    if (halo.peer[d] >= 0)
      MPI_Irecv(halo.buf + d, 1, MPI_INT, halo.peer[d], d, MPI_COMM_WORLD, &r[n++]);
    else
      MPI_Irecv(halo.buf + d, 1, MPI_INT, MPI_PROC_NULL, d, MPI_COMM_WORLD, &r[n++]);
  for (int d = 0; d < 6; ++d)
    MPI_Isend(&halo.buf[d], 1, MPI_INT, halo.peer[d], 7, MPI_COMM_WORLD, &r[n++]);
  MPI_Waitall(n, r, MPI_STATUSES_IGNORE);
}
__global__ void turns_without_a_call(Halo halo) {
  MPI_Request r[6];
  int n = 0;
  for (int d = 0; d < 6; ++d)
    if (halo.peer[d] >= 0)
      MPI_Irecv(halo.buf + d, 1, MPI_INT, halo.peer[d], 8, MPI_COMM_WORLD, &r[n++]);
  MPI_Waitall(n, r, MPI_STATUSES_IGNORE);
}
__global__ void skips(Halo halo, int rank) {
  MPI_Request r[12];
  int n = 0, d = 0;
  while (++d < 6) {
    if (d == rank)
      continue;
    MPI_Irecv(halo.buf + d, 1, MPI_INT, halo.peer[d], 81, MPI_COMM_WORLD, &r[n++]);
  }
  do {
    if (d != rank)
      MPI_Isend(halo.buf, 1, MPI_INT, halo.peer[d], 82, MPI_COMM_WORLD, &r[n++]);
  } while (d-- > 0);
  MPI_Waitall(n, r, MPI_STATUSES_IGNORE);
}
__global__ void computes_within(Halo halo) {
  MPI_Request r[6];
  for (int d = 0; d < 6; ++d) {
    for (int i = 0; i < 6; ++i)
      halo.peer[d] += i;
    MPI_Irecv(halo.buf + d, 1, MPI_INT, halo.peer[d], 83, MPI_COMM_WORLD, &r[d]);
  }
  if (halo.peer[0] == 0)
    MPI_Isend(halo.buf, 1, MPI_INT, 1, 84, MPI_COMM_WORLD, &r[0]);
  MPI_Waitall(6, r, MPI_STATUSES_IGNORE);
}
__global__ void computes(Halo halo) {
  MPI_Request r;
  MPI_Irecv(halo.buf, 1, MPI_INT, 1, 9, MPI_COMM_WORLD, &r);
  for (int d = 0; d < 6; ++d)
    halo.peer[d] = d;
  MPI_Wait(&r, MPI_STATUS_IGNORE);
}
__global__ void steps(Halo halo) {
  MPI_Request r[2];
  for (int step = 0; step < 100; ++step) {
    MPI_Irecv(halo.buf, 1, MPI_INT, 1, 10, MPI_COMM_WORLD, &r[0]);
    MPI_Isend(halo.buf + 1, 1, MPI_INT, 1, 10, MPI_COMM_WORLD, &r[1]);
    MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
  }
  int d = 0;
again:
  MPI_Irecv(halo.buf, 1, MPI_INT, 1, 11, MPI_COMM_WORLD, &r[d]);
  if (++d < 2)
    goto again;
  MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
  while (true)
    MPI_Isend(halo.buf, 0, MPI_INT, 1, 12, MPI_COMM_WORLD, &r[0]);
}
//--- check
CHECK: if (halo.peer[d] >= 0)
CHECK-NEXT: ::gmpi::grid::followed::MPI_Irecv({{[{].*}} halo.peer[d], d,
CHECK: ::gmpi::grid::followed::MPI_Irecv({{[{].*}} MPI_PROC_NULL, d,
CHECK-NEXT: for (int d
CHECK-NEXT: ::gmpi::grid::followed::MPI_Isend({{[{].*}} halo.peer[d], 7,
CHECK-NEXT: ::gmpi::grid::MPI_Waitall(
CHECK: ::gmpi::grid::followed::MPI_Irecv({{[{].*}} halo.peer[d], 8,
CHECK-NEXT: ::gmpi::grid::MPI_Waitall(
CHECK: ::gmpi::grid::followed::MPI_Irecv({{[{].*}} halo.peer[d], 81,
CHECK: ::gmpi::grid::followed::MPI_Isend({{[{].*}} halo.peer[d], 82,
CHECK: ::gmpi::grid::MPI_Irecv({{[{].*}} halo.peer[d], 83,
CHECK: ::gmpi::grid::followed::MPI_Isend({{[{].*}} 1, 84,
CHECK: ::gmpi::grid::MPI_Irecv({{[{].*}} 1, 9,
CHECK: ::gmpi::grid::followed::MPI_Irecv({{[{].*}} 1, 10,
CHECK-NEXT: ::gmpi::grid::followed::MPI_Isend({{[{].*}} 1, 10,
CHECK-NEXT: ::gmpi::grid::MPI_Waitall(
CHECK: again:
CHECK-NEXT: ::gmpi::grid::followed::MPI_Irecv({{[{].*}} 1, 11,
CHECK: ::gmpi::grid::followed::MPI_Isend({{[{].*}} 1, 12,
