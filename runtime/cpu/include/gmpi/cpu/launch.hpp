// Launches that name their kernel by its typed address, and what CUDA answers about a kernel. A
// plain `const void *` names no kernel here; gmpi::cudaLaunchKernel knows the registered ones.
#pragma once

#include "gmpi/cpu.hpp"
#include "gmpi/cpu/api.hpp"

namespace gmpi::cpu {
cudaError_t launch_as_configured(const cudaLaunchConfig_t &config, std::function<void()> thread);
}

template <class... P>
cudaError_t cudaLaunchKernel(void (*kernel)(P...), dim3 grid, dim3 block, void **arguments,
                             size_t shared_bytes = 0, cudaStream_t stream = 0) {
  gmpi::cpu::KernelLaunch launch;
  launch.grid = grid, launch.block = block;
  launch.shared_bytes = shared_bytes, launch.stream = stream;
  launch.thread = gmpi::cpu::bind(kernel, arguments);
  return gmpi::cpu::launch(std::move(launch));
}
template <class... P>
cudaError_t cudaLaunchCooperativeKernel(void (*kernel)(P...), dim3 grid, dim3 block,
                                        void **arguments, size_t shared_bytes = 0,
                                        cudaStream_t stream = 0) {
  gmpi::cpu::KernelLaunch launch;
  launch.grid = grid, launch.block = block;
  launch.shared_bytes = shared_bytes, launch.stream = stream, launch.cooperative = true;
  launch.thread = gmpi::cpu::bind(kernel, arguments);
  return gmpi::cpu::launch(std::move(launch));
}
template <class... P>
cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t *config, void (*kernel)(P...),
                                void **arguments) {
  return gmpi::cpu::launch_as_configured(*config, gmpi::cpu::bind(kernel, arguments));
}
template <class... P, class... A>
cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t *config, void (*kernel)(P...),
                               A &&...arguments) {
  return gmpi::cpu::launch_as_configured(
      *config,
      gmpi::cpu::bind(kernel, std::tuple<std::decay_t<P>...>(std::forward<A>(arguments)...)));
}
// These return cudaErrorInvalidDeviceFunction.
cudaError_t cudaLaunchKernel(const void *kernel, dim3 grid, dim3 block, void **arguments,
                             size_t shared_bytes = 0, cudaStream_t stream = 0);
cudaError_t cudaLaunchCooperativeKernel(const void *kernel, dim3 grid, dim3 block, void **arguments,
                                        size_t shared_bytes = 0, cudaStream_t stream = 0);
cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t *config, const void *kernel,
                                void **arguments);

// All kernels have the same limits here, so these do not look at the kernel.
template <class F> cudaError_t cudaFuncSetAttribute(F, cudaFuncAttribute, int) {
  return cudaSuccess;
}
template <class F> cudaError_t cudaFuncSetCacheConfig(F, cudaFuncCache) { return cudaSuccess; }
template <class F> cudaError_t cudaFuncSetSharedMemConfig(F, cudaSharedMemConfig) {
  return cudaSuccess;
}
cudaError_t cudaFuncGetAttributes(cudaFuncAttributes *attributes, const void *kernel);
template <class F> cudaError_t cudaFuncGetAttributes(cudaFuncAttributes *attributes, F *kernel) {
  return cudaFuncGetAttributes(attributes, reinterpret_cast<const void *>(kernel));
}
template <class F>
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, F, int threads,
                                                          size_t shared_bytes) {
  return gmpi::cpu::blocks_per_multiprocessor(blocks, threads, shared_bytes);
}
template <class F>
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks, F, int threads,
                                                                   size_t shared_bytes, unsigned) {
  return gmpi::cpu::blocks_per_multiprocessor(blocks, threads, shared_bytes);
}
template <class F>
cudaError_t cudaOccupancyMaxPotentialBlockSize(int *grid, int *block, F, size_t shared_bytes = 0,
                                               int limit = 0) {
  *block = limit > 0 && limit < 1024 ? limit : 1024;
  *grid = gmpi::cpu::max_resident_blocks(*block, shared_bytes);
  return cudaSuccess;
}
