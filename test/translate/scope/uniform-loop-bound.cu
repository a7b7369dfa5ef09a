// Calls in loops and branches that all threads take alike.
// RUN: rm -rf %t && split-file %s %t && cd %t
// RUN: %gmpi-translate --cuda-path=none in.cu -o out.cu --remarks 2>&1 | FileCheck check --implicit-check-not=in.cu:
// RUN: %compile-cuda out.cu
// RUN: %gmpi-translate --device=cpu in.cu -o cpu.cu --remarks 2>&1 | FileCheck check --implicit-check-not=in.cu:
// RUN: %compile-cpu cpu.cu

//--- in.cu
#include <mpi.h>
__global__ void k(double *buf, int n, int peer) {
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (int s = 0; s < n; ++s) {
    if (rank % 2)
      MPI_Send(buf, s, MPI_DOUBLE, (rank + 1) % size, 0, MPI_COMM_WORLD);
    else
      MPI_Recv(buf, s, MPI_DOUBLE, (rank - 1 + size) % size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    int j = 0;
    while (j < threadIdx.x)
      ++j;
    buf[j] = s;
  }
  MPI_Send(buf, n, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD);
}
//--- check
CHECK: in.cu:4: MPI_Comm_rank: local, answered on the device{{.*}}
CHECK-NEXT: in.cu:5: MPI_Comm_size: local, answered on the device{{.*}}
CHECK-NEXT: in.cu:8: MPI_Send: grid scope, queue: control and arguments are the same for all threads{{$}}
CHECK-NEXT: in.cu:10: MPI_Recv: grid scope, queue: control and arguments are the same for all threads{{$}}
CHECK-NEXT: in.cu:16: MPI_Send: grid scope, queue: control and arguments are the same for all threads{{$}}
