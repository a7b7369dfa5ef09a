#include "settings.hpp"

#include "sanitizer.hpp"

#include <algorithm>
#include <cstdlib>
#include <thread>

namespace gmpi::cpu {
namespace {

unsigned from_environment(const char *name, unsigned otherwise, unsigned least, unsigned most) {
  const char *text = std::getenv(name);
  if (!text || !*text)
    return otherwise;
  return static_cast<unsigned>(
      std::clamp<unsigned long>(std::strtoul(text, nullptr, 10), least, most));
}

Settings read_settings() {
  const unsigned cores = std::max(1u, std::thread::hardware_concurrency());
  const unsigned stack = address_sanitizer || thread_sanitizer ? 256 : 64;
  return {from_environment("GMPI_CPU_THREADS", std::min(2u, cores), 1, 256),
          from_environment("GMPI_CPU_MULTIPROCESSORS", 8, 1, 1024),
          std::size_t{1024} * from_environment("GMPI_CPU_STACK_KB", stack, 16, 1 << 20)};
}

} // namespace

const Settings &settings() {
  static const Settings read = read_settings();
  return read;
}

} // namespace gmpi::cpu
