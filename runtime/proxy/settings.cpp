// Reads the environment.
#include "settings.hpp"

#include "report.hpp"

#include <cstdlib>
#include <cstring>

namespace gmpi {

namespace {

constexpr double most_seconds = 1e9;        // some 30 years
constexpr double most_staging_mb = 1 << 20; // 1 TiB: its bytes fit size_t
constexpr double most_gpu_aware_kb = 1 << 30;

/// What `variable` says: a number from 0 to `most`; `fallback` where it is unset or empty.
double number(const char *variable, double fallback, double most) {
  const char *text = std::getenv(variable);
  if (text == nullptr || *text == '\0')
    return fallback;
  char *end = nullptr;
  double value = std::strtod(text, &end);
  if (*end != '\0' || !(value >= 0 && value <= most)) // not a number compares false
    fatal("%s is '%s', which is no number from 0 to %.0f; correct it or unset it", variable, text,
          most);
  return value;
}

WantedLowering lowering() {
  const char *text = std::getenv("GMPI_LOWER");
  if (text == nullptr || *text == '\0')
    return WantedLowering::any;
  if (std::strcmp(text, "queue") == 0)
    return WantedLowering::queue;
  if (std::strcmp(text, "split") != 0)
    fatal("GMPI_LOWER is '%s', which is neither queue nor split; correct it or unset it", text);
  return WantedLowering::split;
}

GpuAware gpu_aware() {
  const char *text = std::getenv("GMPI_GPU_AWARE");
  if (text == nullptr || *text == '\0' || std::strcmp(text, "0") == 0)
    return GpuAware::off;
  if (std::strcmp(text, "auto") == 0)
    return GpuAware::automatic;
  if (std::strcmp(text, "1") != 0)
    fatal("GMPI_GPU_AWARE is '%s', which is none of 0, 1 and auto; correct it or unset it", text);
  return GpuAware::on;
}

Settings read() {
  Settings settings{};
  settings.timeout_seconds = number("GMPI_TIMEOUT", 0, most_seconds);
  settings.stall_seconds = number("GMPI_STALL", 60, most_seconds);
  settings.staging_bytes =
      static_cast<std::size_t>(number("GMPI_STAGING_MB", 64, most_staging_mb) * (1 << 20));
  settings.bounce_piece = 1 << 20;
  settings.bounce_bytes = 4 * settings.bounce_piece;
  settings.lowering = lowering();
  settings.gpu_aware = gpu_aware();
  settings.gpu_aware_above =
      static_cast<std::size_t>(number("GMPI_GPU_AWARE_KB", 64, most_gpu_aware_kb) * 1024);
  settings.stats = number("GMPI_STATS", 0, 1) != 0;
  settings.peer = number("GMPI_PEER", 0, 1) != 0;
  settings.gdrcopy = number("GMPI_GDRCOPY", 0, 1) != 0;
  return settings;
}

} // namespace

const Settings &settings() {
  static const Settings value = read();
  return value;
}

} // namespace gmpi
