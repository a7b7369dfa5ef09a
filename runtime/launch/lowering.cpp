// GMPI_LOWER, what the program itself prefers, and what is said of both.
#include "lowering.hpp"

#include "../proxy/report.hpp"
#include "../proxy/settings.hpp"

#include <atomic>
#include <cstring>
#include <mutex>
#include <set>

namespace gmpi::launch {

namespace {

/// What the program asks for; any: what GMPI_LOWER says.
std::atomic<WantedLowering> preferred{WantedLowering::any};

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
  const WantedLowering by_program = preferred;
  const bool is_by_program = by_program != WantedLowering::any;
  const WantedLowering wanted = is_by_program ? by_program : settings().lowering;
  const bool has_queue = entry.queue != nullptr;
  if (has_queue && entry.has_split() && wanted == WantedLowering::any)
    return false;
  const bool split = entry.has_split() && (!has_queue || wanted == WantedLowering::split);
  lowering = split ? Lowering::split : Lowering::queue;
  if ((wanted == WantedLowering::split && !split) || (wanted == WantedLowering::queue && split))
    if (is_first_time(entry))
      say("%s '%s', but kernel %s was translated with --lower=%s alone: that is what runs",
          is_by_program ? "the program prefers" : "GMPI_LOWER is", split ? "queue" : "split",
          name(entry).c_str(), split ? "split" : "queue");
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

void gmpi::prefer_lowering(const char *name) {
  if (*name == '\0')
    launch::preferred = WantedLowering::any;
  else if (std::strcmp(name, "queue") == 0)
    launch::preferred = WantedLowering::queue;
  else if (std::strcmp(name, "split") == 0)
    launch::preferred = WantedLowering::split;
  else
    fatal("the program prefers the lowering '%s', which is neither queue nor split", name);
}
