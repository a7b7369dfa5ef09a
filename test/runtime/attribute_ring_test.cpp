// The Attribute ring with both ends on the host: order, laps, the generation's 16 bits, producers
// that wait for room, several producers at once, Attributes of which only a part has arrived.
#include "queue_memory.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <thread>

using namespace gmpi;

namespace {

/// Attribute number `n` of producer `producer`.
Attribute numbered(std::uint64_t n, std::uint32_t producer = 0) {
  Attribute attribute{};
  attribute.function = Function::Send;
  attribute.launch = producer;
  attribute.in_bytes = n;
  attribute.arguments.send_buffer = reinterpret_cast<void *>(n * 8);
  attribute.arguments.send_tag = -static_cast<int>(n % 1000);
  attribute.arguments.dest = static_cast<int>(producer);
  return attribute;
}

void expect_number(const Attribute &attribute, std::uint64_t n, std::uint32_t producer = 0) {
  Attribute wanted = numbered(n, producer);
  ASSERT_EQ(attribute.in_bytes, n);
  ASSERT_EQ(attribute.launch, producer);
  ASSERT_EQ(attribute.arguments.send_buffer, wanted.arguments.send_buffer);
  ASSERT_EQ(attribute.arguments.send_tag, wanted.arguments.send_tag);
  ASSERT_EQ(attribute.arguments.dest, wanted.arguments.dest);
}

Attribute take(AttributeRing &ring) {
  Attribute attribute{};
  while (!ring.peek(attribute))
    std::this_thread::yield();
  ring.release();
  return attribute;
}

/// Until `count` stands still at `value`; false if it never gets there or goes beyond.
bool comes_to_rest_at(const std::atomic<std::uint64_t> &count, std::uint64_t value) {
  auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (count < value && std::chrono::steady_clock::now() < end)
    std::this_thread::yield();
  std::this_thread::sleep_for(std::chrono::milliseconds(30));
  return count == value;
}

/// Posts and takes in bursts of changing length, through `laps` of the ring.
void go_round(std::uint64_t first, std::uint64_t laps) {
  QueueMemory memory(first);
  AttributeRing ring = memory.consumer();
  Attribute attribute;
  std::uint64_t posted = 0, taken = 0;
  while (taken < laps * ring_slots) {
    std::uint64_t burst = 1 + posted * 7919 % ring_slots;
    for (std::uint64_t i = 0; i < burst; ++i)
      device::post(memory.context, numbered(posted++));
    for (std::uint64_t i = 0; i < burst; ++i, ++taken) {
      ASSERT_TRUE(ring.peek(attribute)) << "Attribute " << taken;
      expect_number(attribute, taken);
      ring.release();
    }
    ASSERT_FALSE(ring.peek(attribute)) << "after Attribute " << taken;
    ring.publish();
  }
}

} // namespace

TEST(AttributeRing, empty_at_first) {
  QueueMemory memory;
  AttributeRing ring = memory.consumer();
  Attribute attribute;
  EXPECT_FALSE(ring.peek(attribute));
}

TEST(AttributeRing, peek_takes_nothing) {
  QueueMemory memory;
  AttributeRing ring = memory.consumer();
  device::post(memory.context, numbered(1));
  device::post(memory.context, numbered(2));
  Attribute attribute;
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(ring.peek(attribute));
    expect_number(attribute, 1);
  }
  ring.release();
  ASSERT_TRUE(ring.peek(attribute));
  expect_number(attribute, 2);
}

TEST(AttributeRing, laps) { go_round(0, 5); }
TEST(AttributeRing, laps_from_the_middle) { go_round(3 * ring_slots + 511, 3); }
TEST(AttributeRing, generation_wraps) { go_round(std::uint64_t(32765) * ring_slots + 17, 6); }
TEST(AttributeRing, generation_wraps_again) { go_round(std::uint64_t(0x17fff) * ring_slots, 2); }

/// Any set of words may arrive before the others.
TEST(AttributeRing, torn) {
  for (std::uint64_t first : {std::uint64_t(0), std::uint64_t(32767) * ring_slots}) {
    QueueMemory source(first), memory(first);
    device::post(source.context, numbered(0x123456789));
    AttributeRing ring = memory.consumer();
    std::vector<std::uint64_t> old(memory.ring);
    const std::size_t at = first % ring_slots * attribute_words;
    Attribute attribute;
    for (unsigned arrived = 0; arrived < 0xffff; ++arrived) {
      for (int i = 0; i < attribute_words; ++i)
        memory.ring[at + i] = (arrived >> i & 1 ? source.ring : old)[at + i];
      ASSERT_FALSE(ring.peek(attribute)) << std::hex << arrived;
    }
    std::copy_n(&source.ring[at], attribute_words, &memory.ring[at]);
    ASSERT_TRUE(ring.peek(attribute));
    expect_number(attribute, 0x123456789);
  }
}

/// Short data of any length and alignment comes out as it went in, whoever wrote the slot before.
TEST(AttributeRing, short_data) {
  QueueMemory memory(std::uint64_t(32767) * ring_slots - 100);
  AttributeRing ring = memory.consumer();
  std::vector<unsigned char> source(tagged_bytes + 16);
  for (std::size_t i = 0; i < source.size(); ++i)
    source[i] = static_cast<unsigned char>(i * 7 + i / 251);
  for (std::uint32_t n = 0; n < 3 * ring_slots; ++n) {
    Attribute attribute = numbered(n);
    attribute.inline_in = true;
    attribute.tagged = n % 3 != 0;
    std::uint32_t bytes = attribute.tagged ? 1 + n * 31 % tagged_bytes : 5000;
    attribute.in_bytes = bytes;
    const unsigned char *from = source.data() + n % 5;
    unsigned long long ticket = device::take_ticket(memory.context);
    if (!attribute.tagged) // looks like anything
      std::memset(device::ring_payload(memory.context, ticket), int(n), bytes);
    for (int rank = 3; attribute.tagged && rank-- > 0;)
      device::write_data(memory.context, ticket, from, static_cast<int>(bytes), rank, 3);
    device::write_attribute(memory.context, ticket, attribute);
    ASSERT_TRUE(ring.peek(attribute));
    if (attribute.tagged)
      ASSERT_EQ(std::memcmp(ring.data(), from, bytes), 0) << bytes << " bytes";
    else
      ASSERT_EQ(ring.data()[bytes - 1], static_cast<unsigned char>(n));
    ring.release();
  }
}

