// When the proxy's thread moves to another core, and that it does.
#include "proxy/affinity.hpp"

#include <gtest/gtest.h>

#include <sched.h>

namespace {

using gmpi::CoreWatch;
using namespace std::chrono_literals;

struct CoreWatched : testing::Test {
  CoreWatch watch;
  CoreWatch::Clock::time_point now = CoreWatch::Clock::now();
  long preempted = 0;

  bool turn(CoreWatch::Clock::duration later, bool interrupted = false) {
    now += later;
    preempted += interrupted;
    return watch.is_crowded(now, [this] { return preempted; });
  }
};

TEST_F(CoreWatched, a_thread_moves_when_it_was_interrupted_for_a_time_slice) {
  watch.rested(now);
  EXPECT_FALSE(turn(1us));
  EXPECT_FALSE(turn(100us, true)); // for less
  EXPECT_TRUE(turn(4ms, true));
  EXPECT_FALSE(turn(1us));
}

TEST_F(CoreWatched, not_when_it_was_busy_or_asleep_as_long) {
  watch.rested(now);
  EXPECT_FALSE(turn(50ms)); // in MPI, say
  now += 1s;
  preempted += 3;
  watch.rested(now);
  EXPECT_FALSE(turn(1us));
}

TEST_F(CoreWatched, where_that_does_not_help_it_moves_ever_less_often) {
  watch.rested(now);
  int moves = 0;
  for (int turns = 0; turns < 1000; ++turns) // 4 s
    moves += turn(4ms, true);
  EXPECT_GT(moves, 4);
  EXPECT_LT(moves, 12);
  turn(60s); // it has had its core for long
  EXPECT_TRUE(turn(4ms, true));
  EXPECT_FALSE(turn(4ms, true));
  EXPECT_TRUE(turn(8ms, true)); // soon again
}

TEST(MoveToAnotherCore, goes_on_elsewhere_and_may_come_back) {
  cpu_set_t before, behind;
  ASSERT_EQ(sched_getaffinity(0, sizeof(before), &before), 0);
  if (CPU_COUNT(&before) < 2)
    GTEST_SKIP() << "there is one core";
  bool moved = false;
  for (int i = 0; i < 20; ++i) {
    const int core = sched_getcpu();
    gmpi::move_to_another_core();
    moved |= sched_getcpu() != core;
    ASSERT_EQ(sched_getaffinity(0, sizeof(behind), &behind), 0);
    ASSERT_TRUE(CPU_EQUAL(&before, &behind));
  }
  EXPECT_TRUE(moved);
}

} // namespace
