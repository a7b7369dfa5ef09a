// GMPI_LOWER, and what is said of it.
#include "lowering.hpp"

#include "../proxy/report.hpp"
#include "../proxy/settings.hpp"

#include <mutex>
#include <set>

namespace gmpi::launch {

namespace {

bool is_first_time(const KernelEntry &entry) {
  static std::mutex mutex;
  static std::set<const void *> told;
  std::lock_guard lock(mutex);
  return told.insert(entry.stub).second;
}

std::string name(const KernelEntry &entry) {
  return std::string(entry.info.name) + " (" + place({entry.info.file, entry.info.line}) + ")";
}

} // namespace

bool is_decided(const KernelEntry &entry, Lowering &lowering) {
  const WantedLowering wanted = settings().lowering;
  const bool has_queue = entry.queue != nullptr;
  if (has_queue && entry.has_split() && wanted == WantedLowering::any)
    return false;
  const bool split = entry.has_split() && (!has_queue || wanted == WantedLowering::split);
  lowering = split ? Lowering::split : Lowering::queue;
  if ((wanted == WantedLowering::split && !split) || (wanted == WantedLowering::queue && split))
    if (is_first_time(entry))
      say("GMPI_LOWER is '%s', but kernel %s was translated with --lower=%s alone: that is what "
          "runs",
          split ? "queue" : "split", name(entry).c_str(), split ? "split" : "queue");
  return true;
}

void say_split(const KernelEntry &entry, unsigned long long wanted, unsigned long long possible) {
  if (is_first_time(entry))
    say("kernel %s is split at its MPI calls: %llu blocks are launched, and the device holds %llu "
        "at "
        "once",
        name(entry).c_str(), wanted, possible);
}

} // namespace gmpi::launch
