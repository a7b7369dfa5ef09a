// Which allocations ranks map from each other: the hosts' part, with two ranks in one process, and
// what kernels find of it.
#include "peer/channel/offers_device.hpp"
#include "peer/hosts/offers.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace {

using namespace gmpi::peer;
namespace device = gmpi::device::peer;

constexpr std::size_t bytes = 300000;

struct Rank {
  std::unique_ptr<State> state{new State{}};
  std::vector<Offer> shared = std::vector<Offer>(max_offers);
  Offers offers;

  explicit Rank(int rank) {
    state->offers = shared.data();
    offers.start(0, rank, state.get(), shared.data());
    offers.set_peer(rank, shared.data());
  }
};

/// What is done meanwhile by another thread.
template <class Condition> bool comes_true(Condition condition) {
  for (int i = 0; i < 5000; ++i) {
    if (condition())
      return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return false;
}

struct PeerOffers : testing::Test {
  Rank a{0}, b{1};
  unsigned char *memory = nullptr;

  PeerOffers() {
    a.offers.set_peer(1, b.shared.data());
    b.offers.set_peer(0, a.shared.data());
    EXPECT_EQ(cudaMalloc(&memory, bytes), cudaSuccess);
  }
  ~PeerOffers() override { cudaFree(memory); }

  static std::uint64_t address(const void *p) { return reinterpret_cast<std::uint64_t>(p); }
  /// What a kernel of b's finds.
  Match find(const unsigned char *data, unsigned long long length) {
    return device::find_offer(*b.state, data, length, offset);
  }
  Match offer(unsigned char *data) {
    b.offers.offer(address(data));
    EXPECT_TRUE(comes_true([&] { return find(data, 1).number != 0; }));
    return find(data, 1);
  }
  device::Packet mapped(const Match &match) {
    return device::Packet::load(a.state->mapped[1][match.place]);
  }
  void map(const Match &match) {
    a.offers.map(1 | std::uint64_t(match.place) << 8 | std::uint64_t(match.number) << 16);
  }
  unsigned long long offset = 0;
};

TEST_F(PeerOffers, an_allocation_is_found_wherever_data_lies_in_it) {
  EXPECT_EQ(find(memory, 1).number, 0u);
  Match match = offer(memory + 1234);
  EXPECT_EQ(find(memory + 299999, 1).number, match.number);
  EXPECT_EQ(offset, 299999u);
  EXPECT_EQ(find(memory, bytes).number, match.number);
  EXPECT_EQ(find(memory, bytes + 1).number, 0u);
  EXPECT_EQ(find(memory + bytes, 1).number, 0u);
  EXPECT_EQ(find(memory - 1, 1).number, 0u);
}

TEST_F(PeerOffers, what_is_stored_where_it_is_mapped_is_in_the_allocation) {
  Match match = offer(memory);
  map(match);
  ASSERT_TRUE(comes_true([&] { return mapped(match).shows(match.number); }));
  auto *theirs = reinterpret_cast<unsigned char *>(mapped(match).data());
  EXPECT_NE(theirs, memory);
  theirs[0] = 3;
  theirs[bytes - 1] = 4;
  EXPECT_EQ(memory[0], 3);
  EXPECT_EQ(memory[bytes - 1], 4);
}

TEST_F(PeerOffers, a_rank_stores_into_its_own_allocation) {
  Match match = offer(memory);
  b.offers.map(1 | std::uint64_t(match.place) << 8 | std::uint64_t(match.number) << 16);
  auto own = [&] { return device::Packet::load(b.state->mapped[1][match.place]); };
  ASSERT_TRUE(comes_true([&] { return own().shows(match.number); }));
  EXPECT_EQ(own().data(), address(memory));
}

TEST_F(PeerOffers, the_next_launch_takes_back_what_has_been_freed) {
  Match first = offer(memory);
  map(first);
  ASSERT_TRUE(comes_true([&] { return mapped(first).shows(first.number); }));
  b.offers.before_launch();
  EXPECT_EQ(find(memory, 1).number, first.number);
  b.state->asked[3] = 5;
  cudaFree(memory);
  b.offers.before_launch();
  EXPECT_EQ(find(memory, 1).number, 0u);
  EXPECT_EQ(b.state->asked[3], 0u); // kernels may ask again
  map(first);                       // too late
  ASSERT_EQ(cudaMalloc(&memory, bytes), cudaSuccess);
  Match second = offer(memory);
  EXPECT_EQ(second.place, first.place);
  EXPECT_NE(second.number, first.number);
  map(second);
  ASSERT_TRUE(comes_true([&] { return mapped(second).shows(second.number); }));
  reinterpret_cast<unsigned char *>(mapped(second).data())[7] = 9;
  EXPECT_EQ(memory[7], 9);
}

/// How often this process has files' memory mapped.
int mappings() {
  std::ifstream maps("/proc/self/maps");
  int count = 0;
  for (std::string line; std::getline(maps, line);)
    count += line.find("gmpi-device-memory") != std::string::npos;
  return count;
}

TEST_F(PeerOffers, what_has_been_taken_back_is_unmapped_when_something_is_freed) {
  Match first = offer(memory);
  const int before = mappings();
  map(first);
  ASSERT_TRUE(comes_true([&] { return mapped(first).shows(first.number); }));
  EXPECT_EQ(mappings(), before + 1);
  a.offers.after_free(); // something else
  EXPECT_EQ(mappings(), before + 1);
  cudaFree(memory);
  b.offers.after_free();
  EXPECT_EQ(find(memory, 1).number, 0u); // without a launch
  EXPECT_EQ(mappings(), before);         // the allocation's own is gone
  a.offers.after_free();
  EXPECT_EQ(mappings(), before - 1);
  ASSERT_EQ(cudaMalloc(&memory, bytes), cudaSuccess);
}

TEST_F(PeerOffers, what_cannot_be_mapped_is_said) {
  EXPECT_EQ(b.offers.refusal(), "");
  unsigned char *managed = nullptr;
  ASSERT_EQ(cudaMallocManaged(&managed, bytes), cudaSuccess);
  b.offers.offer(address(managed));
  EXPECT_TRUE(comes_true([&] { return !b.offers.refusal().empty(); }));
  EXPECT_EQ(b.offers.refusal(), "a buffer is not in memory of cudaMalloc's");
  EXPECT_EQ(find(managed, 1).number, 0u);
  cudaFree(managed);
}

/// The kernel that asked for it may have ended before its host looks.
TEST_F(PeerOffers, what_has_been_freed_is_not_said) {
  unsigned char *freed = nullptr;
  ASSERT_EQ(cudaMalloc(&freed, bytes), cudaSuccess);
  cudaFree(freed);
  b.offers.offer(address(freed));
  b.offers.offer(address(memory)); // in their order
  EXPECT_TRUE(comes_true([&] { return find(memory, 1).number != 0; }));
  EXPECT_EQ(b.offers.refusal(), "");
  static unsigned char variable[8]; // of which CUDA has not been told
  b.offers.offer(address(variable));
  EXPECT_TRUE(comes_true([&] { return !b.offers.refusal().empty(); }));
}

TEST_F(PeerOffers, there_are_only_so_many) {
  std::vector<unsigned char *> many(max_offers + 1);
  for (unsigned char *&one : many)
    ASSERT_EQ(cudaMalloc(&one, 1000), cudaSuccess);
  for (std::uint32_t i = 0; i < max_offers; ++i)
    EXPECT_EQ(offer(many[i]).place, i);
  b.offers.offer(address(many[max_offers]));
  EXPECT_TRUE(comes_true([&] { return !b.offers.refusal().empty(); }));
  EXPECT_EQ(b.offers.refusal(), "more than 64 allocations receive long messages");
  cudaFree(many[5]);
  b.offers.before_launch();
  EXPECT_EQ(offer(many[max_offers]).place, 5u);
  many[5] = nullptr;
  for (unsigned char *one : many)
    cudaFree(one);
}

} // namespace
