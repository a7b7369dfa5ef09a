// Rank 0's kernel waits for rank 1, which has called MPI_Finalize; other ranks wait in MPI_Finalize.
// RUN: %gmpicxx %s -o %t
// RUN: env GMPI_STALL=1 not %mpiexec -n 2 %t receive 2>&1 | FileCheck %s --check-prefix=RECEIVE
// RUN: env GMPI_STALL=1 not %mpiexec -n 3 %t any 2>&1 | FileCheck %s --check-prefix=ANY
// RUN: env GMPI_STALL=1 not %mpiexec -n 3 %t barrier 2>&1 | FileCheck %s --check-prefix=BARRIER
// RUN: env GMPI_STALL=1 not %mpiexec -n 2 %t host 2>&1 | FileCheck %s --check-prefix=HOST
// RUN: env GMPI_STALL=1 not %mpiexec -n 2 %t thread 2>&1 | FileCheck %s --check-prefix=THREAD
#include "../Inputs/hang.h"

__global__ void receive(int *buffer, int from) {
  MPI_Recv(buffer, 1, MPI_INT, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); // line 11
}
__global__ void barrier() {
  MPI_Barrier(MPI_COMM_WORLD); // line 14
}
__global__ void one_thread(int *buffer) {
  if (threadIdx.x == 5 && blockIdx.x == 1)
#pragma gmpi scope(thread)
    MPI_Recv(buffer, 1, MPI_INT, 1, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE); // line 19
}
__global__ void start(int *buffer, MPI_Request *request) {
  MPI_Irecv(buffer, 1, MPI_INT, 1, 4, MPI_COMM_WORLD, request); // line 22
}

static void wait_on_the_host() {
  MPI_Request *request, started;
  cudaMalloc(&request, sizeof(*request));
  start<<<2, 32>>>(buffer, request);
  cudaMemcpy(&started, request, sizeof(started), cudaMemcpyDeviceToHost);
  MPI_Wait(&started, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv) {
  begin(&argc, &argv);
  if (rank == 0) {
    if (!strcmp(argv[1], "barrier"))
      barrier<<<2, 32>>>();
    else if (!strcmp(argv[1], "host"))
      wait_on_the_host();
    else if (!strcmp(argv[1], "thread"))
      one_thread<<<2, 32>>>(buffer);
    else
      receive<<<2, 32>>>(buffer, !strcmp(argv[1], "any") ? MPI_ANY_SOURCE : 1);
  }
  return end();
}

// RECEIVE: gmpi: rank 0: waits in MPI_Recv from rank 1, tag 0 (grid scope, {{[^ ]*}}:11, for {{[0-9]+}} s) for rank 1, which has finished{{$}}
// ANY: gmpi: rank 0: waits in MPI_Recv from any rank, tag 0 (grid scope, {{[^ ]*}}:11, for {{[0-9]+}} s), and all other ranks have finished{{$}}
// BARRIER: gmpi: rank 0: waits in MPI_Barrier (grid scope, {{[^ ]*}}:14, for {{[0-9]+}} s) for rank {{[12]}}, which has finished{{$}}
// HOST: gmpi: rank 0: waits in MPI_Irecv from rank 1, tag 4 (grid scope, {{[^ ]*}}:22, waited for by the host program, for {{[0-9]+}} s) for rank 1, which has finished{{$}}
// THREAD: gmpi: rank 0: waits in MPI_Recv from rank 1, tag 3 (thread scope, {{[^ ]*}}:19, for {{[0-9]+}} s) for rank 1, which has finished{{$}}
