// Calls in macros' arguments, where each use of the argument counts, and in lambdas; lambdas in device
// code are not looked into.
// RUN: rm -rf %t && split-file %s %t && cd %t
// RUN: %gmpi-translate --cuda-path=none in.cu -o out.cu
// RUN: FileCheck --input-file=out.cu check
// RUN: %compile-cuda out.cu

//--- in.cu
#include <mpi.h>
#define CHECK(call) do { if ((call) != MPI_SUCCESS) printf("failed: %s\n", #call); } while (0)
#define TRY(call) do { if ((call) != MPI_SUCCESS) ++failed; } while (0)
#define BEFORE_TWO(call) call; __syncthreads(); call
__global__ void macros(int *b) {
  MPI_Request r[2];
  int failed = 0;
  CHECK(MPI_Irecv(b, 1, MPI_INT, 1, 10, MPI_COMM_WORLD, &r[0]));
  TRY(MPI_Irecv(b, 1, MPI_INT, 1, 11, MPI_COMM_WORLD, &r[0]));
  TRY(MPI_Isend(b, 1, MPI_INT, 1, 12, MPI_COMM_WORLD, &r[1]));
  TRY(MPI_Waitall(2, r, MPI_STATUSES_IGNORE));
  BEFORE_TWO(MPI_Irecv(b, 1, MPI_INT, 1, 13, MPI_COMM_WORLD, &r[0]));
  MPI_Wait(&r[0], MPI_STATUS_IGNORE);
}
__global__ void lambdas(int *b) {
  MPI_Request r;
  auto post = [&] {
    MPI_Irecv(b, 1, MPI_INT, 1, 20, MPI_COMM_WORLD, &r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
  };
  post();
  MPI_Irecv(b, 1, MPI_INT, 1, 21, MPI_COMM_WORLD, &r);
  post();
}
//--- check
CHECK: CHECK(::gmpi::grid::MPI_Irecv({{[{].*}} 1, 10,
CHECK: TRY(::gmpi::grid::followed::MPI_Irecv({{[{].*}} 1, 11,
CHECK-NEXT: TRY(::gmpi::grid::followed::MPI_Isend({{[{].*}} 1, 12,
CHECK-NEXT: TRY(::gmpi::grid::MPI_Waitall(
CHECK-NEXT: BEFORE_TWO(::gmpi::grid::MPI_Irecv({{[{].*}} 1, 13,
CHECK: ::gmpi::grid::MPI_Irecv({{[{].*}} 1, 20,
CHECK: ::gmpi::grid::MPI_Irecv({{[{].*}} 1, 21,
