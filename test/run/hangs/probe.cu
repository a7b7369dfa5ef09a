// MPI_Probe for a message that does not come: told as a receive is, ended by GMPI_TIMEOUT where the peer is
// alive, and at once where it has finished or ranks wait for each other. A block that asks again and again by
// MPI_Iprobe, in vain, does not hide that another waits.
// RUN: %gmpicxx %s -o %t
// RUN: env GMPI_STALL=1 GMPI_TIMEOUT=5 not %mpiexec -n 2 %t nobody 2>&1 | FileCheck %s --check-prefix=NOBODY --implicit-check-not=gmpi:
// RUN: env GMPI_STALL=1 GMPI_PEER=1 GMPI_TIMEOUT=5 not %mpiexec -n 2 %t nobody 2>&1 | FileCheck %s --check-prefix=NOBODY --implicit-check-not=gmpi:
// RUN: env GMPI_STALL=1 not %mpiexec -n 2 %t finished 2>&1 | FileCheck %s --check-prefix=FINISHED
// RUN: env GMPI_STALL=1 GMPI_PEER=1 not %mpiexec -n 2 %t finished 2>&1 | FileCheck %s --check-prefix=FINISHED
// RUN: env GMPI_STALL=1 not %mpiexec -n 2 %t cycle 2>&1 | FileCheck %s --check-prefix=CYCLE
// RUN: env GMPI_STALL=1 GMPI_PEER=1 not %mpiexec -n 2 %t cycle 2>&1 | FileCheck %s --check-prefix=CYCLE
// RUN: env GMPI_STALL=1 %mpiexec -n 2 %t asking 2>&1 | FileCheck %s --check-prefix=ASKING --implicit-check-not=gmpi:
#include "../Inputs/hang.h"

__global__ void probe(int from) {
  MPI_Status status;
  MPI_Probe(from, 0, MPI_COMM_WORLD, &status); // line 16
}

/// Block 1 waits for a message, which comes when block 0 has asked for another for a while.
__global__ void ask(int *buffer) {
  if (blockIdx.x == 1) {
    MPI_Recv(buffer, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); // line 22
  } else if (blockIdx.x == 0 && threadIdx.x == 0) {
    int flag = 0;
    for (double start = MPI_Wtime(); flag == 0 && MPI_Wtime() - start < 20;)
      MPI_Iprobe(1, 1, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    MPI_Recv(buffer + 1, 1, MPI_INT, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
}
__global__ void answer(int *buffer) {
  for (double start = MPI_Wtime(); MPI_Wtime() - start < 4;)
    __nanosleep(1000000);
  MPI_Send(buffer, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
  MPI_Send(buffer, 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
}

int main(int argc, char **argv) {
  begin(&argc, &argv);
  if (!strcmp(argv[1], "asking"))
    rank == 0 ? ask<<<2, 32>>>(buffer) : answer<<<1, 32>>>(buffer);
  else if (rank == 0 || !strcmp(argv[1], "cycle"))
    probe<<<2, 32>>>(1 - rank);
  else if (!strcmp(argv[1], "nobody"))
    sleep(60); // alive
  return end();
}

// NOBODY:      gmpi: rank 0: no progress for {{[12]}} s; outstanding calls:
// NOBODY-NEXT:   MPI_Probe from rank 1, tag 0 (grid scope, {{.*}}probe.cu:16, for {{[12]}} s)
// NOBODY:      gmpi: rank 0: no progress for {{[56]}} s, GMPI_TIMEOUT is passed; outstanding calls:
// NOBODY-NEXT:   MPI_Probe from rank 1, tag 0 (grid scope, {{.*}}probe.cu:16, for {{[56]}} s)
// FINISHED: gmpi: rank 0: waits in MPI_Probe from rank 1, tag 0 (grid scope, {{[^ ]*}}:16, for {{[0-9]+}} s) for rank 1, which has finished{{$}}
// CYCLE: gmpi: rank 0: deadlock: rank 0 waits in MPI_Probe from rank 1, tag 0 (grid scope, {{[^ ]*}}:16, for {{[0-9]+}} s); rank 1 waits in MPI_Probe from rank 0, tag 0 (grid scope, {{[^ ]*}}:16, for {{[0-9]+}} s){{$}}
// ASKING: gmpi: rank 0: no progress for {{[0-9]+}} s; outstanding calls:
// ASKING-NEXT: MPI_Recv from rank 1, tag 0 (block scope, {{[^ ]*}}:22, for {{[0-9]+}} s)
// ASKING-DAG: rank 0 ends
// ASKING-DAG: rank 1 ends
