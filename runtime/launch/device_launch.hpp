// What the launcher asks of a device. One implementation for each: device_launch_cuda.cpp,
// device_launch_cpu.cpp.
#pragma once

#include "launch.hpp"

#include <vector>

namespace gmpi::launch {

/// How many of the kernel's blocks the current device holds at once.
unsigned long long resident_blocks(const KernelEntry &entry, const Configuration &configuration);

/// Launches entry.queue with `launched` before the user's arguments or, where `launched` is null,
/// entry.stub with the user's alone.
cudaError_t launch_on_device(const KernelEntry &entry, const Configuration &configuration,
                             const Launched *launched, void **arguments, bool cooperative);

/// Launches segment `point` of entry.split on `stream`, which takes the place of configuration's.
cudaError_t launch_segment_on_device(const KernelEntry &entry, const Configuration &configuration,
                                     std::size_t point, const Segment &segment,
                                     const CopiedArguments &arguments, cudaStream_t stream);

/// Has the current device set aside what the kernels' threads need of local memory. Else CUDA does it
/// when it first launches one that needs more, and waits for running kernels, which may wait for it.
void reserve_local_memory(const std::vector<DeviceKernel> &kernels);

/// Fills a translated file's Context (see Module), in the order of `stream`.
cudaError_t write_context(const void *symbol, const Context &context, cudaStream_t stream);

} // namespace gmpi::launch
