// Threads that have returned stay away in later segments; a return behind the last call costs nothing.
// RUN: rm -rf %t && split-file %s %t && cd %t
// RUN: %gmpi-translate --lower=split --cuda-path=none in.cu -o out.cu
// RUN: FileCheck --input-file=out.cu check
// RUN: %compile-cuda out.cu
// RUN: %gmpi-translate --lower=split --device=cpu in.cu -o cpu.cu
// RUN: %compile-cpu cpu.cu

//--- in.cu
#include <mpi.h>
__global__ void some(int *buf, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  buf[i] = i;
  MPI_Bcast(buf, n, MPI_INT, 0, MPI_COMM_WORLD);
  buf[i] += n;
}
__global__ void all(int *buf, int n) {
  MPI_Bcast(buf, n, MPI_INT, 0, MPI_COMM_WORLD);
  if (threadIdx.x > 3)
    return;
  buf[threadIdx.x] = 1;
}
int main() {
  some<<<1, 32>>>(nullptr, 8);
  all<<<1, 32>>>(nullptr, 8);
}
//--- check
CHECK: template <int gmpi_resume> __global__ void some__segment(::gmpi::Segment gmpi_segment, int *buf, int n) { {{.*}} if (gmpi_frame.gone()) return;
CHECK: if (!gmpi_re) { if (i >= n)
CHECK: buf[i] = i;
CHECK-NEXT: if (::gmpi::split::MPI_Bcast<1>(gmpi_frame, gmpi_re, {{.*}} 7}, buf, n, MPI_INT, 0, MPI_COMM_WORLD)) { return;
CHECK: static inline ::gmpi::SplitKernel some__split() { return ::gmpi::split_kernel({{.*}}, 0, {{[0-9]+}}, true, false}, some__segment<0>, some__segment<1>);
CHECK: template <int gmpi_resume> __global__ void all__segment(::gmpi::Segment gmpi_segment, int *buf, int n) { {{.*}}
CHECK-NEXT: if (::gmpi::split::MPI_Bcast<1>(gmpi_frame, gmpi_re, {{.*}} 11}, buf, n, MPI_INT, 0, MPI_COMM_WORLD)) { return;
CHECK: static inline ::gmpi::SplitKernel all__split() { return ::gmpi::split_kernel({{.*}}, 0, {{[0-9]+}}, false, false}, all__segment<0>, all__segment<1>);
CHECK: some__launch(::gmpi::Launch(1, 32), nullptr, 8);
CHECK-NEXT: all__launch(::gmpi::Launch(1, 32), nullptr, 8);
