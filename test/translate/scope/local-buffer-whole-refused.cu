// As a whole where the message may go on behind the part named.
// RUN: rm -rf %t && split-file %s %t && cd %t
// RUN: not %gmpi-translate --cuda-path=none in.cu -o out.cu 2>&1 | FileCheck check --implicit-check-not=error: --implicit-check-not=note:
// RUN: not %gmpi-translate --device=cpu in.cu -o out.cu 2>&1 | FileCheck check --implicit-check-not=error: --implicit-check-not=note:
// RUN: not ls out.cu

//--- in.cu
#include <mpi.h>
struct Particle { int owner, id; };
__global__ void k(int n, int peer) {
  Particle p;
  p.owner = n;
  p.id = threadIdx.x;
  MPI_Send(&p.owner, 2, MPI_INT, peer, 0, MPI_COMM_WORLD);
  MPI_Send(&p, 2, MPI_INT, peer, 0, MPI_COMM_WORLD);
}
//--- check
CHECK: in.cu:7:{{.*}} error: which thread's `p.owner` is MPI_Send to send? It differs from thread to thread, but the call is made once for the whole grid [gmpi-scope-send-buffer]
CHECK: note: combine the values first
CHECK: in.cu:6:{{.*}} note: `p.owner` depends on `threadIdx.x`
CHECK: in.cu:8:{{.*}} error: which thread's `p` is MPI_Send to send? It differs from thread to thread, but the call is made once for the whole grid [gmpi-scope-send-buffer]
CHECK: note: combine the values first
CHECK: in.cu:6:{{.*}} note: `p` depends on `threadIdx.x`
