// A cycle of different calls: a wait for a request, a synchronous send, a barrier, an exchange.
// RUN: %gmpicxx %s -o %t
// RUN: env GMPI_STALL=1 not %mpiexec -n 4 %t 2>&1 | FileCheck %s
#include "../Inputs/hang.h"

__global__ void wait(int *buffer, int rank, MPI_Comm reversed, MPI_Comm pair) {
  if (rank == 0) {
    MPI_Request request;
    MPI_Irecv(buffer, 1, MPI_INT, 1, 5, MPI_COMM_WORLD, &request); // line 9
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  } else if (rank == 1) {
    MPI_Ssend(buffer, 1, MPI_INT, 1, 6, reversed); // line 12: to rank 2 of MPI_COMM_WORLD
  } else if (rank == 2) {
    MPI_Sendrecv(buffer, 1, MPI_INT, 3, 7, buffer + 1, 1, MPI_INT, 3, 7, MPI_COMM_WORLD, // line 14
                 MPI_STATUS_IGNORE);
  } else {
    MPI_Barrier(pair); // line 17: with rank 0
  }
}

int main(int argc, char **argv) {
  begin(&argc, &argv);
  MPI_Comm reversed, pair;
  MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &reversed);
  MPI_Comm_split(MPI_COMM_WORLD, rank % 3 == 0, rank, &pair);
  wait<<<2, 32>>>(buffer, rank, reversed, pair);
  return end();
}

// CHECK: gmpi: rank 0: deadlock: rank 0 waits in MPI_Irecv from rank 1, tag 5 (grid scope, {{[^ ]*}}:9, waited for at {{[^ ]*}}:10, for {{[0-9]+}} s); rank 1 waits in MPI_Ssend to rank 1 (in MPI_COMM_WORLD 2), tag 6 (grid scope, {{[^ ]*}}:12, for {{[0-9]+}} s); rank 2 waits in MPI_Sendrecv to rank 3, tag 7, from rank 3, tag 7 (grid scope, {{[^ ]*}}:14, for {{[0-9]+}} s); rank 3 waits in MPI_Barrier (grid scope, {{[^ ]*}}:17, for {{[0-9]+}} s){{$}}
