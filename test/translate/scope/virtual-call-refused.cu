// Nor which function overrides.
// RUN: rm -rf %t && split-file %s %t && cd %t
// RUN: not %gmpi-translate --cuda-path=none in.cu -o out.cu 2>&1 | FileCheck check --implicit-check-not=error: --implicit-check-not=note:
// RUN: not %gmpi-translate --device=cpu in.cu -o out.cu 2>&1 | FileCheck check --implicit-check-not=error: --implicit-check-not=note:
// RUN: not ls out.cu

//--- in.cu
#include <mpi.h>
struct Halo { __device__ virtual void send(double *buf, int peer) {} };
struct Plain : Halo {
  __device__ void send(double *buf, int peer) override { MPI_Send(buf, 1, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD); }
};
__global__ void k(Halo *halo, double *buf, int peer) { halo->send(buf, peer); }
//--- check
CHECK: in.cu:6:{{.*}} error: this call of the virtual function `send` may reach MPI [gmpi-scope-virtual-call]
CHECK: note: call the function of a known class
CHECK: in.cu:4:{{.*}} note: `send` reaches MPI
