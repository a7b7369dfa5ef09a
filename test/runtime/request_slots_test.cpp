// Request slots with both ends on the host: each held once, waiting for one, slots that the host
// gives back, and Replies, whose turns outlive a slot's uses.
#include "queue_memory.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <random>
#include <set>
#include <thread>

using namespace gmpi;

namespace {

constexpr std::uint32_t usable = request_slots - launch_slots;

/// Whether anybody holds each slot; counts what must not happen.
struct Holders {
  std::vector<std::atomic<bool>> held = std::vector<std::atomic<bool>>(request_slots);
  std::atomic<int> wrong{0};

  void take(std::uint32_t slot) {
    if (slot < launch_slots || slot >= request_slots || held[slot].exchange(true))
      ++wrong;
  }
  void give(std::uint32_t slot) { held[slot] = false; }
};

Reply numbered(std::uint64_t n, ReplyKind kind = ReplyKind::copy_out) {
  Reply reply{};
  reply.kind = kind;
  reply.error = -static_cast<int>(n % 1000);
  reply.bytes = n;
  reply.address = reinterpret_cast<void *>(n * 16);
  reply.offset = n * 3;
  reply.source = static_cast<int>(n % 77);
  reply.tag = static_cast<int>(n);
  reply.message_bytes = n * 5;
  return reply;
}

bool is_number(const Reply &reply, std::uint64_t n) {
  Reply wanted = numbered(n);
  return reply.error == wanted.error && reply.bytes == n && reply.address == wanted.address &&
         reply.offset == wanted.offset && reply.source == wanted.source && reply.tag == wanted.tag &&
         reply.message_bytes == wanted.message_bytes;
}

} // namespace

TEST(RequestSlots, all_different_and_none_of_the_launches) {
  QueueMemory memory;
  std::set<std::uint32_t> slots;
  for (std::uint32_t i = 0; i < usable; ++i)
    slots.insert(device::acquire_slot(memory.context));
  EXPECT_EQ(slots.size(), usable);
  EXPECT_EQ(*slots.begin(), launch_slots);
  EXPECT_EQ(*slots.rbegin(), request_slots - 1);
}

TEST(RequestSlots, serial_counts_uses) {
  QueueMemory memory;
  std::uint32_t slot = device::acquire_slot(memory.context);
  std::uint32_t serial = memory.records[slot].serial;
  device::release_slot(memory.context, slot);
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
    for (std::uint32_t slot = launch_slots; slot < request_slots; ++slot)
      if (for_host[slot].exchange(false))
        memory.release_from_host(slot, ++uses[slot]);
  for (std::thread &thread : all)
    thread.join();
  EXPECT_EQ(holders.wrong, 0);
}

TEST(Replies, none_yet) {
  QueueMemory memory;
  Reply reply;
  EXPECT_FALSE(device::try_reply(memory.context, 5, 0, true, reply));
  memory.reply(6, 1, numbered(1));
  EXPECT_FALSE(device::try_reply(memory.context, 5, 0, true, reply));
}

TEST(Replies, each_once_and_across_the_wrap) {
  QueueMemory memory;
  std::uint32_t turn = 0xfffd;
  memory.reply(9, turn, numbered(0));
  for (std::uint64_t n = 1; n < 8; ++n) {
    Reply reply;
    // The one before is still there, to whoever holds the slot now as to who held it then.
    ASSERT_FALSE(device::try_reply(memory.context, 9, turn, true, reply)) << turn;
    memory.reply(9, turn + 1, numbered(n));
    ASSERT_TRUE(device::try_reply(memory.context, 9, turn, true, reply)) << turn;
    EXPECT_TRUE(is_number(reply, n));
    turn = memory.records[9].turn;
    EXPECT_EQ(turn, (0xfffd + n) & 0xffff);
  }
}

