// Makes a launch: state for the kernel's blocks to meet in, the residency check, and the launch
// itself.
#include "launch.hpp"

#include "../peer/hosts/links.hpp"
#include "../proxy/proxy.hpp"
#include "../proxy/report.hpp"
#include "../split/driver.hpp"
#include "../split/host_calls.hpp"
#include "../transport/gpu_aware.hpp"
#include "device_launch.hpp"
#include "lowering.hpp"
#include "statistics.hpp"

namespace gmpi::launch {

namespace {

unsigned long long volume(dim3 d) { return 1ull * d.x * d.y * d.z; }

std::string text(dim3 d) {
  return std::to_string(d.x) + "x" + std::to_string(d.y) + "x" + std::to_string(d.z);
}

/// Grid-scope calls need every block resident, and the grid has more.
void refuse(const KernelEntry &entry, const Configuration &configuration,
            unsigned long long possible, OnRefusal on_refusal) {
  unsigned long long wanted = volume(configuration.grid);
  std::string message =
      "kernel " + std::string(entry.info.name) + " (" +
      place({entry.info.file, entry.info.line}) + ") makes MPI calls for its whole grid, so all " +
      std::to_string(wanted) + " blocks of its grid " + text(configuration.grid) +
      " must be resident at once; with " + text(configuration.block) + " threads a block and " +
      std::to_string(configuration.shared_bytes) + " bytes of dynamic shared memory this device holds " +
      std::to_string(possible) +
      (possible > 0 ? ": launch that many blocks at most"
                    : ": use smaller blocks, or declare the kernel __launch_bounds__(" +
                          std::to_string(volume(configuration.block)) + ")");
  if (on_refusal == OnRefusal::abort)
    fatal("%s", message.c_str());
  say("%s", message.c_str());
}

} // namespace

cudaError_t run(const KernelEntry &entry, const Configuration &configuration, void **arguments,
                OnRefusal on_refusal) {
  if (entry.queue == nullptr && !entry.has_split())
    return launch_on_device(entry, configuration, nullptr, arguments, configuration.cooperative);
  Proxy *proxy = Proxy::instance();
  if (proxy == nullptr)
    fatal("kernel %s calls MPI but was launched outside MPI_Init ... MPI_Finalize",
          entry.info.name);
  bool resident = entry.info.scope == Scope::grid;
  if (volume(configuration.grid) == 0 || volume(configuration.block) == 0)
    return launch_on_device(entry, configuration, nullptr, arguments, configuration.cooperative);
  Lowering lowering = Lowering::queue;
  const bool decided = is_decided(entry, lowering);
  if (lowering == Lowering::split)
    return proxy->split_driver().launch(entry, configuration, arguments);
  if (resident) {
    unsigned long long possible = resident_blocks(entry, configuration);
    if (volume(configuration.grid) > possible) {
      if (!decided) {
        say_split(entry, volume(configuration.grid), possible);
        return proxy->split_driver().launch(entry, configuration, arguments);
      }
      refuse(entry, configuration, possible, on_refusal);
      return cudaErrorCooperativeLaunchTooLarge;
    }
  }
  // Launched cooperatively, a kernel starts when all of its blocks find room, beside other such kernels.
  DeviceQueue &queue = proxy->queue_of_current_device();
  std::uint32_t index = 0;
  DeviceQueue::LaunchRecord record{&entry, Clock::now(), configuration.stream};
  if (gpu_aware::library_calls_cuda())
    record.joins_legacy_stream = split::joins_legacy_stream(configuration.stream);
  LaunchState *state = queue.begin_launch(record, index);
  Launched launched{state, index};
  count(entry, Lowering::queue, {.launches = 1});
  if (peer::Links *links = peer::Links::instance())
    links->offers().before_launch();
  proxy->launch_begins();
  cudaError_t error = launch_on_device(entry, configuration, &launched, arguments,
                                       resident || configuration.cooperative);
  if (error != cudaSuccess) {
    queue.end_launch(index);
    proxy->launch_fails();
  }
  return error;
}

cudaError_t run_address(const void *kernel, const Configuration &configuration, void **arguments) {
  if (const KernelEntry *entry = find_kernel(kernel))
    return run(*entry, configuration, arguments, OnRefusal::return_error);
  KernelEntry plain{kernel, nullptr, {}, 0, {}};
  return launch_on_device(plain, configuration, nullptr, arguments, configuration.cooperative);
}

} // namespace gmpi::launch
