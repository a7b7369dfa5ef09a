// Replies with both ends on the host: their turns, which outlive a slot's uses, parts that arrive
// late, data that comes with them.
#include "numbered_reply.hpp"
#include "queue_memory.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <thread>

using namespace gmpi;

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
  EXPECT_FALSE(device::try_reply(memory.context, slot, memory.records[slot].turn, true, reply));
  memory.reply(slot, 3, numbered(3));
  ASSERT_TRUE(device::try_reply(memory.context, slot, memory.records[slot].turn, true, reply));
  EXPECT_TRUE(is_number(reply, 3));
}

/// The first two words are enough where nothing else is asked for, and come last.
TEST(Replies, partly_arrived) {
  for (ReplyKind kind : {ReplyKind::done, ReplyKind::answer, ReplyKind::accepted}) {
    QueueMemory memory;
    Reply reply;
    for (int missing : {8, 2, 1}) {
      memory.reply(3, 1, numbered(4, kind), missing);
      ASSERT_FALSE(device::try_reply(memory.context, 3, 0, false, reply)) << missing;
      ASSERT_FALSE(device::try_reply(memory.context, 3, 0, true, reply)) << missing;
      ASSERT_EQ(memory.records[3].turn, 0u);
    }
    memory.reply(3, 1, numbered(4, kind));
    ASSERT_TRUE(device::try_reply(memory.context, 3, 0, false, reply));
    EXPECT_EQ(reply.kind, kind);
    EXPECT_EQ(reply.bytes, 4u);
    EXPECT_EQ(reply.error, -4);
  }
}

/// What the host stores, and where its fences stand: each word once, the first two last of all.
TEST(Replies, order_of_stores) {
  for (std::uint32_t count : {reply_words, reply_words + 2, reply_words + reply_data_words}) {
    std::vector<std::uint32_t> stored, at_fences;
    store_reply(
        count, [&](std::uint32_t i) { stored.push_back(i); },
        [&] { at_fences.push_back(static_cast<std::uint32_t>(stored.size())); });
    ASSERT_EQ(at_fences, (std::vector<std::uint32_t>{count - 2, count}));
    std::sort(stored.begin(), stored.end() - 2);
    EXPECT_EQ(stored[0], 2u);
    EXPECT_EQ(stored[count - 3], count - 1);
    EXPECT_EQ(std::adjacent_find(stored.begin(), stored.end() - 2), stored.end() - 2);
    std::sort(stored.end() - 2, stored.end());
    EXPECT_EQ(stored[count - 2], 0u);
    EXPECT_EQ(stored[count - 1], 1u);
  }
}

/// Only one of the first two words is new: PCIe may deliver them in any order.
TEST(Replies, half_a_head) {
  for (int arrived : {0, 1}) {
    QueueMemory memory;
    std::uint64_t words[reply_words];
    pack(numbered(1), 1, words);
    memory.replies[3 * reply_stride + arrived] = words[arrived];
    Reply reply;
    EXPECT_FALSE(device::try_reply(memory.context, 3, 0, false, reply));
  }
}

/// Data of up to ten bytes in the first two words, of up to 1488 behind the Reply.
TEST(Replies, data) {
  unsigned char data[reply_data_bytes], got[reply_data_bytes];
  for (std::uint32_t i = 0; i < reply_data_bytes; ++i)
    data[i] = static_cast<unsigned char>(200 - i * 7);
  QueueMemory memory;
  std::uint32_t turn = 0;
  for (std::uint32_t bytes = 1; bytes <= reply_data_bytes; bytes += bytes < 14 ? 1 : 23) {
    bool here = bytes <= reply_head_bytes;
    Reply sent = numbered(bytes, here ? ReplyKind::done_here : ReplyKind::done_beside), reply;
    if (here)
      std::memcpy(sent.data, data, bytes);
    memory.reply(3, turn + 1, sent, 0, here ? nullptr : data);
    ASSERT_TRUE(device::try_reply(memory.context, 3, turn++, true, reply));
    EXPECT_EQ(reply.kind, sent.kind);
    ASSERT_EQ(reply.bytes, bytes);
    EXPECT_EQ(reply.error, here ? MPI_SUCCESS : sent.error);
    EXPECT_EQ(reply.tag, sent.tag);
    EXPECT_EQ(reply.message_bytes, sent.message_bytes);
    if (here)
      std::memcpy(got, reply.data, bytes);
    else
      device::read_beside(memory.context, 3, bytes, got);
    ASSERT_EQ(std::memcmp(got, data, bytes), 0) << bytes;
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
