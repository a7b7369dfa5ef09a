// Reads the environment.
#include "settings.hpp"

#include "report.hpp"

#include <cstdlib>

namespace gmpi {

namespace {

double number(const char *variable, double fallback) {
  const char *text = std::getenv(variable);
  if (text == nullptr || *text == '\0')
    return fallback;
  char *end = nullptr;
  double value = std::strtod(text, &end);
  if (*end != '\0' || !(value >= 0))
    fatal("%s is '%s', which is no number of 0 or more; correct it or unset it", variable, text);
  return value;
}

Settings read() {
  Settings settings{};
  settings.timeout_seconds = number("GMPI_TIMEOUT", 0);
  settings.stall_seconds = number("GMPI_STALL", 60);
  settings.staging_bytes = static_cast<std::size_t>(number("GMPI_STAGING_MB", 64) * (1 << 20));
  settings.bounce_piece = 1 << 20;
  settings.bounce_bytes = 4 * settings.bounce_piece;
  return settings;
}

} // namespace

const Settings &settings() {
  static const Settings value = read();
  return value;
}

} // namespace gmpi
