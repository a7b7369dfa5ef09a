// Request slots with both ends on the host: each held once, waiting for one, slots that the host
// gives back.
#include "queue_memory.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <random>
#include <set>
#include <thread>

using namespace gmpi;

namespace {

constexpr std::uint32_t usable = request_slots - common_slots;

/// Whether anybody holds each slot; counts what must not happen.
struct Holders {
  std::vector<std::atomic<bool>> held = std::vector<std::atomic<bool>>(request_slots);
  std::atomic<int> wrong{0};

  void take(std::uint32_t slot) {
    if (slot < common_slots || slot >= request_slots || held[slot].exchange(true))
      ++wrong;
  }
  void give(std::uint32_t slot) { held[slot] = false; }
};

} // namespace

TEST(RequestSlots, all_different_and_none_of_the_launches_or_blocks) {
  QueueMemory memory;
  std::set<std::uint32_t> slots;
  for (std::uint32_t i = 0; i < usable; ++i)
    slots.insert(device::acquire_slot(memory.context));
  EXPECT_EQ(slots.size(), usable);
  EXPECT_EQ(*slots.begin(), common_slots);
  EXPECT_EQ(*slots.rbegin(), request_slots - 1);
}

TEST(RequestSlots, a_block_keeps_one_of_its_own_or_none) {
  QueueMemory memory;
  std::set<std::uint32_t> slots;
  for (std::uint32_t i = 0; i < block_slots; ++i)
    slots.insert(device::acquire_block_slot(memory.context));
  EXPECT_EQ(slots.size(), block_slots);
  EXPECT_EQ(*slots.begin(), launch_slots);
  EXPECT_EQ(*slots.rbegin(), common_slots - 1);
  EXPECT_EQ(device::acquire_block_slot(memory.context), device::no_slot);
  device::release_slot(memory.context, 200);
  EXPECT_EQ(device::acquire_block_slot(memory.context), 200u);
  EXPECT_EQ(device::acquire_slot(memory.context), common_slots) << "the others are untouched";
}

TEST(RequestSlots, serial_counts_uses_that_are_over) {
  QueueMemory memory;
  std::uint32_t slot = device::acquire_slot(memory.context);
  std::uint32_t serial = memory.records[slot].serial;
  device::release_slot(memory.context, slot);
  EXPECT_EQ(memory.records[slot].serial, serial + 1) << "it is a request's until another has it";
  ASSERT_EQ(device::acquire_slot(memory.context), slot);
  EXPECT_EQ(memory.records[slot].serial, serial + 1);
}

TEST(RequestSlots, waits_for_a_released_one) {
  QueueMemory memory;
  for (std::uint32_t i = 0; i < usable; ++i)
    device::acquire_slot(memory.context);
  std::atomic<std::uint32_t> got{0};
  std::thread waiting([&] { got = device::acquire_slot(memory.context); });
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_EQ(got, 0u);
  device::release_slot(memory.context, 777);
  waiting.join();
  EXPECT_EQ(got, 777u);
}

