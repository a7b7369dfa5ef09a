// What is generated gives no cause for warnings: kernels' parameters are used in their stubs.
// RUN: rm -rf %t && split-file %s %t && cd %t
// RUN: %gmpi-translate --lower=queue,split --cuda-path=none in.cu -o out.cu
// RUN: %compile-cuda -Xcompiler -Wall,-Wextra,-Werror out.cu
// RUN: %gmpi-translate --lower=queue,split --device=cpu in.cu -o cpu.cu
// RUN: %compile-cpu -Wall -Wextra -Werror cpu.cu
// RUN: FileCheck --input-file=out.cu check

//--- in.cu
#include <mpi.h>
__global__ void k(const int *in, int n, int, int *out) {
  int sum = in[n];
  MPI_Bcast(out, 1, MPI_INT, 0, MPI_COMM_WORLD);
  *out += sum;
}
template <class T, class... Rest> __global__ void t(T *buf, Rest... rest) {
  MPI_Send(buf, sizeof...(rest), MPI_INT, (0 + ... + rest), 0, MPI_COMM_WORLD);
}
int main() {
  k<<<1, 32>>>(nullptr, 1, 2, nullptr);
  t<<<1, 32>>>(static_cast<int *>(nullptr), 1, 2);
}
//--- check
CHECK: void k(const int *in, int n, int, int *out) { ::gmpi::raw_launch({"k", {{.*}}}, in, n, out); }
CHECK: void t(T *buf, Rest... rest) { ::gmpi::raw_launch({"t", {{.*}}}, buf, rest...); }
