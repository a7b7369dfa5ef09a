// The registry of kernels and of translated files. Filled by static constructors and by launches.
#include "launch.hpp"
#include "modules.hpp"

#include <mutex>
#include <unordered_map>

namespace gmpi {

namespace launch {

namespace {

struct Registry {
  std::mutex mutex;
  std::unordered_map<const void *, KernelEntry> kernels; // references to values stay valid
};

Registry &registry() {
  static Registry registry;
  return registry;
}

std::vector<const void *> &mutable_modules() {
  static std::vector<const void *> modules;
  return modules;
}

} // namespace

const std::vector<const void *> &modules() { return mutable_modules(); }

const KernelEntry &add_kernel(const KernelEntry &entry) {
  std::lock_guard lock(registry().mutex);
  return registry().kernels.emplace(entry.stub, entry).first->second;
}

const KernelEntry *find_kernel(const void *stub) {
  std::lock_guard lock(registry().mutex);
  auto found = registry().kernels.find(stub);
  return found == registry().kernels.end() ? nullptr : &found->second;
}

std::vector<DeviceKernel> device_kernels() {
  std::lock_guard lock(registry().mutex);
  std::vector<DeviceKernel> all;
  for (const auto &[stub, entry] : registry().kernels) {
    if (entry.queue != nullptr)
      all.push_back({entry.queue, entry.parameters + 1, false});
    for (const void *segment : entry.split.segments)
      all.push_back({segment, entry.parameters + 1, true});
  }
  return all;
}

} // namespace launch

Module::Module(const void *symbol) {
  launch::ensure_modules_are_loaded_at_start();
  launch::mutable_modules().push_back(symbol);
}

} // namespace gmpi