/// A slot's next holder counts on from its record, whatever became of the Replies before.
TEST(Replies, stale_ones_are_not_for_the_next_holder) {
  QueueMemory memory;
  std::uint32_t slot = device::acquire_slot(memory.context);
  memory.reply(slot, 1, numbered(1));
  memory.reply(slot, 2, numbered(2)); // a host MPI_Wait has used both
  memory.release_from_host(slot, 2);
  device::collect_host_releases(memory.context);
  ASSERT_EQ(device::acquire_slot(memory.context), slot);
  Reply reply;
  EXPECT_FALSE(
      device::try_reply(memory.context, slot, memory.records[slot].turn, true, reply));
  memory.reply(slot, 3, numbered(3));
  ASSERT_TRUE(device::try_reply(memory.context, slot, memory.records[slot].turn, true, reply));
  EXPECT_TRUE(is_number(reply, 3));
}

/// The first two words are enough where nothing else is asked for.
TEST(Replies, partly_arrived) {
  for (ReplyKind kind : {ReplyKind::done, ReplyKind::answer, ReplyKind::accepted}) {
    QueueMemory memory;
    Reply reply;
    for (int missing : {8, 7}) {
      memory.reply(3, 1, numbered(4, kind), missing);
      ASSERT_FALSE(device::try_reply(memory.context, 3, 0, false, reply)) << missing;
      ASSERT_FALSE(device::try_reply(memory.context, 3, 0, true, reply)) << missing;
      ASSERT_EQ(memory.records[3].turn, 0u);
    }
    memory.reply(3, 1, numbered(4, kind), 6);
    ASSERT_TRUE(device::try_reply(memory.context, 3, 0, false, reply));
    EXPECT_EQ(reply.kind, kind);
    EXPECT_EQ(reply.bytes, 4u);
    EXPECT_EQ(reply.error, -4);
  }
}

/// Only the second word is new: PCIe may deliver them in any order.
TEST(Replies, second_word_first) {
  QueueMemory memory;
  std::uint64_t words[reply_words];
  pack(numbered(1), 1, words);
  memory.replies[3 * reply_words + 1] = words[1];
  Reply reply;
  EXPECT_FALSE(device::try_reply(memory.context, 3, 0, false, reply));
}

/// A status, or a copy's address, is awaited once the head is there.
TEST(Replies, rest_is_awaited) {
  for (bool want_status : {false, true})
    for (int missing : {6, 5, 4, 3, 2}) {
      QueueMemory memory;
      memory.reply(3, 1, numbered(0));
      memory.reply(3, 2, numbered(44, want_status ? ReplyKind::done : ReplyKind::copy_in), missing);
      std::thread host([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
        memory.reply(3, 2, numbered(44, want_status ? ReplyKind::done : ReplyKind::copy_in));
      });
      Reply reply;
      EXPECT_TRUE(device::try_reply(memory.context, 3, 1, want_status, reply));
      EXPECT_TRUE(is_number(reply, 44)) << missing;
      host.join();
    }
}

/// Both ends at once, through the generation's wrap. Data that comes with a Reply is there with it.
TEST(Replies, host_and_kernel_in_turn) {
  QueueMemory memory;
  constexpr std::uint32_t slot = 600, first = 0xff00, turns = 512;
  memory.records[slot].turn = first;
  memory.reply(slot, first, numbered(0));
  std::vector<std::uint64_t> data(64);
  std::atomic<std::uint64_t> seen{0};
  std::thread host([&] {
    for (std::uint64_t n = 1; n <= turns; ++n) {
      for (std::uint64_t &word : data)
        word = n;
      memory.reply(slot, first + n, numbered(n));
      while (seen < n)
        std::this_thread::yield();
    }
  });
  int wrong = 0;
  for (std::uint64_t n = 1; n <= turns; ++n) {
    Reply reply;
    while (!device::try_reply(memory.context, slot, memory.records[slot].turn, true, reply))
      std::this_thread::yield();
    wrong += !is_number(reply, n);
    for (std::uint64_t word : data)
      wrong += word != n;
    seen = n;
  }
  host.join();
  EXPECT_EQ(wrong, 0);
}
