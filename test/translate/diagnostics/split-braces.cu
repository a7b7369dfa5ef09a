// A list in braces that something refers to, or whose elements may be referred to.
// RUN: rm -rf %t && split-file %s %t && cd %t
// RUN: not %gmpi-translate --lower=split --cuda-path=none in.cu -o out.cu 2>&1 | FileCheck --implicit-check-not=error: check
// RUN: not ls out.cu

//--- in.cu
#include <mpi.h>
struct Part { int first, count; };
struct Referring { int &first; };
__device__ int &element(int *n) { return n[++*n]; }
__device__ void bound(int *buf, const Part &part) {
  MPI_Barrier(MPI_COMM_WORLD);
  buf[0] = part.first;
}
__device__ void refers(int *buf, Referring part) {
  MPI_Barrier(MPI_COMM_WORLD);
  buf[0] = part.first;
}
__global__ void k(int *buf, int m) {
  bound(buf, {m, 1});
}
__global__ void l(int *buf, int m) {
  refers(buf, {element(buf)});
}
int main() {
  k<<<1, 1>>>(nullptr, 3);
  l<<<1, 1>>>(nullptr, 3);
}
//--- check
CHECK: in.cu:14:14: error: 'k' cannot be split: this list in braces would have to be kept across an MPI call, and has no type [gmpi-split-braces]
CHECK: note: name its type before the braces, as in T{1, 2}, or declare a variable first
CHECK: in.cu:17:16: error: 'l' cannot be split: this list in braces would have to be kept across an MPI call, and has no type [gmpi-split-braces]
