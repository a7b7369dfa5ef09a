// CUDA IPC. Opening a handle enables access between the two GPUs, or fails. What the runtime's API
// does not tell of an allocation, the driver's does.
#include "exported_memory.hpp"

#include "../../launch/driver_function.hpp"

#include <cstring>
#include <cuda.h>

namespace gmpi::peer {

static_assert(sizeof(ExportHandle) == sizeof(cudaIpcMemHandle_t));

namespace {
using launch::driver_function;

/// Forgets the error: the caller has another way.
bool succeeded(cudaError_t error) {
  if (error != cudaSuccess)
    cudaGetLastError();
  return error == cudaSuccess;
}

/// A value of 0 where nothing is allocated there.
template <class T> T attribute_of(std::uint64_t address, CUpointer_attribute which) {
  using Function = CUresult (*)(unsigned, CUpointer_attribute *, void **, CUdeviceptr);
  static const auto get = driver_function<Function>("cuPointerGetAttributes");
  T value{};
  void *place = &value; // of several: for one alone a freed address would be an error
  bool found = get != nullptr && get(1, &which, &place, CUdeviceptr(address)) == CUDA_SUCCESS;
  return found ? value : T{};
}
std::uint64_t id_of_allocation(std::uint64_t address) {
  return attribute_of<unsigned long long>(address, CU_POINTER_ATTRIBUTE_BUFFER_ID);
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

bool find_allocation(std::uint64_t address, int device, Allocation &found) {
  using Function = CUresult (*)(CUdeviceptr *, std::size_t *, CUdeviceptr);
  static const auto range = driver_function<Function>("cuMemGetAddressRange");
  cudaPointerAttributes attributes{};
  if (!succeeded(cudaPointerGetAttributes(&attributes, reinterpret_cast<const void *>(address))) ||
      attributes.type != cudaMemoryTypeDevice || attributes.device != device)
    return false;
  CUdeviceptr begin = 0;
  std::size_t bytes = 0;
  if (range == nullptr || range(&begin, &bytes, CUdeviceptr(address)) != CUDA_SUCCESS)
    return false;
  found = {begin, bytes, id_of_allocation(begin)};
  return found.id != 0;
}

bool has_been_freed(std::uint64_t address) {
  cudaPointerAttributes attributes{};
  return succeeded(
             cudaPointerGetAttributes(&attributes, reinterpret_cast<const void *>(address))) &&
         attributes.type == cudaMemoryTypeUnregistered;
}

bool still_allocated(const Allocation &allocation) {
  return id_of_allocation(allocation.begin) == allocation.id;
}

bool export_allocation(const Allocation &allocation, ExportHandle &handle) {
  cudaIpcMemHandle_t ipc;
  if (!attribute_of<int>(allocation.begin, CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE) ||
      !succeeded(cudaIpcGetMemHandle(&ipc, reinterpret_cast<void *>(allocation.begin))))
    return false;
  std::memcpy(&handle, &ipc, sizeof(ipc));
  return true;
}

bool store_words(void *to, const std::uint64_t *words, std::size_t count, cudaStream_t stream) {
  return succeeded(cudaMemcpyAsync(to, words, count * sizeof(*words), cudaMemcpyDefault, stream)) &&
         succeeded(cudaStreamSynchronize(stream));
}
bool load_words(const void *from, std::uint64_t *words, std::size_t count, cudaStream_t stream) {
  return succeeded(
             cudaMemcpyAsync(words, from, count * sizeof(*words), cudaMemcpyDefault, stream)) &&
         succeeded(cudaStreamSynchronize(stream));
}

} // namespace gmpi::peer
