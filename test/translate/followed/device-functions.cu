// A device function's calls are followed by what it does itself, not by what its callers do: in each
// copy for a scope, and in all instantiations of a template.
// RUN: rm -rf %t && split-file %s %t && cd %t
// RUN: %gmpi-translate --cuda-path=none in.cu -o out.cu
// RUN: FileCheck --input-file=out.cu check
// RUN: %compile-cuda out.cu
// RUN: %gmpi-translate --device=cpu in.cu -o cpu.cu
// RUN: FileCheck --input-file=cpu.cu check
// RUN: %compile-cpu cpu.cu

//--- in.cu
#include <mpi.h>
__device__ void post(int *b, MPI_Request *r) {
  MPI_Irecv(b, 1, MPI_INT, 1, 10, MPI_COMM_WORLD, r);
  MPI_Isend(b, 1, MPI_INT, 1, 11, MPI_COMM_WORLD, r + 1);
}
__device__ void finish(MPI_Request *r) { MPI_Waitall(2, r, MPI_STATUSES_IGNORE); }
__global__ void callers(int *b) {
  MPI_Request r[4];
  MPI_Irecv(b, 1, MPI_INT, 1, 12, MPI_COMM_WORLD, r + 2);
  post(b, r);
  MPI_Isend(b, 1, MPI_INT, 1, 13, MPI_COMM_WORLD, r + 3);
  finish(r);
}

__device__ void two_scopes(int *b) {
  MPI_Request r;
  MPI_Irecv(b, 1, MPI_INT, 1, 20, MPI_COMM_WORLD, &r);
  MPI_Wait(&r, MPI_STATUS_IGNORE);
}
__global__ void scopes(int *b) {
  two_scopes(b);
  two_scopes(b + threadIdx.x);
}

template <class T> __device__ void together(T *b) {
  MPI_Request r;
  MPI_Irecv(b, sizeof(T), MPI_CHAR, 1, 30, MPI_COMM_WORLD, &r);
  T made = T();
  MPI_Wait(&r, MPI_STATUS_IGNORE);
}
struct Counted {
  int n;
  __device__ Counted() : n(0) { __threadfence(); }
};
template <class T> __device__ void apart(T *b) {
  MPI_Request r;
  MPI_Irecv(b, sizeof(T), MPI_CHAR, 1, 31, MPI_COMM_WORLD, &r);
  T made = T();
  MPI_Wait(&r, MPI_STATUS_IGNORE);
}
template <bool Sends> __device__ void either(int *b) {
  MPI_Request r;
  MPI_Irecv(b, 1, MPI_INT, 1, 32, MPI_COMM_WORLD, &r);
  if constexpr (Sends)
    MPI_Isend(b, 1, MPI_INT, 1, 33, MPI_COMM_WORLD, &r);
  else
    MPI_Wait(&r, MPI_STATUS_IGNORE);
  MPI_Irecv(b, 1, MPI_INT, 1, 34, MPI_COMM_WORLD, &r);
  if constexpr (Sends)
    MPI_Wait(&r, MPI_STATUS_IGNORE);
}
template <class T> struct Halo {
  T *cells;
  __device__ void exchange() {
    MPI_Request r;
    MPI_Irecv(cells, sizeof(T), MPI_CHAR, 1, 35, MPI_COMM_WORLD, &r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
  }
};
__global__ void templates(int *b, double *x, Counted *c) {
  together(b);
  together(x);
  apart(b);
  apart(c);
  either<true>(b);
  either<false>(b);
  Halo<int>{b}.exchange();
  Halo<double>{x}.exchange();
}
template <class T> __global__ void kernel_template(T *b) {
  MPI_Request r;
  MPI_Irecv(b, sizeof(T), MPI_CHAR, 1, 36, MPI_COMM_WORLD, &r);
  MPI_Wait(&r, MPI_STATUS_IGNORE);
}
int main() {
  kernel_template<<<1, 1>>>((int *)nullptr);
  kernel_template<<<1, 1>>>((double *)nullptr);
}
//--- check
CHECK: ::gmpi::grid::followed::MPI_Irecv({{[{].*}} 1, 10,
CHECK-NEXT: ::gmpi::grid::MPI_Isend({{[{].*}} 1, 11,
CHECK: ::gmpi::grid::MPI_Irecv({{[{].*}} 1, 12,
CHECK: ::gmpi::grid::MPI_Isend({{[{].*}} 1, 13,

CHECK: void two_scopes(int *b) {
CHECK: ::gmpi::grid::followed::MPI_Irecv({{[{].*}} 1, 20,
CHECK-NEXT: ::gmpi::grid::MPI_Wait(
CHECK: void two_scopes__scope2(int *b) {
CHECK: ::gmpi::thread::MPI_Irecv({{[{].*}} 1, 20,
CHECK-NEXT: ::gmpi::thread::MPI_Wait(

CHECK: ::gmpi::grid::followed::MPI_Irecv({{[{].*}} 1, 30,
CHECK: ::gmpi::grid::MPI_Irecv({{[{].*}} 1, 31,
CHECK: ::gmpi::grid::followed::MPI_Irecv({{[{].*}} 1, 32,
CHECK: ::gmpi::grid::followed::MPI_Isend({{[{].*}} 1, 33,
CHECK: ::gmpi::grid::MPI_Irecv({{[{].*}} 1, 34,
CHECK: ::gmpi::grid::followed::MPI_Irecv({{[{].*}} 1, 35,
CHECK: ::gmpi::grid::followed::MPI_Irecv({{[{].*}} 1, 36,
