// A template that nothing here instantiates stays as written, however it is called: its scopes depend
// on the instance. Should nvcc instantiate it after all (for another architecture than the one that
// was read), it refuses the MPI call by name.
// RUN: rm -rf %t && split-file %s %t && cd %t
// RUN: %gmpi-translate --cuda-path=none in.cu -o out.cu --remarks 2>&1 | FileCheck --check-prefix=REMARK check
// RUN: cmp in.cu out.cu
// RUN: %compile-cuda out.cu
// RUN: %gmpi-translate --device=cpu in.cu -o cpu.cu
// RUN: %compile-cpu cpu.cu
// RUN: %gmpi-translate --cuda-path=none later.cu -o later-out.cu -- -gencode arch=compute_80,code=sm_80
// RUN: %if nvcc %{ not %compile-cuda later-out.cu 2>&1 | FileCheck --check-prefix=LATER check %}
// RUN: %gmpi-translate --cuda-path=none used.cu -o used-out.cu
// RUN: FileCheck --check-prefix=USED --input-file=used-out.cu check
// RUN: %compile-cuda used-out.cu

//--- in.cu
#include <mpi.h>
template <class T> __device__ void send(T *p) { MPI_Send(p, 1, MPI_INT, 1, 0, MPI_COMM_WORLD); }
template <class T> __global__ void k(T *p) {
  if (p[threadIdx.x])
    send(p);
  MPI_Barrier(MPI_COMM_WORLD);
}
template <class T> struct Halo {
  __device__ void exchange(T *p) {
    [=] { MPI_Barrier(MPI_COMM_WORLD); }();
  }
};
template <class T> void run(T *p) { k<<<1, 1>>>(p); }
//--- later.cu
#include <mpi.h>
template <class T> __device__ void send(T *p) { MPI_Send(p, 1, MPI_INT, 1, 0, MPI_COMM_WORLD); }
__global__ void k(int *p) {
#if __CUDA_ARCH__ >= 900
  send(p);
#endif
}
int main() { k<<<1, 1>>>(nullptr); }
//--- used.cu
#include <mpi.h>
template <class T> __host__ __device__ void both(T *p) { MPI_Send(p, 1, MPI_INT, 1, 0, MPI_COMM_WORLD); }
template <class T> __device__ void send(T *p) { MPI_Send(p, 1, MPI_INT, 1, 0, MPI_COMM_WORLD); }
__device__ inline void unused(int *p) { send(p); }
int main() { both((int *)nullptr); }
//--- check
REMARK: in.cu:2: MPI_Send: left as it is: nothing here instantiates the template it stands in
REMARK-NEXT: in.cu:6: MPI_Barrier: left as it is
REMARK-NEXT: in.cu:10: MPI_Barrier: left as it is
LATER: error: calling a __host__ function("MPI_Send") from a __device__ function("send<int> ") is not allowed
USED: void both(T *p) { ::gmpi::thread::MPI_Send(
USED: void send(T *p) { ::gmpi::thread::MPI_Send(