/// Those who wait are served in turn, and nobody who only tries comes between.
TEST(RequestSlots, first_come_first_served) {
  QueueMemory memory;
  for (std::uint32_t i = 0; i < usable; ++i)
    ASSERT_NE(device::try_acquire_slot(memory.context), device::no_slot);
  EXPECT_EQ(device::try_acquire_slot(memory.context), device::no_slot);
  std::atomic<std::uint32_t> got[3] = {};
  std::vector<std::thread> waiting;
  for (std::uint32_t i = 0; i < 3; ++i) {
    waiting.emplace_back([&, i] { got[i] = device::acquire_slot(memory.context); });
    while (device::load_relaxed_device(&memory.slot_queue.asked) != usable + i + 1)
      std::this_thread::yield();
  }
  EXPECT_EQ(device::try_acquire_slot(memory.context), device::no_slot);
  for (std::uint32_t i = 0; i < 3; ++i) {
    device::release_slot(memory.context, 500 + i);
    waiting[i].join();
    EXPECT_EQ(got[i], 500 + i);
  }
  EXPECT_EQ(device::try_acquire_slot(memory.context), device::no_slot);
  device::release_slot(memory.context, 600);
  EXPECT_EQ(device::try_acquire_slot(memory.context), 600u);
}
/// A block's own is no slot for them.
TEST(RequestSlots, a_blocks_slot_is_given_back_to_blocks) {
  QueueMemory memory;
  for (std::uint32_t i = 0; i < usable; ++i)
    device::acquire_slot(memory.context);
  device::release_slot(memory.context, device::acquire_block_slot(memory.context));
  EXPECT_EQ(device::try_acquire_slot(memory.context), device::no_slot);
}
/// What a reserve has goes first, and all of it comes back.
TEST(RequestSlots, a_reserve_keeps_some) {
  QueueMemory memory;
  SlotReserve reserve{};
  device::NewSlot slot;
  ASSERT_TRUE(device::take_slot_at_once(memory.context, reserve, slot)); // one that is free
  EXPECT_EQ(slot.serial, memory.records[slot.slot].serial);
  reserve.allowed = memory.slot_queue.reserved = 3;
  reserve.of[reserve.count++] = slot;
  device::NewSlot again;
  ASSERT_TRUE(device::take_slot_at_once(memory.context, reserve, again));
  EXPECT_EQ(again.slot, slot.slot);
  EXPECT_EQ(reserve.count, 0u);
  reserve.of[reserve.count++] = again;
  for (std::uint32_t i = 1; i < usable; ++i)
    ASSERT_NE(device::try_acquire_slot(memory.context), device::no_slot);
  EXPECT_EQ(device::try_acquire_slot(memory.context), device::no_slot); // it is the reserve's
  device::release_reserve(memory.context, reserve);
  EXPECT_EQ(memory.slot_queue.reserved, 0u);
  EXPECT_EQ(device::try_acquire_slot(memory.context), slot.slot);
  EXPECT_FALSE(device::take_slot_at_once(memory.context, reserve, slot)); // there is none
}
TEST(RequestSlots, counts_wrap) {
  QueueMemory memory;
  memory.slot_queue = {0xfffffffeu, 0xfffffffeu + usable, 0, 0};
  for (int i = 0; i < 4; ++i) {
    std::uint32_t slot = device::acquire_slot(memory.context);
    device::release_slot(memory.context, slot);
    slot = device::try_acquire_slot(memory.context);
    ASSERT_NE(slot, device::no_slot);
    device::release_slot(memory.context, slot);
  }
}

/// The turn comes back with the slot: the host has used up Replies that no kernel has seen.
TEST(RequestSlots, waits_for_one_from_the_host) {
  QueueMemory memory;
  for (std::uint32_t i = 0; i < usable; ++i)
    device::acquire_slot(memory.context);
  for (std::uint32_t turn : {7u, 0xffffu, 0u}) {
    std::thread waiting([&] {
      EXPECT_EQ(device::acquire_slot(memory.context), 300u);
      EXPECT_EQ(memory.records[300].turn, turn);
    });
    memory.release_from_host(300, turn);
    waiting.join();
  }
}

TEST(RequestSlots, many_threads) {
  QueueMemory memory;
  Holders holders;
  constexpr int threads = 4, rounds = 300;
  std::vector<std::thread> all;
  for (int t = 0; t < threads; ++t)
    all.emplace_back([&, t] {
      std::minstd_rand random(t + 1);
      std::vector<std::uint32_t> mine;
      for (int round = 0; round < rounds; ++round) {
        // Together they want more than there are at times; nobody waits while holding all.
        std::size_t wanted = 1 + random() % (usable / threads);
        while (mine.size() < wanted) {
          mine.push_back(device::acquire_slot(memory.context));
          holders.take(mine.back());
          memory.records[mine.back()].out = &mine; // a record is its slot's holder's
        }
        while (mine.size() > wanted / 2) {
          std::uint32_t slot = mine.back();
          mine.pop_back();
          holders.wrong += memory.records[slot].out != &mine;
          holders.give(slot);
          device::release_slot(memory.context, slot);
        }
      }
    });
  for (std::thread &thread : all)
    thread.join();
  EXPECT_EQ(holders.wrong, 0);
}

/// Kernels keep all slots busy; half of them are given back by the host.
TEST(RequestSlots, many_threads_and_the_host) {
  QueueMemory memory;
  Holders holders;
  constexpr int threads = 3, rounds = 4000;
  std::vector<std::atomic<bool>> for_host(request_slots);
  std::atomic<int> running{threads};
  std::vector<std::thread> all;
  for (int t = 0; t < threads; ++t)
    all.emplace_back([&, t] {
      std::minstd_rand random(t + 1);
      for (int round = 0; round < rounds; ++round) {
        std::uint32_t slot = device::acquire_slot(memory.context);
        holders.take(slot);
        holders.give(slot);
        if (random() % 2)
          for_host[slot] = true;
        else
          device::release_slot(memory.context, slot);
      }
      --running;
    });
  std::vector<std::uint32_t> uses(request_slots);
  while (running > 0)
    for (std::uint32_t slot = common_slots; slot < request_slots; ++slot)
      if (for_host[slot].exchange(false))
        memory.release_from_host(slot, ++uses[slot]);
  for (std::thread &thread : all)
    thread.join();
  EXPECT_EQ(holders.wrong, 0);
}
