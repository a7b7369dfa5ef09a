// Members and elements one by one.
// RUN: rm -rf %t && split-file %s %t && cd %t
// RUN: %gmpi-translate --cuda-path=none in.cu -o out.cu --remarks 2>&1 | FileCheck check --implicit-check-not=in.cu:
// RUN: %compile-cuda out.cu
// RUN: %gmpi-translate --device=cpu in.cu -o cpu.cu --remarks 2>&1 | FileCheck check --implicit-check-not=in.cu:
// RUN: %compile-cpu cpu.cu

//--- in.cu
#include <mpi.h>
struct Particle { int owner, id; double x[3]; };
__global__ void k(double *buf, int n, int peer) {
  Particle p;
  p.owner = n;
  p.id = threadIdx.x;
  for (int i = 0; i < 3; ++i)
    p.x[i] = buf[i];
  MPI_Send(&p.owner, 1, MPI_INT, peer, 0, MPI_COMM_WORLD);
  MPI_Send(p.x, 3, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD);
  MPI_Send(buf, p.id, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD);
  int a[2] = {n, p.id};
  MPI_Send(&a[0], 1, MPI_INT, peer, 0, MPI_COMM_WORLD);
}
//--- check
CHECK: in.cu:9: MPI_Send: grid scope, queue: control and arguments are the same for all threads{{$}}
CHECK-NEXT: in.cu:10: MPI_Send: grid scope, queue: control and arguments are the same for all threads{{$}}
CHECK-NEXT: in.cu:11: MPI_Send: thread scope, queue: `p.id` depends on `threadIdx.x` (line 6){{$}}
CHECK-NEXT: in.cu:13: MPI_Send: grid scope, queue: control and arguments are the same for all threads{{$}}
