// All paths must come to a call: not only one of two, none that returns, leaves by an exception or
// does not come back.
// RUN: rm -rf %t && split-file %s %t && cd %t
// RUN: %gmpi-translate --cuda-path=none in.cu -o out.cu
// RUN: FileCheck --input-file=out.cu check
// RUN: %compile-cuda out.cu

//--- in.cu
#include <mpi.h>
__global__ void all(int *b, int n) {
  MPI_Request r;
  MPI_Irecv(b, 1, MPI_INT, 1, 10, MPI_COMM_WORLD, &r);
  if (n > 1)
    MPI_Isend(b, 1, MPI_INT, 1, 11, MPI_COMM_WORLD, &r);
  else
    MPI_Wait(&r, MPI_STATUS_IGNORE);
}
__global__ void or_behind(int *b, int n) {
  MPI_Request r;
  MPI_Irecv(b, 1, MPI_INT, 1, 20, MPI_COMM_WORLD, &r);
  if (n > 1 && b != nullptr)
    MPI_Isend(b, 1, MPI_INT, 1, 21, MPI_COMM_WORLD, &r);
  MPI_Wait(&r, MPI_STATUS_IGNORE);
}
__global__ void one_of_two(int *b, int n) {
  MPI_Request r;
  MPI_Irecv(b, 1, MPI_INT, 1, 30, MPI_COMM_WORLD, &r);
  if (n > 1)
    MPI_Wait(&r, MPI_STATUS_IGNORE);
}
__global__ void short_circuit(int *b, int n) {
  MPI_Request r;
  MPI_Irecv(b, 1, MPI_INT, 1, 40, MPI_COMM_WORLD, &r);
  n > 1 && MPI_Wait(&r, MPI_STATUS_IGNORE);
}
__global__ void returns(int *b, int n) {
  MPI_Request r;
  MPI_Irecv(b, 1, MPI_INT, 1, 50, MPI_COMM_WORLD, &r);
  if (n > 1)
    return;
  MPI_Wait(&r, MPI_STATUS_IGNORE);
}
__global__ void traps(int *b, int n) {
  MPI_Request r;
  MPI_Irecv(b, 1, MPI_INT, 1, 60, MPI_COMM_WORLD, &r);
  if (n > 1)
    __trap();
  MPI_Wait(&r, MPI_STATUS_IGNORE);
}
__global__ void cases(int *b, int n) {
  MPI_Request r;
  MPI_Irecv(b, 1, MPI_INT, 1, 70, MPI_COMM_WORLD, &r);
  switch (n) {
  case 0:
    MPI_Isend(b, 1, MPI_INT, 1, 71, MPI_COMM_WORLD, &r);
  case 1:
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    break;
  }
  MPI_Irecv(b, 1, MPI_INT, 1, 72, MPI_COMM_WORLD, &r);
  switch (n) {
  case 0:
    break;
  default:
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    return;
  }
  MPI_Wait(&r, MPI_STATUS_IGNORE);
}
enum Way { Left, Right };
__global__ void enumerators(int *b, Way way) {
  MPI_Request r;
  MPI_Irecv(b, 1, MPI_INT, 1, 73, MPI_COMM_WORLD, &r);
  switch (way) {
  case Left:
  case Right:
    MPI_Wait(&r, MPI_STATUS_IGNORE);
  }
}
// In one expression the compiler chooses which of two calls comes first.
__global__ void in_one_expression(int *b) {
  MPI_Request r[2];
  b[0] = MPI_Irecv(b, 1, MPI_INT, 1, 80, MPI_COMM_WORLD, &r[0]) +
         MPI_Isend(b, 1, MPI_INT, 1, 81, MPI_COMM_WORLD, &r[1]);
  MPI_Irecv(b, 1, MPI_INT, 1, 82, MPI_COMM_WORLD, &r[0]);
  b[1] = MPI_Wait(&r[0], MPI_STATUS_IGNORE) + atomicAdd(b, 1);
}
//--- check
CHECK: ::gmpi::grid::followed::MPI_Irecv({{[{].*}} 1, 10,
CHECK: ::gmpi::grid::MPI_Isend({{[{].*}} 1, 11,
CHECK: ::gmpi::grid::followed::MPI_Irecv({{[{].*}} 1, 20,
CHECK: ::gmpi::grid::followed::MPI_Isend({{[{].*}} 1, 21,
CHECK: ::gmpi::grid::MPI_Irecv({{[{].*}} 1, 30,
CHECK: ::gmpi::grid::MPI_Irecv({{[{].*}} 1, 40,
CHECK: ::gmpi::grid::MPI_Irecv({{[{].*}} 1, 50,
CHECK: ::gmpi::grid::MPI_Irecv({{[{].*}} 1, 60,
CHECK: ::gmpi::grid::followed::MPI_Irecv({{[{].*}} 1, 70,
CHECK: ::gmpi::grid::followed::MPI_Isend({{[{].*}} 1, 71,
CHECK: ::gmpi::grid::followed::MPI_Irecv({{[{].*}} 1, 72,
CHECK: ::gmpi::grid::MPI_Irecv({{[{].*}} 1, 73,
CHECK: b[0] = ::gmpi::grid::MPI_Irecv({{[{].*}} 1, 80,
CHECK-NEXT: ::gmpi::grid::MPI_Isend({{[{].*}} 1, 81,
CHECK-NEXT: ::gmpi::grid::MPI_Irecv({{[{].*}} 1, 82,
