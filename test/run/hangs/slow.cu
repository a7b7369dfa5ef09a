// Slow programs that are alive are reported, not ended: a host program that sleeps before it sends; a
// cycle of kernels that the host programs, or kernels in other streams, then break; and one that
// other threads of the kernels break.
// RUN: %gmpicxx %s -o %t
// RUN: env GMPI_STALL=1 %mpiexec -n 2 %t host 2>&1 | FileCheck %s --check-prefixes=HOST,ENDS
// RUN: env GMPI_STALL=1 %mpiexec -n 2 %t hosts 2>&1 | FileCheck %s --check-prefixes=GRID,ENDS
// RUN: env GMPI_STALL=1 %mpiexec -n 2 %t streams 2>&1 | FileCheck %s --check-prefixes=GRID,ENDS
// RUN: env GMPI_STALL=1 %mpiexec -n 2 %t threads 2>&1 | FileCheck %s --check-prefixes=THREAD,ENDS
// RUN: env GMPI_STALL=1 GMPI_TIMEOUT=3 %mpiexec -n 2 %t computing 2>&1 | FileCheck %s --check-prefix=ENDS --implicit-check-not=gmpi:
#include "../Inputs/hang.h"

__device__ void wait(double seconds) {
  for (double start = MPI_Wtime(); MPI_Wtime() - start < seconds;)
    __nanosleep(1000000);
}
__global__ void receive(int *buffer, int peer) {
  MPI_Recv(buffer, 1, MPI_INT, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); // line 17
}
__global__ void send(int *buffer, int peer) {
  MPI_Send(buffer, 1, MPI_INT, peer, 0, MPI_COMM_WORLD);
}
__global__ void threads(int *buffer, int peer) {
  if (threadIdx.x == 0 && blockIdx.x == 0) {
#pragma gmpi scope(thread)
    MPI_Recv(buffer, 1, MPI_INT, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); // line 25
  } else if (threadIdx.x == 0) {
    wait(5);
#pragma gmpi scope(thread)
    MPI_Send(buffer + 1, 1, MPI_INT, peer, 0, MPI_COMM_WORLD);
  }
}
/// Long quiet, then calls that are answered at once.
__global__ void computing(int *buffer, int peer) {
  wait(4);
  MPI_Sendrecv(buffer, 1, MPI_INT, peer, 0, buffer + 1, 1, MPI_INT, peer, 0, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
}

int main(int argc, char **argv) {
  begin(&argc, &argv);
  int peer = 1 - rank, value = rank;
  cudaStream_t first, second;
  cudaStreamCreate(&first);
  cudaStreamCreate(&second);
  if (!strcmp(argv[1], "threads")) {
    threads<<<2, 32>>>(buffer, peer);
  } else if (!strcmp(argv[1], "computing")) {
    computing<<<2, 32>>>(buffer, peer);
  } else {
    bool both = strcmp(argv[1], "host") != 0;
    if (rank == 0 || both)
      receive<<<2, 32, 0, first>>>(buffer, peer);
    if (rank == 1 || both) {
      sleep(5);
      if (!strcmp(argv[1], "streams"))
        send<<<2, 32, 0, second>>>(buffer + 1, peer);
      else
        MPI_Send(&value, 1, MPI_INT, peer, 0, MPI_COMM_WORLD);
    }
  }
  return end();
}

// HOST-NOT: rank 1: no progress
// HOST: gmpi: rank 0: no progress for {{[0-9]+}} s; outstanding calls:
// HOST-NEXT: MPI_Recv from rank 1, tag 0 (grid scope, {{[^ ]*}}:17, for {{[0-9]+}} s)
// HOST-NOT: gmpi:
// GRID: gmpi: rank 0: ranks wait for each other: rank 0 waits in MPI_Recv from rank 1, tag 0 (grid scope, {{[^ ]*}}:17, for {{[0-9]+}} s); rank 1 waits in MPI_Recv from rank 0, tag 0 (grid scope, {{[^ ]*}}:17, for {{[0-9]+}} s); other threads or a host program may still act, so the job goes on (GMPI_TIMEOUT=SECONDS would end it){{$}}
// GRID-NOT: gmpi:
// THREAD: gmpi: rank 0: ranks wait for each other: rank 0 waits in MPI_Recv from rank 1, tag 0 (thread scope, {{[^ ]*}}:25, for {{[0-9]+}} s); rank 1 waits in MPI_Recv from rank 0, tag 0 (thread scope, {{[^ ]*}}:25, for {{[0-9]+}} s); other threads or a host program may still act, so the job goes on (GMPI_TIMEOUT=SECONDS would end it){{$}}
// THREAD-NOT: gmpi:
// ENDS-DAG: rank 0 ends
// ENDS-DAG: rank 1 ends
