// Who watches a thread that may not come back: says so once, ends the process after its time, and
// leaves alone a thread that goes on or sleeps.
#include "proxy/heartbeat.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>

using gmpi::Heartbeat;

namespace {

void sleep_seconds(double seconds) {
  std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
}

struct HeartbeatTest : testing::Test {
  void SetUp() override { testing::FLAGS_gtest_death_test_style = "threadsafe"; }
};

constexpr const char *told =
    "gmpi: MPI has not returned for [0-9]+ s from a call that a kernel has asked for";

/// Ends the process with 0, unless the watcher ends it before.
void live(double stall, double timeout, void (*how)(Heartbeat &)) {
  {
    Heartbeat heartbeat;
    heartbeat.beat();
    heartbeat.watch(stall, timeout);
    how(heartbeat);
  }
  std::_Exit(0);
}

void stand_still(Heartbeat &) { sleep_seconds(2); }
void go_on(Heartbeat &heartbeat) {
  for (int i = 0; i < 200; ++i, sleep_seconds(0.01))
    heartbeat.beat();
}
void sleep_well(Heartbeat &heartbeat) {
  heartbeat.rest();
  sleep_seconds(2);
}
void stand_still_twice(Heartbeat &heartbeat) {
  sleep_seconds(1.5);
  heartbeat.beat();
  sleep_seconds(1.5);
}

} // namespace

TEST_F(HeartbeatTest, a_stall_is_told_once) {
  EXPECT_EXIT(live(0.3, 0, stand_still), testing::ExitedWithCode(0),
              std::string("^") + told + "[^\n]*\n$");
}

TEST_F(HeartbeatTest, each_stall_is_told) {
  EXPECT_EXIT(live(0.5, 0, stand_still_twice), testing::ExitedWithCode(0),
              std::string("^") + told + "[^\n]*\n" + told + "[^\n]*\n$");
}

TEST_F(HeartbeatTest, the_process_ends_after_its_time) {
  EXPECT_EXIT(live(0.3, 0.8, stand_still), testing::ExitedWithCode(1), "GMPI_TIMEOUT is passed\n$");
}

TEST_F(HeartbeatTest, who_goes_on_is_left_alone) {
  EXPECT_EXIT(live(1, 1.5, go_on), testing::ExitedWithCode(0), "^$");
}

TEST_F(HeartbeatTest, who_sleeps_is_left_alone) {
  EXPECT_EXIT(live(0.3, 0.5, sleep_well), testing::ExitedWithCode(0), "^$");
}
