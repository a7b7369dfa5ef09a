// How kernels are launched and asked about. Clang itself needs the first four for `<<<>>>`.
#pragma once

extern "C" int cudaConfigureCall(dim3 grid, dim3 block, size_t shared = 0, cudaStream_t stream = 0);
extern "C" unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared = 0,
                                                cudaStream_t stream = 0);
extern "C" __device__ cudaError_t cudaLaunchDevice(void *kernel, void *arguments, dim3 grid,
                                                   dim3 block, unsigned shared, cudaStream_t stream);
extern "C" __device__ void *cudaGetParameterBuffer(size_t alignment, size_t size);

cudaError_t cudaLaunchKernel(const void *kernel, dim3 grid, dim3 block, void **arguments,
                             size_t shared = 0, cudaStream_t stream = 0);
template <class T>
cudaError_t cudaLaunchKernel(T *kernel, dim3 grid, dim3 block, void **arguments, size_t shared = 0,
                             cudaStream_t stream = 0);
cudaError_t cudaLaunchCooperativeKernel(const void *kernel, dim3 grid, dim3 block, void **arguments,
                                        size_t shared = 0, cudaStream_t stream = 0);
template <class T>
cudaError_t cudaLaunchCooperativeKernel(T *kernel, dim3 grid, dim3 block, void **arguments,
                                        size_t shared = 0, cudaStream_t stream = 0);
cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t *configuration, const void *kernel,
                                void **arguments);
template <class... P, class... A>
cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t *configuration, void (*kernel)(P...),
                               A &&...arguments);

template <class T> cudaError_t cudaFuncSetAttribute(T kernel, cudaFuncAttribute attribute, int value);
template <class T> cudaError_t cudaFuncGetAttributes(cudaFuncAttributes *attributes, T kernel);
template <class T> cudaError_t cudaFuncSetCacheConfig(T kernel, cudaFuncCache configuration);
template <class T>
cudaError_t cudaFuncSetSharedMemConfig(T kernel, cudaSharedMemConfig configuration);
template <class T>
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, T kernel, int threads,
                                                          size_t shared);
template <class T>
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks, T kernel,
                                                                   int threads, size_t shared,
                                                                   unsigned flags);
template <class T>
cudaError_t cudaOccupancyMaxPotentialBlockSize(int *grid, int *block, T kernel, size_t shared = 0,
                                               int limit = 0);
