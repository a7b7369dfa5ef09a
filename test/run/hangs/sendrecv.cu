// Of an MPI_Sendrecv between kernels, a report names the half that is waited for, with its own rank and tag.
// LOWERINGS: queue (split kernels leave such communicators to the queue)
// RUN: %gmpicxx %s -o %t
// RUN: env GMPI_PEER=1 GMPI_STALL=1 GMPI_TIMEOUT=3 not %mpiexec -n 3 %t 2>&1 | FileCheck %s --check-prefix=RECEIVE
// RUN: env GMPI_PEER=1 GMPI_STALL=1 GMPI_TIMEOUT=3 not %mpiexec -n 3 %t long 2>&1 | FileCheck %s --check-prefix=RECEIVE
// RUN: env GMPI_PEER=1 GMPI_STALL=1 GMPI_TIMEOUT=3 not %mpiexec -n 3 %t late 2>&1 | FileCheck %s --check-prefix=SEND
// RECEIVE: MPI_Sendrecv from rank 2, tag 8 (grid scope, {{[^ ]*}}sendrecv.cu:14, for
// SEND: MPI_Sendrecv to rank 1, tag 7 (grid scope, {{[^ ]*}}sendrecv.cu:14, for
#include "../Inputs/hang.h"

/// Rank 0 sends what rank 1 receives, unless that is late; nobody sends what rank 0 receives.
__global__ void exchange(unsigned char *data, unsigned char *got, int bytes, int rank, bool late) {
  if (rank == 0)
    MPI_Sendrecv(data, bytes, MPI_BYTE, 1, 7, got, late ? 1 : bytes, MPI_BYTE, 2, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  else if (rank == 1)
    MPI_Recv(got, bytes, MPI_BYTE, 0, late ? 9 : 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  else if (late)
    MPI_Send(data, 1, MPI_BYTE, 0, 8, MPI_COMM_WORLD);
}

int main(int argc, char **argv) {
  begin(&argc, &argv);
  const bool late = argc > 1 && !strcmp(argv[1], "late");
  const int bytes = argc > 1 ? 2000000 : 4;
  unsigned char *data, *got;
  cudaMalloc(&data, bytes);
  cudaMalloc(&got, bytes);
  exchange<<<2, 32>>>(data, got, bytes, rank, late);
  return end();
}
