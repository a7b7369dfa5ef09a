// Calls in what a kernel reaches: device functions, host and device functions, members, templates,
// lambdas; local functions have no scope of their own.
// RUN: rm -rf %t && split-file %s %t && cd %t
// RUN: %gmpi-translate --cuda-path=none in.cu -o out.cu -- --extended-lambda
// RUN: FileCheck --input-file=out.cu check
// RUN: %compile-cuda --extended-lambda out.cu
// RUN: %gmpi-translate --device=cpu in.cu -o cpu.cu
// RUN: %compile-cpu cpu.cu

//--- in.cu
#include <mpi.h>
__device__ int barrier() { return MPI_Barrier(MPI_COMM_WORLD); }
__host__ __device__ void both(double *u) { ::MPI_Send(u, 1, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD); }
template <class T> struct Halo {
  T *cells;
  __device__ void exchange(int peer) { MPI_Recv(cells, 1, MPI_INT, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); }
};
template <class F> __global__ void run(F f, double *u, Halo<int> halo) {
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  double t = MPI_Wtime();
  barrier();
  both(u);
  halo.exchange(rank ^ 1);
  auto inner = [&](int n) { return MPI_Barrier(MPI_COMM_WORLD) + n; };
  inner(1);
  f(t);
}
int main() {
  run<<<1, 32>>>([=] __device__ (double) { MPI_Barrier(MPI_COMM_WORLD); }, nullptr, {});
  both(nullptr);
}
//--- check
CHECK: __device__ int barrier() { return ::gmpi::grid::MPI_Barrier({{[{].*}}, 2}, MPI_COMM_WORLD); }
CHECK-NEXT: __host__ __device__ void both(double *u) { ::gmpi::grid::MPI_Send({{[{].*}}, 3}, u, 1,
CHECK: exchange(int peer) { ::gmpi::grid::MPI_Recv(
CHECK: ::gmpi::thread::MPI_Comm_rank({{[{].*}}, 10}, MPI_COMM_WORLD, &rank);
CHECK-NEXT: double t = ::gmpi::thread::MPI_Wtime({{[{].*}}, 11});
CHECK: return ::gmpi::grid::MPI_Barrier({{[{].*}}, 15}, MPI_COMM_WORLD) + n; };
CHECK: run__launch(::gmpi::Launch(1, 32), [=] __device__ (double) { ::gmpi::grid::MPI_Barrier({{[{].*}}, 20}, MPI_COMM_WORLD); }, nullptr, {});
CHECK-NEXT: both(nullptr);
