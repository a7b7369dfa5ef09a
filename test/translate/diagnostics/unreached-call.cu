// Device code that no kernel of this file reaches: nothing happens in it, unless it is a lambda that
// is used in ways not seen, or code of other files may call it (-rdc=true). A pragma says the scope.
// RUN: rm -rf %t && split-file %s %t && cd %t
// RUN: not %gmpi-translate --cuda-path=none in.cu -o out.cu -- -rdc=true 2>&1 | FileCheck --implicit-check-not=error: check
// RUN: %gmpi-translate --cuda-path=none said.cu -o said-out.cu -- -rdc=true
// RUN: FileCheck --check-prefix=SAID --input-file=said-out.cu check
// RUN: %gmpi-translate --cuda-path=none dead.cu -o dead-out.cu
// RUN: FileCheck --check-prefix=DEAD --input-file=dead-out.cu check
// RUN: %compile-cuda dead-out.cu

//--- in.cu
#include <mpi.h>
__device__ void elsewhere() { MPI_Barrier(MPI_COMM_WORLD); }
//--- said.cu
#include <mpi.h>
__device__ void elsewhere() {
#pragma gmpi scope(block)
  MPI_Barrier(MPI_COMM_WORLD);
}
//--- dead.cu
#include <mpi.h>
__device__ inline void unused() { MPI_Barrier(MPI_COMM_WORLD); }
template <class T> __global__ void never(T *p) { MPI_Send(p, 1, MPI_INT, 0, 0, MPI_COMM_WORLD); }
//--- check
CHECK: in.cu:2:31: error: no kernel in this file reaches this call of MPI_Barrier, so its scope is not known [gmpi-unreached-call]
CHECK: note: say which with '#pragma gmpi scope(grid)', 'scope(block)' or 'scope(thread)' before it, or define the function beside the kernels that call it
SAID: ::gmpi::block::MPI_Barrier(
DEAD: __device__ inline void unused() { ::gmpi::thread::MPI_Barrier(
DEAD: never__queue({{.*}}::gmpi::thread::MPI_Send(
