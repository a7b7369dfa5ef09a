// Allocation and pointers.
#include "api_support.hpp"
#include "device_memory.hpp"
#include "preemption.hpp"

using gmpi::cpu::device_memory;
using gmpi::cpu::DeviceMemory;
using gmpi::cpu::MemoryKind;
using gmpi::cpu::Operation;
using gmpi::cpu::result;
using gmpi::cpu::Streams;

namespace gmpi::cpu {
namespace {

cudaError_t allocate(void **pointer, std::size_t bytes, MemoryKind kind) {
  if (!pointer)
    return result(cudaErrorInvalidValue);
  *pointer = nullptr;
  if (bytes == 0)
    return cudaSuccess;
  *pointer = device_memory().allocate(bytes, kind);
  return result(*pointer ? cudaSuccess : cudaErrorMemoryAllocation);
}

// As on a GPU, memory goes back only when all that was enqueued is done.
cudaError_t free_after_all(void *pointer, bool host) {
  if (!pointer)
    return cudaSuccess;
  Streams::get().synchronize_all();
  return result(device_memory().free(pointer, host) ? cudaSuccess : cudaErrorInvalidValue);
}

} // namespace

void know_symbol(const void *address, std::size_t bytes) {
  device_memory().add(address, bytes, MemoryKind::symbol);
}

bool is_device(const void *p) noexcept {
  InDevice in_device; // find takes a lock
  DeviceMemory::Found found;
  return device_memory().find(p, found) && found.kind == MemoryKind::device;
}

} // namespace gmpi::cpu

cudaError_t cudaMalloc(void **pointer, size_t bytes) {
  GMPI_CPU_API_BEGIN;
  return gmpi::cpu::allocate(pointer, bytes, MemoryKind::device);
}
cudaError_t cudaMallocManaged(void **pointer, size_t bytes, unsigned) {
  GMPI_CPU_API_BEGIN;
  return gmpi::cpu::allocate(pointer, bytes, MemoryKind::managed);
}
cudaError_t cudaMallocHost(void **pointer, size_t bytes, unsigned) {
  GMPI_CPU_API_BEGIN;
  return gmpi::cpu::allocate(pointer, bytes, MemoryKind::pinned);
}
cudaError_t cudaHostAlloc(void **pointer, size_t bytes, unsigned flags) {
  return cudaMallocHost(pointer, bytes, flags);
}
cudaError_t cudaMallocPitch(void **pointer, size_t *pitch, size_t width, size_t height) {
  *pitch = (width + 511) / 512 * 512;
  return cudaMalloc(pointer, *pitch * height);
}
cudaError_t cudaMallocAsync(void **pointer, size_t bytes, cudaStream_t stream) {
  GMPI_CPU_API_STREAM;
  return gmpi::cpu::allocate(pointer, bytes, MemoryKind::device);
}

cudaError_t cudaFree(void *pointer) {
  GMPI_CPU_API_BEGIN;
  return gmpi::cpu::free_after_all(pointer, false);
}
cudaError_t cudaFreeHost(void *pointer) {
  GMPI_CPU_API_BEGIN;
  return gmpi::cpu::free_after_all(pointer, true);
}
cudaError_t cudaFreeAsync(void *pointer, cudaStream_t stream) {
  GMPI_CPU_API_STREAM;
  DeviceMemory::Found found;
  if (!device_memory().find(pointer, found))
    return result(cudaErrorInvalidValue);
  Operation operation;
  operation.task = [=] { device_memory().free(pointer, false); };
  Streams::get().enqueue(stream, std::move(operation));
  return cudaSuccess;
}

cudaError_t cudaHostRegister(void *pointer, size_t bytes, unsigned) {
  GMPI_CPU_API_BEGIN;
  DeviceMemory::Found found;
  if (!pointer || bytes == 0)
    return result(cudaErrorInvalidValue);
  if (device_memory().find(pointer, found))
    return result(cudaErrorHostMemoryAlreadyRegistered);
  device_memory().add(pointer, bytes, MemoryKind::registered);
  return cudaSuccess;
}
cudaError_t cudaHostUnregister(void *pointer) {
  GMPI_CPU_API_BEGIN;
  return result(device_memory().remove_registered(pointer) ? cudaSuccess
                                                           : cudaErrorHostMemoryNotRegistered);
}
cudaError_t cudaHostGetDevicePointer(void **device, void *host, unsigned) {
  GMPI_CPU_API_BEGIN;
  DeviceMemory::Found found;
  if (!device_memory().find(host, found) || found.kind == MemoryKind::device)
    return result(cudaErrorInvalidValue);
  *device = host;
  return cudaSuccess;
}

cudaError_t cudaPointerGetAttributes(cudaPointerAttributes *attributes, const void *pointer) {
  GMPI_CPU_API_BEGIN;
  if (!attributes)
    return result(cudaErrorInvalidValue);
  void *p = const_cast<void *>(pointer);
  DeviceMemory::Found found;
  if (!device_memory().find(pointer, found)) {
    *attributes = {cudaMemoryTypeUnregistered, -2, nullptr, p};
    return cudaSuccess;
  }
  switch (found.kind) {
  case MemoryKind::device:
  case MemoryKind::symbol:
    *attributes = {cudaMemoryTypeDevice, 0, p, nullptr};
    break;
  case MemoryKind::managed:
    *attributes = {cudaMemoryTypeManaged, 0, p, p};
    break;
  case MemoryKind::pinned:
  case MemoryKind::registered:
    *attributes = {cudaMemoryTypeHost, 0, p, p};
    break;
  }
  return cudaSuccess;
}

cudaError_t cudaMemGetInfo(size_t *free, size_t *total) {
  GMPI_CPU_API_BEGIN;
  *total = gmpi::cpu::device_memory_total();
  *free = *total - device_memory().allocated();
  return cudaSuccess;
}

cudaError_t cudaMemPrefetchAsync(const void *pointer, size_t, int, cudaStream_t stream) {
  GMPI_CPU_API_STREAM;
  DeviceMemory::Found found;
  return result(device_memory().find(pointer, found) && found.kind == MemoryKind::managed
                    ? cudaSuccess
                    : cudaErrorInvalidValue);
}
