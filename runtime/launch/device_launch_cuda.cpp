// Launching on a GPU.
#include "device_launch.hpp"

#include <algorithm>
#include <vector>

namespace gmpi::launch {

unsigned long long resident_blocks(const KernelEntry &entry, const Configuration &configuration) {
  int device = 0, multiprocessors = 0, blocks = 0;
  cudaGetDevice(&device);
  cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device);
  dim3 b = configuration.block;
  cudaOccupancyMaxActiveBlocksPerMultiprocessor(
      &blocks, entry.queue, static_cast<int>(b.x * b.y * b.z), configuration.shared_bytes);
  return 1ull * multiprocessors * blocks;
}

cudaError_t launch_on_device(const KernelEntry &entry, const Configuration &configuration,
                             const Launched *launched, void **arguments, bool cooperative) {
  std::vector<void *> all;
  if (launched != nullptr) {
    all.reserve(entry.parameters + 1);
    all.push_back(const_cast<Launched *>(launched));
    all.insert(all.end(), arguments, arguments + entry.parameters);
    arguments = all.data();
  }
  std::vector<cudaLaunchAttribute> attributes(
      configuration.attributes, configuration.attributes + configuration.attribute_count);
  if (cooperative) {
    cudaLaunchAttribute attribute{};
    attribute.id = cudaLaunchAttributeCooperative;
    attribute.val.cooperative = 1;
    attributes.push_back(attribute);
  }
  cudaLaunchConfig_t config{};
  config.gridDim = configuration.grid;
  config.blockDim = configuration.block;
  config.dynamicSmemBytes = configuration.shared_bytes;
  config.stream = configuration.stream;
  config.attrs = attributes.data();
  config.numAttrs = static_cast<unsigned>(attributes.size());
  return ::cudaLaunchKernelExC(&config, launched ? entry.queue : entry.stub, arguments);
}

cudaError_t launch_segment_on_device(const KernelEntry &entry, const Configuration &configuration,
                                     std::size_t point, const Segment &segment,
                                     const CopiedArguments &arguments, cudaStream_t stream) {
  constexpr std::size_t few = 64;
  void *here[few + 1];
  std::vector<void *> many;
  void **all = here;
  if (arguments.pointers.size() > few) {
    many.resize(arguments.pointers.size() + 1);
    all = many.data();
  }
  all[0] = const_cast<Segment *>(&segment);
  std::copy(arguments.pointers.begin(), arguments.pointers.end(), all + 1);
  cudaLaunchConfig_t config{};
  config.gridDim = configuration.grid;
  config.blockDim = configuration.block;
  config.dynamicSmemBytes = configuration.shared_bytes;
  config.stream = stream;
  config.attrs = const_cast<cudaLaunchAttribute *>(configuration.attributes);
  config.numAttrs = configuration.attribute_count;
  return ::cudaLaunchKernelExC(&config, entry.split.segments[point], all);
}

/// The one that needs most is launched, with threads that leave at once. What it needs stays set
/// aside (cudaDeviceLmemResizeToMax, see choose_device): CUDA would give it back with the next
/// launch.
void reserve_local_memory(const std::vector<DeviceKernel> &kernels) {
  unsigned flags = 0;
  if (cudaGetDeviceFlags(&flags) != cudaSuccess ||
      cudaSetDeviceFlags(flags | cudaDeviceLmemResizeToMax) != cudaSuccess)
    cudaGetLastError(); // the program has set it up in another way
  const DeviceKernel *largest = nullptr;
  std::size_t most = 0;
  for (const DeviceKernel &kernel : kernels) {
    cudaFuncAttributes attributes{};
    if (cudaFuncGetAttributes(&attributes, kernel.function) != cudaSuccess)
      cudaGetLastError(); // it is for other devices
    else if (attributes.localSizeBytes > most) {
      most = attributes.localSizeBytes;
      largest = &kernel;
    }
  }
  if (largest == nullptr)
    return;
  constexpr std::size_t largest_parameter = 32768;
  std::vector<unsigned char> zeros(largest_parameter);
  Launched launched{nullptr, empty_launch};
  Segment segment{};
  segment.launch = empty_launch;
  std::vector<void *> arguments(largest->parameters, zeros.data());
  arguments[0] = largest->is_segment ? static_cast<void *>(&segment) : &launched;
  if (::cudaLaunchKernel(largest->function, 1, 1, arguments.data(), 0, nullptr) != cudaSuccess)
    cudaGetLastError();
  cudaStreamSynchronize(nullptr);
}

cudaError_t write_context(const void *symbol, const Context &context, cudaStream_t stream) {
  return cudaMemcpyToSymbolAsync(symbol, &context, sizeof(context), 0, cudaMemcpyHostToDevice,
                                 stream);
}

} // namespace gmpi::launch
