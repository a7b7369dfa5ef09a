// The staging pool: disjoint pieces, first fit, free neighbours merged.
#include "transport/staging_pool.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <iterator>
#include <map>
#include <random>
#include <thread>
#include <vector>

using gmpi::StagingPool;

namespace {
constexpr std::size_t granule = StagingPool::granule;
// Only cut up, never touched, where a test does not need it to be memory.
unsigned char *const somewhere = reinterpret_cast<unsigned char *>(0x100000);
} // namespace

TEST(StagingPool, whole_granules_from_the_beginning) {
  StagingPool pool(somewhere, 8 * granule);
  EXPECT_EQ(pool.take(1), somewhere);
  EXPECT_EQ(pool.take(granule), somewhere + granule);
  EXPECT_EQ(pool.take(granule + 1), somewhere + 2 * granule);
  EXPECT_EQ(pool.take(3 * granule - 1), somewhere + 4 * granule);
  EXPECT_EQ(pool.take(granule), somewhere + 7 * granule);
  EXPECT_EQ(pool.take(1), nullptr);
}

TEST(StagingPool, first_that_fits) {
  StagingPool pool(somewhere, 10 * granule);
  unsigned char *a = pool.take(granule), *b = pool.take(granule), *c = pool.take(2 * granule);
  unsigned char *d = pool.take(granule);
  pool.give(a);
  pool.give(c);
  EXPECT_EQ(pool.take(2 * granule), c);
  EXPECT_EQ(pool.take(granule), a);
  EXPECT_EQ(pool.take(granule), d + granule);
  pool.give(b);
  EXPECT_EQ(pool.take(2 * granule), d + 2 * granule);
  EXPECT_EQ(pool.take(1), b);
}

/// Three neighbours given back in any order are one piece again.
TEST(StagingPool, merges) {
  int order[] = {0, 1, 2};
  do {
    StagingPool pool(somewhere, 5 * granule);
    unsigned char *before = pool.take(granule);
    unsigned char *pieces[] = {pool.take(granule), pool.take(granule), pool.take(granule)};
    unsigned char *behind = pool.take(granule);
    for (int i : order) {
      EXPECT_EQ(pool.take(3 * granule), nullptr);
      pool.give(pieces[i]);
    }
    EXPECT_EQ(pool.take(3 * granule), pieces[0]);
    EXPECT_EQ(pool.take(1), nullptr);
    pool.give(before);
    pool.give(behind);
    pool.give(pieces[0]);
    EXPECT_EQ(pool.take(5 * granule), somewhere);
  } while (std::next_permutation(std::begin(order), std::end(order)));
}

TEST(StagingPool, too_large_or_nothing_there) {
  StagingPool pool(somewhere, 3 * granule + 100);
  EXPECT_EQ(pool.take(3 * granule + 1), nullptr);
  EXPECT_EQ(pool.take(~std::size_t(0) / 2), nullptr);
  EXPECT_EQ(pool.take(3 * granule), somewhere);
  for (std::size_t bytes : {std::size_t(0), granule - 1}) {
    StagingPool none(nullptr, bytes);
    EXPECT_EQ(none.take(1), nullptr);
  }
}

TEST(StagingPool, many_random_pieces) {
  constexpr std::size_t granules = 200;
  StagingPool pool(somewhere, granules * granule);
  std::map<unsigned char *, std::size_t> held;
  std::minstd_rand random(1);
  int refused = 0;
  for (int i = 0; i < 50000; ++i) {
    if (random() % 2 == 0 && !held.empty()) {
      auto piece = std::next(held.begin(), random() % held.size());
      pool.give(piece->first);
      held.erase(piece);
      continue;
    }
    std::size_t bytes = 1 + random() % (20 * granule);
    unsigned char *piece = pool.take(bytes);
    if (piece == nullptr) {
      ++refused;
      continue;
    }
    auto next = held.lower_bound(piece);
    ASSERT_EQ((piece - somewhere) % granule, 0u);
    ASSERT_LE(piece + bytes, next == held.end() ? somewhere + granules * granule : next->first);
    if (next != held.begin()) {
      ASSERT_LE(std::prev(next)->first + std::prev(next)->second, piece);
    }
    held[piece] = bytes;
  }
  EXPECT_GT(refused, 100);
  for (auto [piece, bytes] : held)
    pool.give(piece);
  EXPECT_EQ(pool.take(granules * granule), somewhere);
}

TEST(StagingPool, threads) {
  constexpr int threads = 4, rounds = 500;
  std::vector<unsigned char> memory(16 * granule);
  StagingPool pool(memory.data(), memory.size());
  std::atomic<int> wrong{0};
  std::vector<std::thread> all;
  for (int t = 1; t <= threads; ++t)
    all.emplace_back([&, t] {
      std::minstd_rand random(t);
      for (int round = 0; round < rounds; ++round) {
        std::size_t bytes = 1 + random() % (8 * granule);
        unsigned char *piece = pool.take(bytes);
        if (piece == nullptr)
          continue;
        std::memset(piece, t, bytes);
        std::this_thread::yield();
        for (std::size_t i = 0; i < bytes; ++i)
          wrong += piece[i] != t;
        pool.give(piece);
      }
    });
  for (std::thread &thread : all)
    thread.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(pool.take(memory.size()), memory.data());
}
