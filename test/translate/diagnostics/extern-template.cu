// A template with MPI whose code is in another file, as 'extern template' says: its scopes were not
// seen here, and what is compiled there is another file's translation.
// RUN: rm -rf %t && split-file %s %t && cd %t
// RUN: not %gmpi-translate --cuda-path=none in.cu -o out.cu -- -rdc=true 2>&1 | FileCheck --implicit-check-not=error: check
// RUN: not %gmpi-translate --device=cpu in.cu -o out.cu 2>&1 | FileCheck --implicit-check-not=error: check
// RUN: %gmpi-translate --cuda-path=none good.cu -o good-out.cu -- -rdc=true
// RUN: FileCheck --check-prefix=GOOD --input-file=good-out.cu check
// RUN: %compile-cuda -rdc=true good-out.cu

//--- in.cu
#include <mpi.h>
template <class T> __global__ void k(T *p) { MPI_Send(p, 1, MPI_INT, 1, 0, MPI_COMM_WORLD); }
template <class T> __device__ void exchange(T *p) { MPI_Send(p, 1, MPI_INT, 1, 0, MPI_COMM_WORLD); }
template <class T> struct Halo {
  __device__ void exchange(T *p);
};
template <class T> __device__ void Halo<T>::exchange(T *p) { MPI_Send(p, 1, MPI_INT, 1, 0, MPI_COMM_WORLD); }
extern template __global__ void k<int>(int *);
extern template __device__ void exchange<int>(int *);
extern template struct Halo<int>;
__global__ void calls(int *p) {
  exchange(p);
  Halo<int>().exchange(p);
}
int main() {
  k<<<1, 1>>>((double *)nullptr);
  k<<<1, 1>>>((int *)nullptr);
  calls<<<1, 1>>>(nullptr);
}
//--- good.cu
#include <mpi.h>
template <class T> __global__ void k(T *p) { MPI_Send(p, 1, MPI_INT, 1, 0, MPI_COMM_WORLD); }
// Not used here; instantiated here after all.
extern template __global__ void k<float>(float *);
extern template __global__ void k<int>(int *);
template __global__ void k<int>(int *);
int main() { k<<<1, 1>>>((int *)nullptr); }
//--- check
CHECK: in.cu:8:33: error: 'k' calls MPI and is used here, but declared 'extern template': its code is in another file [gmpi-extern-template]
CHECK: note: remove this declaration, so that the code that is used here is compiled here
CHECK: in.cu:9:33: error: 'exchange' calls MPI and is used here, but declared 'extern template': {{.*}} [gmpi-extern-template]
CHECK: in.cu:10:{{[0-9]+}}: error: 'exchange' calls MPI and is used here, but declared 'extern template': {{.*}} [gmpi-extern-template]
GOOD: ::gmpi::grid::MPI_Send(
