// Errors in split kernels are reported at the user's lines, before, between and behind calls.
// REQUIRES: nvcc
// RUN: rm -rf %t && split-file %s %t && cd %t
// RUN: %gmpi-translate --lower=split --cuda-path=none in.cu -o out.cu
// RUN: not %compile-cuda -DBROKEN out.cu 2>&1 | FileCheck --implicit-check-not=error: check
// RUN: %gmpi-translate --lower=split --device=cpu in.cu -o cpu.cu
// RUN: not %compile-cpu -DBROKEN cpu.cu 2>&1 | FileCheck --check-prefix=CPU check

//--- in.cu
#include <mpi.h>
#ifdef BROKEN
#define BREAK wrong wrong;
#else
#define BREAK
#endif
__device__ int meet(
    int *buf) {
  MPI_Bcast(buf,
            1, MPI_INT,
            0, MPI_COMM_WORLD); /* a comment
                                   of two lines */
  BREAK
  return buf[0];
}
__global__ void k(int *buf, int *out, int n) {
  int kept = buf[
      threadIdx.x];
  do {
    if (MPI_Barrier(MPI_COMM_WORLD) ==
            MPI_SUCCESS &&
        n > 3)
      --n;
    BREAK
  } while (meet(
               buf) > 0);
  out[0] = kept;
  BREAK
}
int main() {
  BREAK
  k<<<1, 1>>>(nullptr, nullptr, 3);
}
//--- check
CHECK-DAG: in.cu(13): error:
CHECK-DAG: in.cu(24): error:
CHECK-DAG: in.cu(28): error:
CHECK-DAG: in.cu(31): error:
CPU-DAG: in.cu:13:{{[0-9]+}}: note: in expansion of macro 'BREAK'
CPU-DAG: in.cu:24:{{[0-9]+}}: note: in expansion of macro 'BREAK'
CPU-DAG: in.cu:28:{{[0-9]+}}: note: in expansion of macro 'BREAK'
CPU-DAG: in.cu:31:{{[0-9]+}}: note: in expansion of macro 'BREAK'
