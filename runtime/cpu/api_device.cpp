// The one device: its properties, limits and synchronisation.
#include "api_support.hpp"
#include "device_memory.hpp"
#include "settings.hpp"

#include <cstdio>

using gmpi::cpu::result;
using gmpi::cpu::settings;
using gmpi::cpu::Streams;

namespace {
constexpr int clock_khz = 1000000; // clock64 counts nanoseconds
constexpr int major_capability = 9, minor_capability = 0;

cudaError_t check_device(int device) {
  return result(device == 0 ? cudaSuccess : cudaErrorInvalidDevice);
}
} // namespace

cudaError_t cudaGetDeviceCount(int *count) {
  *count = 1;
  return cudaSuccess;
}
cudaError_t cudaSetDevice(int device) { return check_device(device); }
cudaError_t cudaInitDevice(int device, unsigned, unsigned) { return check_device(device); }
cudaError_t cudaGetDevice(int *device) {
  *device = 0;
  return cudaSuccess;
}
cudaError_t cudaSetDeviceFlags(unsigned) { return cudaSuccess; }
cudaError_t cudaGetDeviceFlags(unsigned *flags) {
  *flags = cudaDeviceMapHost;
  return cudaSuccess;
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp *p, int device) {
  if (check_device(device) != cudaSuccess)
    return cudaErrorInvalidDevice;
  *p = {};
  std::snprintf(p->name, sizeof p->name, "GMPI cpu device (%u workers)", settings().workers);
  p->totalGlobalMem = gmpi::cpu::device_memory_total();
  p->sharedMemPerBlock = 48 * 1024;
  p->memPitch = 0x7fffffff;
  p->totalConstMem = 65536;
  p->textureAlignment = 512;
  p->sharedMemPerMultiprocessor = gmpi::cpu::shared_per_multiprocessor;
  p->sharedMemPerBlockOptin = gmpi::cpu::shared_per_block_limit;
  p->reservedSharedMemPerBlock = gmpi::cpu::shared_per_block_reserved;
  p->regsPerBlock = p->regsPerMultiprocessor = 65536;
  p->warpSize = static_cast<int>(gmpi::cpu::warp_threads);
  p->maxThreadsPerBlock = static_cast<int>(gmpi::cpu::threads_per_block_limit);
  p->maxThreadsDim[0] = p->maxThreadsDim[1] = 1024, p->maxThreadsDim[2] = 64;
  p->maxGridSize[0] = 0x7fffffff, p->maxGridSize[1] = p->maxGridSize[2] = 65535;
  p->clockRate = clock_khz;
  p->major = major_capability, p->minor = minor_capability;
  p->multiProcessorCount = static_cast<int>(settings().multiprocessors);
  p->maxThreadsPerMultiProcessor = static_cast<int>(gmpi::cpu::threads_per_multiprocessor);
  p->maxBlocksPerMultiProcessor = static_cast<int>(gmpi::cpu::blocks_per_multiprocessor_limit);
  p->canMapHostMemory = p->concurrentKernels = p->asyncEngineCount = p->unifiedAddressing = 1;
  p->streamPrioritiesSupported = p->managedMemory = p->hostNativeAtomicSupported = 1;
  p->pageableMemoryAccess = p->concurrentManagedAccess = p->cooperativeLaunch = 1;
  p->canUseHostPointerForRegisteredMem = p->hostRegisterSupported = 1;
  p->memoryClockRate = clock_khz;
  p->memoryBusWidth = 64;
  p->l2CacheSize = 1 << 20;
  return cudaSuccess;
}

