// Local variables as buffers: what all threads hold alike may be sent, what is received is the
// same for all.
// RUN: rm -rf %t && split-file %s %t && cd %t
// RUN: %gmpi-translate --cuda-path=none in.cu -o out.cu --remarks 2>&1 | FileCheck check --implicit-check-not=in.cu:
// RUN: %compile-cuda out.cu
// RUN: %gmpi-translate --device=cpu in.cu -o cpu.cu --remarks 2>&1 | FileCheck check --implicit-check-not=in.cu:
// RUN: %compile-cpu cpu.cu

//--- in.cu
#include <mpi.h>
__global__ void k(double *buf, int n, int peer, double tolerance) {
  double mine = n, sum = 2 * tolerance;
  while (sum > tolerance)
    MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  int command, count;
  MPI_Status status;
  MPI_Recv(&command, 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &status);
  MPI_Get_count(&status, MPI_INT, &count);
  if (command && count)
    MPI_Send(buf, n, MPI_DOUBLE, status.MPI_SOURCE, 0, MPI_COMM_WORLD);
}
//--- check
CHECK: in.cu:5: MPI_Allreduce: grid scope, queue: control and arguments are the same for all threads{{$}}
CHECK-NEXT: in.cu:8: MPI_Recv: grid scope, queue: control and arguments are the same for all threads{{$}}
CHECK-NEXT: in.cu:9: MPI_Get_count: local, answered on the device{{.*}}
CHECK-NEXT: in.cu:11: MPI_Send: grid scope, queue: control and arguments are the same for all threads{{$}}
