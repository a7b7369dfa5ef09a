// Launches, and what a launch may ask for.
#include "api_support.hpp"
#include "block_scheduler.hpp"
#include "gmpi/cpu/launch.hpp"
#include "settings.hpp"

namespace gmpi::cpu {

cudaError_t launch(KernelLaunch launch) {
  cudaStream_t stream = launch.stream;
  GMPI_CPU_API_STREAM;
  const dim3 &g = launch.grid, &b = launch.block;
  if (g.x == 0 || g.y == 0 || g.z == 0 || b.x == 0 || b.y == 0 || b.z == 0 || g.x > 0x7fffffff ||
      g.y > 65535 || g.z > 65535 || b.x > 1024 || b.y > 1024 || b.z > 64 ||
      b.x * b.y * b.z > threads_per_block_limit)
    return result(cudaErrorInvalidConfiguration);
  const unsigned threads = b.x * b.y * b.z;
  const int resident = max_resident_blocks(threads, launch.shared_bytes);
  if (resident == 0)
    return result(cudaErrorInvalidValue);
  if (launch.cooperative && 1ull * g.x * g.y * g.z > static_cast<unsigned long long>(resident))
    return result(cudaErrorCooperativeLaunchTooLarge);
  Operation operation;
  operation.kernel = std::make_unique<Kernel>(std::move(launch));
  Streams::get().enqueue(stream, std::move(operation));
  return cudaSuccess;
}

int max_resident_blocks(unsigned threads_per_block, std::size_t shared_bytes) {
  return static_cast<int>(settings().multiprocessors * BlockScheduler::blocks_per_multiprocessor(
                                                           threads_per_block, shared_bytes));
}

cudaError_t blocks_per_multiprocessor(int *blocks, int threads, std::size_t shared_bytes) {
  if (!blocks || threads <= 0)
    return result(cudaErrorInvalidValue);
  *blocks = static_cast<int>(
      BlockScheduler::blocks_per_multiprocessor(static_cast<unsigned>(threads), shared_bytes));
  return cudaSuccess;
}

cudaError_t launch_as_configured(const cudaLaunchConfig_t &config, std::function<void()> thread) {
  KernelLaunch launch;
  launch.grid = config.gridDim;
  launch.block = config.blockDim;
  launch.shared_bytes = config.dynamicSmemBytes;
  launch.stream = config.stream;
  launch.thread = std::move(thread);
  for (unsigned i = 0; i < config.numAttrs; ++i) {
    const cudaLaunchAttribute &attribute = config.attrs[i];
    if (attribute.id == cudaLaunchAttributeCooperative) {
      launch.cooperative = attribute.val.cooperative != 0;
    } else if (attribute.id == cudaLaunchAttributeClusterDimension) {
      const auto &c = attribute.val.clusterDim;
      if (c.x * c.y * c.z > 1)
        return result(cudaErrorNotSupported);
    }
  }
  return cpu::launch(std::move(launch));
}

} // namespace gmpi::cpu

using gmpi::cpu::result;

cudaError_t cudaLaunchKernel(const void *, dim3, dim3, void **, size_t, cudaStream_t) {
  return result(cudaErrorInvalidDeviceFunction);
}
cudaError_t cudaLaunchCooperativeKernel(const void *, dim3, dim3, void **, size_t, cudaStream_t) {
  return result(cudaErrorInvalidDeviceFunction);
}
cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t *, const void *, void **) {
  return result(cudaErrorInvalidDeviceFunction);
}

cudaError_t cudaFuncGetAttributes(cudaFuncAttributes *attributes, const void *) {
  *attributes = {};
  attributes->maxThreadsPerBlock = static_cast<int>(gmpi::cpu::threads_per_block_limit);
  attributes->numRegs = 32;
  attributes->ptxVersion = attributes->binaryVersion = 90;
  attributes->maxDynamicSharedSizeBytes = static_cast<int>(gmpi::cpu::shared_per_block_limit);
  return cudaSuccess;
}
