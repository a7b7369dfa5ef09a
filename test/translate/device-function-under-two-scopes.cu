// A device function that is reached under several scopes is copied for each further one, and so are
// the functions between the kernel and it.
// RUN: rm -rf %t && split-file %s %t && cd %t
// RUN: %gmpi-translate --cuda-path=none in.cu -o out.cu
// RUN: FileCheck --input-file=out.cu check
// RUN: %compile-cuda out.cu
// RUN: %gmpi-translate --device=cpu in.cu -o cpu.cu
// RUN: %compile-cpu cpu.cu

//--- in.cu
#include <mpi.h>
template <class T> __device__ void send(T *p); // declared first
__device__ void wrap(int *p) { send(p); }
template <class T> __device__ void send(T *p) {
  MPI_Send(p, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
}
__global__ void k(int *p) {
  wrap(p);
  if (threadIdx.x == 0)
    wrap(p);
}
int main() { k<<<1, 32>>>(nullptr); }
//--- check
CHECK: template <class T> __device__ void send(T *p); // declared first
CHECK: template <class T> __device__ void send__scope2(T *p);
CHECK: __device__ void wrap(int *p) { send(p); }
CHECK-NEXT: #line 3 "in.cu"
CHECK-NEXT: __device__ void wrap__scope2(int *p) { send__scope2(p); }
CHECK: template <class T> __device__ void send(T *p) {
CHECK-NEXT: ::gmpi::[[FIRST:grid|thread]]::MPI_Send({{[{].*}}, 5}, p,
CHECK: #line 4 "in.cu"
CHECK-NEXT: template <class T> __device__ void send__scope2(T *p) {
CHECK-NEXT: ::gmpi::{{grid|thread}}::MPI_Send({{[{].*}}, 5}, p,
CHECK-NEXT: }
CHECK-NEXT: #line 7 "in.cu"
CHECK: wrap{{(__scope2)?}}(p);
CHECK-NEXT: if (threadIdx.x == 0)
CHECK-NEXT: wrap{{(__scope2)?}}(p);
