// What has been left to the next call, and comes from nobody: the calls are made, and the job is ended,
// whoever waits for them, and however.
// RUN: %gmpicxx %s -o %t
// RUN: env GMPI_STALL=1 GMPI_PEER=1 not %mpiexec -n 2 %t waits 2>&1 | FileCheck %s --check-prefix=WAITS
// RUN: env GMPI_STALL=1 GMPI_PEER=1 not %mpiexec -n 2 %t waited 2>&1 | FileCheck %s --check-prefix=WAITED
// RUN: env GMPI_STALL=1 GMPI_PEER=1 not %mpiexec -n 2 %t together 2>&1 | FileCheck %s --check-prefix=TOGETHER
// RUN: env GMPI_STALL=1 GMPI_PEER=1 not %mpiexec -n 2 %t statuses 2>&1 | FileCheck %s --check-prefix=STATUSES
// RUN: env GMPI_STALL=1 GMPI_PEER=1 not %mpiexec -n 2 %t sends 2>&1 | FileCheck %s --check-prefix=SENDS
#include "../Inputs/hang.h"

__global__ void receive(int *buffer, int other, char way) {
  MPI_Request requests[2];
  MPI_Irecv(buffer, 1, MPI_INT, other, 1, MPI_COMM_WORLD, &requests[0]);
  MPI_Irecv(buffer, 1, MPI_INT, other, 2, MPI_COMM_WORLD, &requests[1]);
  if (way == 'w') {
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    MPI_Wait(&requests[1], MPI_STATUS_IGNORE); // line 17
  } else if (way == 'd') {
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE); // line 19
    MPI_Isend(buffer, 1, MPI_INT, other, 1, MPI_COMM_WORLD, &requests[0]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  } else if (way == 't') {
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE); // line 23
  } else {
    MPI_Status statuses[2];
    MPI_Waitall(2, requests, statuses); // line 26
  }
}

__global__ void send(int *buffer, int other) {
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Send(buffer, 50000, MPI_INT, other, 1, MPI_COMM_WORLD); // line 32
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv) {
  begin(&argc, &argv);
  int *large;
  cudaMalloc(&large, 50000 * sizeof(int));
  const bool is_waited = argc > 1 && !strcmp(argv[1], "waited");
  if (argc > 1 && !strcmp(argv[1], "sends"))
    send<<<2, 64>>>(large, (rank + 1) % size);
  else
    receive<<<2, 64>>>(buffer, (rank + 1) % size, is_waited ? 'd' : argc > 1 ? argv[1][0] : 't');
  return end();
}

// WAITS: gmpi: rank 0: deadlock: rank 0 waits in MPI_Irecv from rank 1, tag 1 (grid scope, {{[^ ]*}}left.cu:17, waited for at {{[^ ]*}}left.cu:17, for {{[0-9]+}} s); rank 1 waits in MPI_Irecv from rank 0, tag 1 (grid scope, {{.*}}
// WAITED: gmpi: rank 0: deadlock: rank 0 waits in MPI_Irecv from rank 1, tag 1 (grid scope, {{[^ ]*}}left.cu:19, {{.*}}
// TOGETHER: gmpi: rank 0: deadlock: rank 0 waits in MPI_Irecv from rank 1, tag {{[12]}} (grid scope, {{[^ ]*}}left.cu:23, {{.*}}
// STATUSES: gmpi: rank 0: deadlock: rank 0 waits in MPI_Irecv from rank 1, tag 1 (grid scope, {{[^ ]*}}left.cu:26, {{.*}}
// SENDS: gmpi: rank 0: deadlock: rank 0 waits in MPI_Send to rank 1, tag 1 (grid scope, {{[^ ]*}}left.cu:32, {{.*}}
