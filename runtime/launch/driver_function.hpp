// Functions of CUDA's driver API, reached through the runtime: programs need not link with the
// driver's library. On GPUs only.
#pragma once

#include <cuda_runtime.h>

namespace gmpi::launch {

/// The function, as CUDA 12.0 has it; null where the driver has none. Leaves no error behind.
template <class F> F driver_function(const char *name) {
  void *entry = nullptr;
  cudaDriverEntryPointQueryResult found;
  if (cudaGetDriverEntryPointByVersion(name, &entry, 12000, cudaEnableDefault, &found) !=
          cudaSuccess ||
      found != cudaDriverEntryPointSuccess) {
    cudaGetLastError();
    return nullptr;
  }
  return reinterpret_cast<F>(entry);
}

} // namespace gmpi::launch
