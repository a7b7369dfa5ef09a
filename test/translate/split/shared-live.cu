// Shared memory that is read after the call is saved by its block, and only that.
// RUN: rm -rf %t && split-file %s %t && cd %t
// RUN: %gmpi-translate --lower=split --cuda-path=none in.cu -o out.cu
// RUN: FileCheck --input-file=out.cu check
// RUN: %compile-cuda out.cu
// RUN: %gmpi-translate --lower=split --device=cpu in.cu -o cpu.cu
// RUN: %compile-cpu cpu.cu

//--- in.cu
#include <mpi.h>
__global__ void share(int *buf) {
  __shared__ int tile[32];
  __shared__ int scratch[32];
  extern __shared__ double more[];
  tile[threadIdx.x] = buf[threadIdx.x];
  scratch[threadIdx.x] = 1;
  more[threadIdx.x] = 2;
  MPI_Barrier(MPI_COMM_WORLD);
  buf[threadIdx.x] = tile[31 - threadIdx.x] + more[0];
}
int main() { share<<<1, 32, 256>>>(nullptr); }
//--- check
CHECK: template <int gmpi_resume> __global__ void share__segment(::gmpi::Segment gmpi_segment, int *buf) { {{.*}}
CHECK: if (!gmpi_re) { tile[threadIdx.x] = buf[threadIdx.x];
CHECK: more[threadIdx.x] = 2;
CHECK-NEXT: if (gmpi_re) { gmpi_frame.restore_shared<{{[0-9]+}}, 128>(tile); gmpi_frame.restore_dynamic_shared(); } if (::gmpi::split::MPI_Barrier<1>(gmpi_frame, gmpi_re, {{.*}} 9}, MPI_COMM_WORLD)) { gmpi_frame.save_shared<{{[0-9]+}}, 128>(tile); gmpi_frame.save_dynamic_shared(); return;
CHECK: static inline ::gmpi::SplitKernel share__split() { return ::gmpi::split_kernel({{.*}}, 128, {{[0-9]+}}, false, true}, share__segment<0>, share__segment<1>);