cudaError_t cudaDeviceGetAttribute(int *value, cudaDeviceAttr attribute, int device) {
  cudaDeviceProp p;
  if (cudaGetDeviceProperties(&p, device) != cudaSuccess)
    return cudaErrorInvalidDevice;
  switch (attribute) {
#define GMPI_CPU_ATTRIBUTE(name, member)                                                           \
  case cudaDevAttr##name:                                                                          \
    *value = static_cast<int>(member);                                                             \
    return cudaSuccess;
    GMPI_CPU_ATTRIBUTE(MaxThreadsPerBlock, p.maxThreadsPerBlock)
    GMPI_CPU_ATTRIBUTE(MaxBlockDimX, p.maxThreadsDim[0])
    GMPI_CPU_ATTRIBUTE(MaxBlockDimY, p.maxThreadsDim[1])
    GMPI_CPU_ATTRIBUTE(MaxBlockDimZ, p.maxThreadsDim[2])
    GMPI_CPU_ATTRIBUTE(MaxGridDimX, p.maxGridSize[0])
    GMPI_CPU_ATTRIBUTE(MaxGridDimY, p.maxGridSize[1])
    GMPI_CPU_ATTRIBUTE(MaxGridDimZ, p.maxGridSize[2])
    GMPI_CPU_ATTRIBUTE(MaxSharedMemoryPerBlock, p.sharedMemPerBlock)
    GMPI_CPU_ATTRIBUTE(TotalConstantMemory, p.totalConstMem)
    GMPI_CPU_ATTRIBUTE(WarpSize, p.warpSize)
    GMPI_CPU_ATTRIBUTE(MaxRegistersPerBlock, p.regsPerBlock)
    GMPI_CPU_ATTRIBUTE(ClockRate, p.clockRate)
    GMPI_CPU_ATTRIBUTE(MultiProcessorCount, p.multiProcessorCount)
    GMPI_CPU_ATTRIBUTE(KernelExecTimeout, 0)
    GMPI_CPU_ATTRIBUTE(Integrated, p.integrated)
    GMPI_CPU_ATTRIBUTE(CanMapHostMemory, p.canMapHostMemory)
    GMPI_CPU_ATTRIBUTE(ComputeMode, p.computeMode)
    GMPI_CPU_ATTRIBUTE(ConcurrentKernels, p.concurrentKernels)
    GMPI_CPU_ATTRIBUTE(EccEnabled, p.ECCEnabled)
    GMPI_CPU_ATTRIBUTE(PciBusId, p.pciBusID)
    GMPI_CPU_ATTRIBUTE(PciDeviceId, p.pciDeviceID)
    GMPI_CPU_ATTRIBUTE(PciDomainId, p.pciDomainID)
    GMPI_CPU_ATTRIBUTE(MemoryClockRate, p.memoryClockRate)
    GMPI_CPU_ATTRIBUTE(GlobalMemoryBusWidth, p.memoryBusWidth)
    GMPI_CPU_ATTRIBUTE(L2CacheSize, p.l2CacheSize)
    GMPI_CPU_ATTRIBUTE(MaxThreadsPerMultiProcessor, p.maxThreadsPerMultiProcessor)
    GMPI_CPU_ATTRIBUTE(AsyncEngineCount, p.asyncEngineCount)
    GMPI_CPU_ATTRIBUTE(UnifiedAddressing, p.unifiedAddressing)
    GMPI_CPU_ATTRIBUTE(ComputeCapabilityMajor, p.major)
    GMPI_CPU_ATTRIBUTE(ComputeCapabilityMinor, p.minor)
    GMPI_CPU_ATTRIBUTE(StreamPrioritiesSupported, p.streamPrioritiesSupported)
    GMPI_CPU_ATTRIBUTE(MaxSharedMemoryPerMultiprocessor, p.sharedMemPerMultiprocessor)
    GMPI_CPU_ATTRIBUTE(ManagedMemory, p.managedMemory)
    GMPI_CPU_ATTRIBUTE(HostNativeAtomicSupported, p.hostNativeAtomicSupported)
    GMPI_CPU_ATTRIBUTE(PageableMemoryAccess, p.pageableMemoryAccess)
    GMPI_CPU_ATTRIBUTE(ConcurrentManagedAccess, p.concurrentManagedAccess)
    GMPI_CPU_ATTRIBUTE(CanUseHostPointerForRegisteredMem, p.canUseHostPointerForRegisteredMem)
    GMPI_CPU_ATTRIBUTE(CooperativeLaunch, p.cooperativeLaunch)
    GMPI_CPU_ATTRIBUTE(MaxSharedMemoryPerBlockOptin, p.sharedMemPerBlockOptin)
    GMPI_CPU_ATTRIBUTE(CanFlushRemoteWrites, 0)
    GMPI_CPU_ATTRIBUTE(HostRegisterSupported, p.hostRegisterSupported)
    GMPI_CPU_ATTRIBUTE(MaxBlocksPerMultiprocessor, p.maxBlocksPerMultiProcessor)
    GMPI_CPU_ATTRIBUTE(MemoryPoolsSupported, p.memoryPoolsSupported)
    GMPI_CPU_ATTRIBUTE(GPUDirectRDMASupported, 0)
    GMPI_CPU_ATTRIBUTE(GPUDirectRDMAFlushWritesOptions, 0)
    GMPI_CPU_ATTRIBUTE(GPUDirectRDMAWritesOrdering, 0)
    GMPI_CPU_ATTRIBUTE(ClusterLaunch, p.clusterLaunch)
#undef GMPI_CPU_ATTRIBUTE
  }
  return result(cudaErrorInvalidValue);
}

cudaError_t cudaDeviceCanAccessPeer(int *can, int device, int) {
  *can = 0;
  return check_device(device);
}
cudaError_t cudaDeviceEnablePeerAccess(int, unsigned) { return result(cudaErrorInvalidDevice); }
cudaError_t cudaDeviceDisablePeerAccess(int) { return result(cudaErrorPeerAccessNotEnabled); }
cudaError_t cudaDeviceGetPCIBusId(char *id, int length, int device) {
  std::snprintf(id, static_cast<std::size_t>(length), "0000:00:00.0");
  return check_device(device);
}

cudaError_t cudaDeviceSynchronize() {
  GMPI_CPU_API_BEGIN;
  Streams::get().synchronize_all();
  gmpi::cpu::device_memory().check_all();
  return cudaSuccess;
}
cudaError_t cudaDeviceReset() { return cudaDeviceSynchronize(); }

cudaError_t cudaDeviceSetLimit(cudaLimit, size_t) { return cudaSuccess; }
cudaError_t cudaDeviceGetLimit(size_t *value, cudaLimit limit) {
  switch (limit) {
  case cudaLimitStackSize:
    *value = settings().stack_bytes;
    return cudaSuccess;
  case cudaLimitPrintfFifoSize:
    *value = 1 << 20;
    return cudaSuccess;
  case cudaLimitMallocHeapSize:
    *value = gmpi::cpu::device_memory_total();
    return cudaSuccess;
  default:
    return result(cudaErrorNotSupported);
  }
}
cudaError_t cudaDeviceSetCacheConfig(cudaFuncCache) { return cudaSuccess; }
cudaError_t cudaDeviceGetStreamPriorityRange(int *least, int *greatest) {
  *least = 0, *greatest = -5;
  return cudaSuccess;
}
cudaError_t cudaRuntimeGetVersion(int *version) {
  *version = CUDART_VERSION;
  return cudaSuccess;
}
cudaError_t cudaDriverGetVersion(int *version) { return cudaRuntimeGetVersion(version); }
