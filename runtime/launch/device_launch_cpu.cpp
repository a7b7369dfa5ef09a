// Launching on the cpu device.
#include "device_launch.hpp"

#include <gmpi/cpu.hpp>

#include <cstring>

namespace gmpi::launch {

unsigned long long resident_blocks(const KernelEntry &, const Configuration &configuration) {
  dim3 b = configuration.block;
  return static_cast<unsigned long long>(
      cpu::max_resident_blocks(b.x * b.y * b.z, configuration.shared_bytes));
}

cudaError_t launch_on_device(const KernelEntry &entry, const Configuration &configuration,
                             const Launched *launched, void **arguments, bool cooperative) {
  if (entry.binder == nullptr) // an address that no translated file has registered
    return cudaErrorInvalidDeviceFunction;
  cpu::KernelLaunch launch;
  launch.grid = configuration.grid;
  launch.block = configuration.block;
  launch.shared_bytes = configuration.shared_bytes;
  launch.stream = configuration.stream;
  launch.cooperative = cooperative;
  launch.thread = entry.binder(launched ? entry.queue : entry.stub, launched, arguments);
  launch.name = entry.info.name ? entry.info.name : "kernel";
  return cpu::launch(std::move(launch));
}

cudaError_t launch_segment_on_device(const KernelEntry &entry, const Configuration &configuration,
                                     std::size_t point, const Segment &segment,
                                     const CopiedArguments &arguments, cudaStream_t stream) {
  cpu::KernelLaunch launch;
  launch.grid = configuration.grid;
  launch.block = configuration.block;
  launch.shared_bytes = configuration.shared_bytes;
  launch.stream = stream;
  launch.thread = entry.segment_binder(entry.split.segments[point], segment,
                                       const_cast<void **>(arguments.pointers.data()));
  launch.name = entry.info.name;
  return cpu::launch(std::move(launch));
}

void reserve_local_memory(const std::vector<DeviceKernel> &) {}

cudaError_t write_context(const void *symbol, const Context &context, cudaStream_t) {
  std::memcpy(const_cast<void *>(symbol), &context, sizeof(context));
  return cudaSuccess;
}

} // namespace gmpi::launch
