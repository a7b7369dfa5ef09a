// Ranks that wait in a send to each other, in a circle: the job is ended, and each rank's call named. Where each
// receives what the other sends, nobody waits.
// RUN: %gmpicxx %s -o %t
// RUN: env GMPI_STALL=1 not %mpiexec -n 2 %t 2>&1 | FileCheck %s --check-prefixes=CHECK,TWO -DCALL=Ssend
// RUN: env GMPI_STALL=1 GMPI_PEER=1 not %mpiexec -n 2 %t 2>&1 | FileCheck %s --check-prefixes=CHECK,TWO -DCALL=Ssend
// RUN: env GMPI_STALL=1 GMPI_PEER=1 not %mpiexec -n 3 %t 2>&1 | FileCheck %s --check-prefixes=CHECK,THREE -DCALL=Ssend
// RUN: env GMPI_STALL=1 GMPI_PEER=1 not %mpiexec -n 2 %t long 2>&1 | FileCheck %s --check-prefixes=CHECK,TWO -DCALL=Send
// RUN: env GMPI_STALL=1 GMPI_TIMEOUT=4 not %mpiexec -n 2 %t tags 2>&1 | FileCheck %s --check-prefix=TAGS --implicit-check-not=deadlock
// RUN: env GMPI_STALL=1 GMPI_TIMEOUT=4 GMPI_PEER=1 not %mpiexec -n 2 %t tags 2>&1 | FileCheck %s --check-prefix=TAGS --implicit-check-not=deadlock
#include "../Inputs/hang.h"

__global__ void exchange(unsigned char *data, int bytes, int next) {
  if (bytes == 1)
    MPI_Ssend(data, bytes, MPI_BYTE, next, 0, MPI_COMM_WORLD);
  else
    MPI_Send(data, bytes, MPI_BYTE, next, 0, MPI_COMM_WORLD);
  MPI_Recv(data, bytes, MPI_BYTE, next, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/// One waits for a message that has another tag than what the other sends: that may come yet.
__global__ void other_tag(unsigned char *data, int rank) {
  if (rank == 0)
    MPI_Ssend(data, 1, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
  else
    MPI_Recv(data, 1, MPI_BYTE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv) {
  begin(&argc, &argv);
  const int bytes = argc > 1 && !strcmp(argv[1], "long") ? 2000000 : 1;
  unsigned char *data;
  cudaMalloc(&data, bytes);
  if (argc > 1 && !strcmp(argv[1], "tags"))
    other_tag<<<2, 32>>>(data, rank);
  else
    exchange<<<2, 32>>>(data, bytes, (rank + 1) % size);
  return end();
}

// CHECK-DAG: gmpi: rank 0: no progress for {{[0-9]+}} s; outstanding calls:
// CHECK-DAG: gmpi: rank 1: no progress for {{[0-9]+}} s; outstanding calls:
// TWO: gmpi: rank 0: deadlock: rank 0 waits in MPI_[[CALL]] to rank 1, tag 0 (grid scope, {{[^ ]*}}sends.cu:{{[0-9]+}}, for {{[0-9]+}} s); rank 1 waits in MPI_[[CALL]] to rank 0, tag 0 (grid scope, {{[^ ]*}}sends.cu:{{[0-9]+}}, for {{[0-9]+}} s){{$}}
// THREE: gmpi: rank 0: deadlock: rank 0 waits in MPI_[[CALL]] to rank 1, {{.*}}; rank 1 waits in MPI_[[CALL]] to rank 2, {{.*}}; rank 2 waits in MPI_[[CALL]] to rank 0
// TAGS: GMPI_TIMEOUT is passed
// CHECK-NOT: {{^}}rank {{[0-9]+}} ends