/// An Attribute waits for its data, of which any part may come last; nothing that lay there before
/// is taken for it.
TEST(AttributeRing, short_data_arrives_late) {
  for (std::uint32_t bytes : {1u, 6u, 7u, 12u, 13u, 100u}) {
    QueueMemory memory;
    AttributeRing ring = memory.consumer();
    std::vector<unsigned char> data(bytes, 0xab);
    Attribute attribute = numbered(1);
    attribute.inline_in = true;
    attribute.in_bytes = inline_bytes;
    for (std::uint32_t lap = 0; lap < 2;
         ++lap) { // plain data that looks like the lap after's words
      for (std::uint32_t i = 0; i < ring_slots; ++i) {
        unsigned long long ticket = device::take_ticket(memory.context);
        auto *words =
            reinterpret_cast<std::uint64_t *>(device::ring_payload(memory.context, ticket));
        std::fill_n(words, inline_bytes / 8,
                    tag_word(0x111111111111, ring_generation(ticket + ring_slots)));
        device::write_attribute(memory.context, ticket, attribute);
        take(ring);
      }
    }
    unsigned long long ticket = device::take_ticket(memory.context);
    attribute.tagged = true;
    attribute.in_bytes = bytes;
    device::write_attribute(memory.context, ticket, attribute);
    int pairs = static_cast<int>(words_for(bytes) + 1) / 2;
    for (int rank = pairs; rank-- > 0;) {
      ASSERT_FALSE(ring.peek(attribute)) << bytes << " bytes, pair " << rank;
      device::write_data(memory.context, ticket, data.data(), static_cast<int>(bytes), rank, pairs);
    }
    ASSERT_TRUE(ring.peek(attribute));
    EXPECT_EQ(std::memcmp(ring.data(), data.data(), bytes), 0);
  }
}

/// A ticket that is not written yet holds up those after it: the ring's order is the tickets'.
TEST(AttributeRing, order_is_the_tickets) {
  QueueMemory memory;
  AttributeRing ring = memory.consumer();
  unsigned long long first = device::take_ticket(memory.context);
  device::post(memory.context, numbered(2));
  Attribute attribute;
  EXPECT_FALSE(ring.peek(attribute));
  device::write_attribute(memory.context, first, numbered(1));
  expect_number(take(ring), 1);
  expect_number(take(ring), 2);
}

TEST(AttributeRing, full) {
  for (std::uint64_t first : {std::uint64_t(0), std::uint64_t(32767) * ring_slots + 5}) {
    QueueMemory memory(first);
    AttributeRing ring = memory.consumer();
    std::atomic<std::uint64_t> posted{0};
    constexpr std::uint64_t total = 3 * ring_slots;
    std::thread producer([&] {
      for (std::uint64_t n = 0; n < total; ++n) {
        device::post(memory.context, numbered(n));
        ++posted;
      }
    });
    EXPECT_TRUE(comes_to_rest_at(posted, ring_slots)) << posted;
    std::uint64_t taken = 0;
    for (; taken < 5; ++taken)
      expect_number(take(ring), taken);
    ring.publish();
    EXPECT_TRUE(comes_to_rest_at(posted, ring_slots + 5)) << posted;
    for (; taken < total; ++taken) // release() publishes by itself, soon enough
      expect_number(take(ring), taken);
    producer.join();
  }
}

/// Data beside an Attribute is not overwritten before the Attribute has been released.
TEST(AttributeRing, producers) {
  constexpr std::uint32_t producers = 4;
  constexpr std::uint64_t each = 3 * ring_slots;
  QueueMemory memory(std::uint64_t(32766) * ring_slots + 1000);
  AttributeRing ring = memory.consumer();
  std::vector<std::thread> threads;
  for (std::uint32_t p = 0; p < producers; ++p)
    threads.emplace_back([&memory, p] {
      for (std::uint64_t n = 0; n < each; ++n) {
        unsigned long long ticket = device::take_ticket(memory.context);
        std::memset(device::ring_payload(memory.context, ticket), int(n + p), 64);
        device::write_attribute(memory.context, ticket, numbered(n, p));
      }
    });
  std::uint64_t next[producers] = {};
  for (std::uint64_t i = 0; i < producers * each; ++i) {
    Attribute attribute{};
    while (!ring.peek(attribute))
      std::this_thread::yield();
    ASSERT_LT(attribute.launch, producers);
    std::uint64_t &n = next[attribute.launch];
    expect_number(attribute, n, attribute.launch);
    const unsigned char *data = ring.data();
    for (int byte = 0; byte < 64; ++byte)
      ASSERT_EQ(data[byte], static_cast<unsigned char>(n + attribute.launch));
    ++n;
    ring.release();
  }
  for (std::thread &thread : threads)
    thread.join();
  for (std::uint64_t n : next)
    EXPECT_EQ(n, each);
  Attribute attribute;
  EXPECT_FALSE(ring.peek(attribute));
}
