// CUDA IPC. Opening a handle enables access between the two GPUs, or fails.
#include "exported_memory.hpp"

#include <cuda_runtime.h>

#include <cstring>

namespace gmpi::peer {

static_assert(sizeof(ExportHandle) == sizeof(cudaIpcMemHandle_t));

namespace {
/// Forgets the error: the caller has another way.
bool succeeded(cudaError_t error) {
  if (error != cudaSuccess)
    cudaGetLastError();
  return error == cudaSuccess;
}
} // namespace

void *allocate_exported(std::size_t bytes, ExportHandle &handle) {
  void *memory = nullptr;
  if (!succeeded(cudaMalloc(&memory, bytes)))
    return nullptr;
  cudaIpcMemHandle_t ipc;
  cudaStream_t stream = nullptr;
  bool usable = succeeded(cudaIpcGetMemHandle(&ipc, memory)) &&
                succeeded(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking)) &&
                succeeded(cudaMemsetAsync(memory, 0, bytes, stream)) &&
                succeeded(cudaStreamSynchronize(stream));
  if (stream != nullptr)
    cudaStreamDestroy(stream);
  if (!usable) {
    cudaFree(memory);
    return nullptr;
  }
  std::memcpy(&handle, &ipc, sizeof(ipc));
  return memory;
}

void free_exported(void *memory, std::size_t) { cudaFree(memory); }

void *map_exported(const ExportHandle &handle, std::size_t) {
  cudaIpcMemHandle_t ipc;
  std::memcpy(&ipc, &handle, sizeof(ipc));
  void *memory = nullptr;
  return succeeded(cudaIpcOpenMemHandle(&memory, ipc, cudaIpcMemLazyEnablePeerAccess)) ? memory
                                                                                       : nullptr;
}

void unmap_exported(void *memory, std::size_t) { cudaIpcCloseMemHandle(memory); }

} // namespace gmpi::peer
