// The environment's variables: what they mean, and that a bad value ends the program with a sentence
// that names it. The settings are read once, so each case has a process of its own.
#include "proxy/report.hpp"
#include "proxy/settings.hpp"

#include <gtest/gtest.h>

#include <cstdlib>

namespace {

struct Variable {
  const char *name, *value;
};

/// Ends the process: with 0 if the settings are as expected.
void read(Variable variable, double timeout, double stall, std::size_t staging) {
  for (const char *name : {"GMPI_TIMEOUT", "GMPI_STALL", "GMPI_STAGING_MB"})
    unsetenv(name);
  if (variable.name != nullptr)
    setenv(variable.name, variable.value, 1);
  const gmpi::Settings &settings = gmpi::settings();
  bool good = settings.timeout_seconds == timeout && settings.stall_seconds == stall &&
              settings.staging_bytes == staging && settings.bounce_piece > 0 &&
              settings.bounce_bytes % settings.bounce_piece == 0;
  std::_Exit(good ? 0 : 2);
}

constexpr std::size_t mb = 1 << 20;

} // namespace

TEST(Settings, defaults) {
  EXPECT_EXIT(read({}, 0, 60, 64 * mb), testing::ExitedWithCode(0), "^$");
  EXPECT_EXIT(read({"GMPI_TIMEOUT", ""}, 0, 60, 64 * mb), testing::ExitedWithCode(0), "^$");
}

TEST(Settings, values) {
  EXPECT_EXIT(read({"GMPI_TIMEOUT", "2.5"}, 2.5, 60, 64 * mb), testing::ExitedWithCode(0), "^$");
  EXPECT_EXIT(read({"GMPI_STALL", "1e1"}, 0, 10, 64 * mb), testing::ExitedWithCode(0), "^$");
  EXPECT_EXIT(read({"GMPI_STAGING_MB", "3"}, 0, 60, 3 * mb), testing::ExitedWithCode(0), "^$");
  EXPECT_EXIT(read({"GMPI_STAGING_MB", "0"}, 0, 60, 0), testing::ExitedWithCode(0), "^$");
  EXPECT_EXIT(read({"GMPI_STAGING_MB", "0.5"}, 0, 60, mb / 2), testing::ExitedWithCode(0), "^$");
}

TEST(Settings, bad_values) {
  EXPECT_EXIT(read({"GMPI_TIMEOUT", "soon"}, 0, 0, 0), testing::ExitedWithCode(1),
              "^gmpi: GMPI_TIMEOUT is 'soon', which is no number of 0 or more; correct it or unset "
              "it\n$");
  EXPECT_EXIT(read({"GMPI_STALL", "-1"}, 0, 0, 0), testing::ExitedWithCode(1),
              "GMPI_STALL is '-1', which is no number of 0 or more");
  EXPECT_EXIT(read({"GMPI_STALL", "nan"}, 0, 0, 0), testing::ExitedWithCode(1),
              "GMPI_STALL is 'nan', which is no number of 0 or more");
  EXPECT_EXIT(read({"GMPI_STAGING_MB", "64MB"}, 0, 0, 0), testing::ExitedWithCode(1),
              "GMPI_STAGING_MB is '64MB', which is no number of 0 or more");
  EXPECT_EXIT(read({"GMPI_STAGING_MB", " "}, 0, 0, 0), testing::ExitedWithCode(1),
              "GMPI_STAGING_MB is ' ', which is no number of 0 or more");
}
