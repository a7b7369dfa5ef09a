// Requests in local variables are as wide as the calls that made them.
// RUN: rm -rf %t && split-file %s %t && cd %t
// RUN: %gmpi-translate --cuda-path=none in.cu -o out.cu --remarks 2>&1 | FileCheck check --implicit-check-not=in.cu:
// RUN: %compile-cuda out.cu
// RUN: %gmpi-translate --device=cpu in.cu -o cpu.cu --remarks 2>&1 | FileCheck check --implicit-check-not=in.cu:
// RUN: %compile-cpu cpu.cu

//--- in.cu
#include <mpi.h>
__global__ void k(double *buf, int n, int left, int right) {
  MPI_Request requests[4];
  int posted = 0;
  if (left != MPI_PROC_NULL)
    MPI_Irecv(buf, 1, MPI_DOUBLE, left, 0, MPI_COMM_WORLD, &requests[posted++]);
  if (right != MPI_PROC_NULL)
    MPI_Isend(buf + n, 1, MPI_DOUBLE, right, 0, MPI_COMM_WORLD, requests + posted++);
  MPI_Waitall(posted, requests, MPI_STATUSES_IGNORE);
  MPI_Request own;
  MPI_Isend(buf + threadIdx.x, 1, MPI_DOUBLE, right, 1, MPI_COMM_WORLD, &own);
  MPI_Wait(&own, MPI_STATUS_IGNORE);
  MPI_Request shared;
  int done = 0;
  MPI_Irecv(buf, 1, MPI_DOUBLE, left, 2, MPI_COMM_WORLD, &shared);
  while (!done)
    MPI_Test(&shared, &done, MPI_STATUS_IGNORE);
}
//--- check
CHECK: in.cu:6: MPI_Irecv: grid scope, queue: control and arguments are the same for all threads; left to the next call{{$}}
CHECK-NEXT: in.cu:8: MPI_Isend: grid scope, queue: control and arguments are the same for all threads; left to the next call{{$}}
CHECK-NEXT: in.cu:9: MPI_Waitall: grid scope, queue: control and arguments are the same for all threads{{$}}
CHECK-NEXT: in.cu:11: MPI_Isend: thread scope, queue: `buf + threadIdx.x` depends on `threadIdx.x` (line 11){{$}}
CHECK-NEXT: in.cu:12: MPI_Wait: thread scope, queue: `&own` depends on `MPI_Isend` (line 11), which is called once for each thread{{$}}
CHECK-NEXT: in.cu:15: MPI_Irecv: grid scope, queue: control and arguments are the same for all threads{{$}}
CHECK-NEXT: in.cu:17: MPI_Test: grid scope, queue: control and arguments are the same for all threads{{$}}
