// CUDA's own launch functions ask the registry, unless the kernel is seen to have no MPI; queries and
// settings are about the kernel that will run.
// RUN: rm -rf %t && split-file %s %t && cd %t
// RUN: %gmpi-translate --cuda-path=none in.cu -o out.cu
// RUN: FileCheck --input-file=out.cu check
// RUN: %compile-cuda out.cu

//--- in.cu
#include <mpi.h>
__global__ void k(int n) { MPI_Barrier(MPI_COMM_WORLD); }
template <class T> __global__ void t(T n) { MPI_Barrier(MPI_COMM_WORLD); }
__global__ void plain(int n) {}
__global__ void elsewhere(int n);
int main() {
  int n = 1, blocks;
  void *args[] = {&n};
  cudaLaunchKernel((void *)k, dim3(1), dim3(2), args, 0, 0);
  cudaLaunchKernel((const void *)&t<int>, 1, 2, args, 0, 0);
  cudaLaunchKernel((void *)plain, 1, 2, args, 0, 0);
  ::cudaLaunchCooperativeKernel(elsewhere, 1, 2, args, 0, 0);
  cudaLaunchConfig_t config = {};
  cudaLaunchKernelEx(&config, k, 1);
  cudaLaunchKernelExC(&config, (void *)k, args);
  void (*p)(int) = k;
  cudaLaunchKernelEx(&config, p, 1);
  auto later = [&] { cudaLaunchKernel((void *)k, 1, 2, args, 0, 0); };
  later();
  cudaFuncSetAttribute(k, cudaFuncAttributeMaxDynamicSharedMemorySize, 1024);
  cudaFuncSetAttribute((const void *)t<int>, cudaFuncAttributeMaxDynamicSharedMemorySize, 1024);
  cudaFuncSetAttribute(plain, cudaFuncAttributeMaxDynamicSharedMemorySize, 1024);
  cudaFuncSetAttribute(elsewhere, cudaFuncAttributeMaxDynamicSharedMemorySize, 1024);
  cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, &k, 32, 0);
  cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, p, 32, 0);
}
//--- check
CHECK: ::gmpi::cudaLaunchKernel((void *)k, dim3(1), dim3(2), args, 0, 0);
CHECK-NEXT: ::gmpi::cudaLaunchKernel((const void *)t__pointer<int>(), 1, 2, args, 0, 0);
CHECK-NEXT: {{^}}  cudaLaunchKernel((void *)plain, 1, 2, args, 0, 0);
CHECK-NEXT: ::gmpi::cudaLaunchCooperativeKernel(elsewhere, 1, 2, args, 0, 0);
CHECK: ::gmpi::cudaLaunchKernelEx(&config, k, 1);
CHECK-NEXT: ::gmpi::cudaLaunchKernelExC(&config, (void *)k, args);
CHECK: ::gmpi::cudaLaunchKernelEx(&config, p, 1);
CHECK-NEXT: auto later = [&] { ::gmpi::cudaLaunchKernel((void *)k, 1, 2, args, 0, 0); };
CHECK: cudaFuncSetAttribute(k__queue, cuda
CHECK-NEXT: cudaFuncSetAttribute((const void *)t__queue<int>, cuda
CHECK-NEXT: cudaFuncSetAttribute(plain, cuda
CHECK-NEXT: cudaFuncSetAttribute(::gmpi::implementation(elsewhere), cuda
CHECK-NEXT: cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, &k__queue, 32, 0);
CHECK-NEXT: cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, ::gmpi::implementation(p), 32, 0);
