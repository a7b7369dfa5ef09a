// The environment's variables: what they mean, and that a bad value ends the program with a
// sentence that names it. The settings are read once, so each case has a process of its own.
#include "proxy/report.hpp"
#include "proxy/settings.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

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

TEST(Settings, largest_values) {
  EXPECT_EXIT(read({"GMPI_TIMEOUT", "1e9"}, 1e9, 60, 64 * mb), testing::ExitedWithCode(0), "^$");
  EXPECT_EXIT(read({"GMPI_STALL", "1e9"}, 0, 1e9, 64 * mb), testing::ExitedWithCode(0), "^$");
  EXPECT_EXIT(read({"GMPI_STAGING_MB", "1048576"}, 0, 60, mb * mb), testing::ExitedWithCode(0),
              "^$");
}

TEST(Settings, bad_values) {
  constexpr const char *not_numbers[] = {"soon", "-1", "-inf", "nan", "64MB", " ", "inf", "1e400"};
  for (const char *value : not_numbers) {
    EXPECT_EXIT(read({"GMPI_TIMEOUT", value}, 0, 0, 0), testing::ExitedWithCode(1),
                "^gmpi: GMPI_TIMEOUT is '" + std::string(value) +
                    "', which is no number from 0 to 1000000000; correct it or unset it\n$");
    EXPECT_EXIT(read({"GMPI_STALL", value}, 0, 0, 0), testing::ExitedWithCode(1),
                "^gmpi: GMPI_STALL is '" + std::string(value) +
                    "', which is no number from 0 to 1000000000; correct it or unset it\n$");
    EXPECT_EXIT(read({"GMPI_STAGING_MB", value}, 0, 0, 0), testing::ExitedWithCode(1),
                "^gmpi: GMPI_STAGING_MB is '" + std::string(value) +
                    "', which is no number from 0 to 1048576; correct it or unset it\n$");
  }
}

/// Numbers, but too large: more bytes than size_t counts would be undefined.
TEST(Settings, too_large) {
  EXPECT_EXIT(read({"GMPI_STAGING_MB", "1048577"}, 0, 0, 0), testing::ExitedWithCode(1),
              "GMPI_STAGING_MB is '1048577', which is no number from 0 to 1048576");
  EXPECT_EXIT(read({"GMPI_STAGING_MB", "1e14"}, 0, 0, 0), testing::ExitedWithCode(1),
              "GMPI_STAGING_MB is '1e14', which is no number from 0 to 1048576");
  EXPECT_EXIT(read({"GMPI_STALL", "1e10"}, 0, 0, 0), testing::ExitedWithCode(1),
              "GMPI_STALL is '1e10', which is no number from 0 to 1000000000");
}

/// Ends the process: with 0 if the settings are as expected.
static void read_lowering(const char *value, gmpi::WantedLowering expected) {
  setenv("GMPI_LOWER", value, 1);
  std::_Exit(gmpi::settings().lowering == expected ? 0 : 2);
}

TEST(Settings, lowering) {
  using gmpi::WantedLowering;
  EXPECT_EXIT(read_lowering("", WantedLowering::any), testing::ExitedWithCode(0), "^$");
  EXPECT_EXIT(read_lowering("queue", WantedLowering::queue), testing::ExitedWithCode(0), "^$");
  EXPECT_EXIT(read_lowering("split", WantedLowering::split), testing::ExitedWithCode(0), "^$");
  EXPECT_EXIT(
      read_lowering("stream", WantedLowering::any), testing::ExitedWithCode(1),
      "^gmpi: GMPI_LOWER is 'stream', which is neither queue nor split; correct it or unset it\n$");
}

/// Ends the process: with 0 if the settings are as expected.
static void read_gpu_aware(const char *value, const char *kb, gmpi::GpuAware expected,
                           std::size_t above) {
  setenv("GMPI_GPU_AWARE", value, 1);
  setenv("GMPI_GPU_AWARE_KB", kb, 1);
  const gmpi::Settings &settings = gmpi::settings();
  std::_Exit(settings.gpu_aware == expected && settings.gpu_aware_above == above ? 0 : 2);
}

TEST(Settings, gpu_aware) {
  using gmpi::GpuAware;
  const testing::ExitedWithCode good(0), bad(1);
  EXPECT_EXIT(read_gpu_aware("", "", GpuAware::off, 65536), good, "^$");
  EXPECT_EXIT(read_gpu_aware("auto", "", GpuAware::automatic, 65536), good, "^$");
  EXPECT_EXIT(read_gpu_aware("0", "0", GpuAware::off, 0), good, "^$");
  EXPECT_EXIT(read_gpu_aware("1", "1024", GpuAware::on, mb), good, "^$");
  EXPECT_EXIT(read_gpu_aware("yes", "", GpuAware::on, 0), bad,
              "^gmpi: GMPI_GPU_AWARE is 'yes', which is none of 0, 1 and auto; correct it or unset it\n$");
  EXPECT_EXIT(read_gpu_aware("1", "-5", GpuAware::on, 0), bad,
              "GMPI_GPU_AWARE_KB is '-5', which is no number from 0 to 1073741824");
}

/// Ends the process: with 0 if the setting is as expected.
static void read_gdrcopy(const char *value, bool expected) {
  setenv("GMPI_GDRCOPY", value, 1);
  std::_Exit(gmpi::settings().gdrcopy == expected ? 0 : 2);
}

TEST(Settings, gdrcopy) {
  EXPECT_EXIT(read_gdrcopy("", false), testing::ExitedWithCode(0), "^$");
  EXPECT_EXIT(read_gdrcopy("0", false), testing::ExitedWithCode(0), "^$");
  EXPECT_EXIT(read_gdrcopy("1", true), testing::ExitedWithCode(0), "^$");
  for (const char *value : {"auto", "2", "-1"})
    EXPECT_EXIT(read_gdrcopy(value, false), testing::ExitedWithCode(1),
                "^gmpi: GMPI_GDRCOPY is '" + std::string(value) +
                    "', which is no number from 0 to 1; correct it or unset it\n$");
}
