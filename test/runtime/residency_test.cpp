// Which kernels are certain to be resident beside each other.
#include "launch/residency.hpp"

#include <gtest/gtest.h>

using gmpi::launch::all_find_room;

TEST(Residency, OneKernelMayFillTheDevice) {
  EXPECT_TRUE(all_find_room({{264, 2}}, 132));
  EXPECT_FALSE(all_find_room({{265, 2}}, 132));
}

TEST(Residency, SmallKernelsFitTogether) {
  EXPECT_TRUE(all_find_room({{2, 32}, {2, 32}, {2, 32}}, 132));
}

TEST(Residency, HalfTheDeviceEachInSmallBlocks) {
  EXPECT_TRUE(all_find_room({{400, 8}, {400, 8}}, 132));
  EXPECT_FALSE(all_find_room({{600, 8}, {600, 8}}, 132));
}

TEST(Residency, ABlockThatNeedsAWholeMultiprocessorFindsNoneHalfFull) {
  // 66 small blocks may lie on 66 multiprocessors: 66 remain.
  EXPECT_TRUE(all_find_room({{66, 1}, {66, 8}}, 132));
  EXPECT_FALSE(all_find_room({{67, 1}, {66, 8}}, 132));
}

TEST(Residency, OnlyWholeBlocksOfOthersAreInTheWay) {
  // However thinly its 10 blocks are spread, a kernel is in the way of 10 multiprocessors at most.
  EXPECT_TRUE(all_find_room({{122, 1}, {10, 1}}, 132));
  EXPECT_FALSE(all_find_room({{123, 1}, {10, 1}}, 132));
}
