// Each rank's kernel receives from the next one: the job is ended, and each rank's call named. So it is
// with launches behind the waiting one, and where the host waits for a copy. Where other host threads
// may make MPI calls, it is told only.
// RUN: %gmpicxx %s -o %t
// RUN: env GMPI_STALL=1 not %mpiexec -n 2 %t 2>&1 | FileCheck %s --check-prefixes=CHECK,TWO
// RUN: env GMPI_STALL=1 GMPI_PEER=1 not %mpiexec -n 2 %t 2>&1 | FileCheck %s --check-prefixes=CHECK,TWO
// RUN: env GMPI_STALL=1 not %mpiexec -n 3 %t 2>&1 | FileCheck %s --check-prefixes=CHECK,THREE
// RUN: env GMPI_STALL=1 not %mpiexec -n 1 %t 2>&1 | FileCheck %s --check-prefix=ONE
// RUN: env GMPI_STALL=1 not %mpiexec -n 2 %t queue 2>&1 | FileCheck %s --check-prefixes=CHECK,TWO
// RUN: env GMPI_STALL=1 not %mpiexec -n 2 %t copy 2>&1 | FileCheck %s --check-prefixes=CHECK,TWO
// RUN: env GMPI_STALL=1 GMPI_TIMEOUT=5 not %mpiexec -n 2 %t multiple 2>&1 | FileCheck %s --check-prefix=MULTIPLE --implicit-check-not=deadlock
#include "../Inputs/hang.h"

__global__ void exchange(int *buffer, int next) {
  MPI_Recv(buffer, 1, MPI_INT, next, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); // line 15
  MPI_Send(buffer, 1, MPI_INT, next, 0, MPI_COMM_WORLD);
}

int main(int argc, char **argv) {
  begin(&argc, &argv);
  bool queue = argc > 1 && !strcmp(argv[1], "queue");
  cudaStream_t stream = nullptr;
  if (queue)
    cudaStreamCreate(&stream);
  for (int launch = 0; launch < 1 + queue; ++launch)
    exchange<<<2, 32, 0, stream>>>(buffer, (rank + 1) % size);
  if (queue)
    cudaStreamSynchronize(stream);
  else if (argc > 1 && !strcmp(argv[1], "copy"))
    cudaMemcpy(&size, buffer, sizeof(int), cudaMemcpyDeviceToHost);
  return end();
}

// CHECK-DAG: gmpi: rank 0: no progress for {{[0-9]+}} s; outstanding calls:
// CHECK-DAG: gmpi: rank 1: no progress for {{[0-9]+}} s; outstanding calls:
// TWO: gmpi: rank 0: deadlock: rank 0 waits in MPI_Recv from rank 1, tag 0 (grid scope, {{[^ ]*}}cycle.cu:15, for {{[0-9]+}} s); rank 1 waits in MPI_Recv from rank 0, tag 0 (grid scope, {{[^ ]*}}cycle.cu:15, for {{[0-9]+}} s){{$}}
// THREE: gmpi: rank 0: deadlock: rank 0 waits in MPI_Recv from rank 1, tag 0 (grid scope, {{[^ ]*}}cycle.cu:15, for {{[0-9]+}} s); rank 1 waits in MPI_Recv from rank 2, tag 0 (grid scope, {{[^ ]*}}cycle.cu:15, for {{[0-9]+}} s); rank 2 waits in MPI_Recv from rank 0, tag 0 (grid scope, {{[^ ]*}}cycle.cu:15, for {{[0-9]+}} s){{$}}
// ONE: gmpi: rank 0: deadlock: rank 0 waits in MPI_Recv from rank 0, tag 0 (grid scope, {{[^ ]*}}cycle.cu:15, for {{[0-9]+}} s){{$}}
// MULTIPLE: gmpi: rank 0: ranks wait for each other: {{.*}}; other threads or a host program may still act, so the job goes on
// MULTIPLE: GMPI_TIMEOUT is passed
// CHECK-NOT: ends
