// A residual summed up by atomics is uniform after the Allreduce, as long as all have read it
// before it is set to zero again.
// RUN: rm -rf %t && split-file %s %t && cd %t
// RUN: %gmpi-translate --cuda-path=none in.cu -o out.cu --remarks 2>&1 | FileCheck check --implicit-check-not=in.cu:
// RUN: %compile-cuda out.cu
// RUN: %gmpi-translate --device=cpu in.cu -o cpu.cu --remarks 2>&1 | FileCheck check --implicit-check-not=in.cu:
// RUN: %compile-cpu cpu.cu

//--- in.cu
#include <mpi.h>
__global__ void relax(double *u, double *v, double *residual, int n, double tolerance) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  for (double r = 2 * tolerance; r > tolerance;) {
    v[i] = 0.5 * u[i];
    atomicAdd(residual, v[i] - u[i]);
    MPI_Allreduce(MPI_IN_PLACE, residual, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    r = *residual;
    MPI_Barrier(MPI_COMM_WORLD);
    if (i == 0)
      *residual = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    double *t = u; u = v; v = t;
  }
}
//--- check
CHECK: in.cu:7: MPI_Allreduce: grid scope, queue: control and arguments are the same for all threads{{$}}
CHECK-NEXT: in.cu:9: MPI_Barrier: grid scope, queue: control and arguments are the same for all threads{{$}}
CHECK-NEXT: in.cu:12: MPI_Barrier: grid scope, queue: control and arguments are the same for all threads{{$}}
