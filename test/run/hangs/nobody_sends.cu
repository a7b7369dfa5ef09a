// A receive that nobody sends to, while the peer is alive in its host program: told once, and ended by
// GMPI_TIMEOUT alone.
// RUN: %gmpicxx %s -o %t
// RUN: env GMPI_STALL=1 GMPI_TIMEOUT=5 not %mpiexec -n 2 %t 2>&1 | FileCheck %s --implicit-check-not=gmpi:
// RUN: env GMPI_STALL=1 GMPI_PEER=1 GMPI_TIMEOUT=5 not %mpiexec -n 2 %t 2>&1 | FileCheck %s --implicit-check-not=gmpi:
#include "../Inputs/hang.h"

__global__ void receive(int *buffer) {
  MPI_Recv(buffer, 1, MPI_INT, 1, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); // line 9
}

int main(int argc, char **argv) {
  begin(&argc, &argv);
  if (rank == 0)
    receive<<<2, 32>>>(buffer);
  else
    sleep(60); // alive
  return end();
}

// CHECK:      gmpi: rank 0: no progress for {{[12]}} s; outstanding calls:
// CHECK-NEXT:   MPI_Recv from rank 1, tag 7 (grid scope, {{.*}}nobody_sends.cu:9, for {{[12]}} s)
// CHECK:      gmpi: rank 0: no progress for {{[56]}} s, GMPI_TIMEOUT is passed; outstanding calls:
// CHECK-NEXT:   MPI_Recv from rank 1, tag 7 (grid scope, {{.*}}nobody_sends.cu:9, for {{[56]}} s)
