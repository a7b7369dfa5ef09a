// Device code that no kernel of this file reaches: it runs nowhere, unless it is a lambda that is used
// in ways not seen, or code of other files may call it (-rdc=true). A pragma says the scope.
// RUN: rm -rf %t && split-file %s %t && cd %t
// RUN: not %gmpi-translate --cuda-path=none in.cu -o out.cu -- -rdc=true 2>&1 | FileCheck --implicit-check-not=error: check
// RUN: %gmpi-translate --cuda-path=none said.cu -o said-out.cu -- -rdc=true
// RUN: FileCheck --check-prefix=SAID --input-file=said-out.cu check
// RUN: %compile-cuda -rdc=true said-out.cu
// RUN: %gmpi-translate --cuda-path=none dead.cu -o dead-out.cu
// RUN: FileCheck --check-prefix=DEAD --input-file=dead-out.cu check
// RUN: %compile-cuda dead-out.cu

//--- in.cu
#include <mpi.h>
__device__ void elsewhere() { MPI_Barrier(MPI_COMM_WORLD); }
template <class T> __device__ void send(T *p) {
  auto call = [=] { MPI_Send(p, 1, MPI_INT, 0, 0, MPI_COMM_WORLD); };
  call();
}
template __device__ void send<int>(int *);
template <class T> struct Halo {
  __device__ void exchange(T *p) { MPI_Send(p, 1, MPI_INT, 1, 0, MPI_COMM_WORLD); }
};
template struct Halo<int>;
//--- said.cu
#include <mpi.h>
__device__ void elsewhere() {
#pragma gmpi scope(block)
  MPI_Barrier(MPI_COMM_WORLD);
}
template <class T> __device__ void send(T *p) {
#pragma gmpi scope(grid)
  MPI_Send(p, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
}
template __device__ void send<int>(int *);
//--- dead.cu
#include <mpi.h>
__device__ inline void unused() { MPI_Barrier(MPI_COMM_WORLD); }
//--- check
CHECK: in.cu:2:31: error: no kernel in this file reaches this call of MPI_Barrier, so its scope is not known [gmpi-unreached-call]
CHECK: note: say which with '#pragma gmpi scope(grid)', 'scope(block)' or 'scope(thread)' before it, or define the function beside the kernels that call it
CHECK: in.cu:4:21: error: no kernel in this file reaches this call of MPI_Send, so its scope is not known [gmpi-unreached-call]
CHECK: in.cu:9:36: error: no kernel in this file reaches this call of MPI_Send, so its scope is not known [gmpi-unreached-call]
SAID: ::gmpi::block::MPI_Barrier(
SAID: ::gmpi::grid::MPI_Send(
DEAD: __device__ inline void unused() { ::gmpi::thread::MPI_Barrier(
