// A current context means that the program has chosen (since CUDA 12 cudaSetDevice makes one).
#include "choose_device.hpp"

#ifndef GMPI_DEVICE_CPU
#include "driver_function.hpp"
#endif

#include <cuda_runtime.h>

namespace gmpi::launch {

namespace {

#ifdef GMPI_DEVICE_CPU
bool program_has_chosen() { return false; }
#else
bool program_has_chosen() {
  const auto current = driver_function<int (*)(void **)>("cuCtxGetCurrent");
  if (current == nullptr)
    return true;
  void *context = nullptr;
  current(&context);
  return context != nullptr;
}
#endif

} // namespace

void choose_device(int host_rank) {
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
    cudaGetLastError(); // no GPU: the program will meet that error itself
    return;
  }
  if (program_has_chosen())
    return;
  int device = host_rank % devices;
#ifndef GMPI_DEVICE_CPU
  // What has been set aside for local memory stays: see reserve_local_memory().
  cudaInitDevice(device, cudaDeviceLmemResizeToMax, cudaInitDeviceFlagsAreValid);
#endif
  if (devices > 1)
    cudaSetDevice(device);
}

} // namespace gmpi::launch
