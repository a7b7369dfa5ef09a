// The solver of every introduction: a grid-stride loop, halo exchange, pointers swapped each step.
// RUN: rm -rf %t && split-file %s %t && cd %t
// RUN: %gmpi-translate --cuda-path=none in.cu -o out.cu --remarks 2>&1 | FileCheck check --implicit-check-not=in.cu:
// RUN: %compile-cuda out.cu
// RUN: %gmpi-translate --device=cpu in.cu -o cpu.cu --remarks 2>&1 | FileCheck check --implicit-check-not=in.cu:
// RUN: %compile-cpu cpu.cu

//--- in.cu
#include <mpi.h>
__global__ void relax(double *u, double *v, int n, int left, int right, int steps) {
  for (int s = 0; s < steps; ++s) {
    for (int i = 1 + blockIdx.x * blockDim.x + threadIdx.x; i <= n; i += gridDim.x * blockDim.x)
      v[i] = 0.5 * (u[i - 1] + u[i + 1]);
    MPI_Sendrecv(v + n, 1, MPI_DOUBLE, right, 0, v, 1, MPI_DOUBLE, left, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Sendrecv(v + 1, 1, MPI_DOUBLE, left, 1, v + n + 1, 1, MPI_DOUBLE, right, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    double *t = u; u = v; v = t;
  }
}
//--- check
CHECK: in.cu:6: MPI_Sendrecv: grid scope, queue: control and arguments are the same for all threads{{$}}
CHECK-NEXT: in.cu:7: MPI_Sendrecv: grid scope, queue: control and arguments are the same for all threads{{$}}
