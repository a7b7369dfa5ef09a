// The memory that kernels and proxy share, as ordinary memory, so that a test can play both ends of
// the queue's protocols: a thread of the host runs the producers' code as well as the consumer's.
#pragma once

#include "queue/attribute_ring.hpp"
#include "queue/reply_device.hpp"

#include <vector>

struct QueueMemory {
  std::vector<std::uint64_t> ring, consumed, replies, host_releases;
  std::vector<unsigned char> ring_payload;
  std::vector<gmpi::RequestRecord> records;
  std::vector<std::uint32_t> free_slots, seen_releases;
  gmpi::RingState ring_state{};
  gmpi::SlotQueue slot_queue{0, gmpi::request_slots - gmpi::common_slots, 0, 0};
  gmpi::Context context{};

  /// As it is once `first` Attributes have gone through the ring.
  explicit QueueMemory(std::uint64_t first = 0)
      : ring(gmpi::ring_slots * gmpi::attribute_words), consumed(1, first),
        replies(gmpi::request_slots * gmpi::reply_stride), host_releases(gmpi::request_slots),
        ring_payload(std::size_t(gmpi::ring_slots) * gmpi::inline_bytes),
        records(gmpi::request_slots), free_slots(gmpi::request_slots / 32),
        seen_releases(gmpi::request_slots), ring_state{first, first, 0} {
    for (std::uint32_t slot = 0; slot < gmpi::ring_slots; ++slot) {
      std::uint64_t lap = first / gmpi::ring_slots + (slot < first % gmpi::ring_slots);
      for (int i = 0; i < gmpi::attribute_words; ++i)
        ring[slot * gmpi::attribute_words + i] =
            lap == 0 ? 0
                     : gmpi::tag_word(0x111111111111 * (i + 1),
                                      gmpi::ring_generation((lap - 1) * gmpi::ring_slots));
    }
    for (std::uint32_t slot = gmpi::launch_slots; slot < gmpi::request_slots; ++slot)
      free_slots[slot / 32] |= 1u << slot % 32;
    context.ring = ring.data();
    context.ring_state = &ring_state;
    context.ring_payload = ring_payload.data();
    context.consumed = consumed.data();
    context.replies = replies.data();
    context.host_releases = reinterpret_cast<gmpi::HostRelease *>(host_releases.data());
    context.records = records.data();
    context.free_slots = free_slots.data();
    context.slot_queue = &slot_queue;
    context.seen_releases = seen_releases.data();
  }
  QueueMemory(const QueueMemory &) = delete;

  gmpi::AttributeRing consumer() {
    return gmpi::AttributeRing(ring.data(), ring_payload.data(), consumed.data(), consumed[0]);
  }

  /// As the proxy replies, but for the `missing` words that it writes last.
  /// `data`: reply.bytes that lie behind it.
  void reply(std::uint32_t slot, std::uint32_t turn, const gmpi::Reply &reply, int missing = 0,
             const void *data = nullptr) {
    std::uint64_t words[gmpi::reply_stride];
    for (std::uint64_t &word : words)
      word = gmpi::tag_word(0, turn);
    gmpi::pack(reply, turn, words);
    if (data != nullptr)
      gmpi::pack_data(data, static_cast<std::uint32_t>(reply.bytes), turn,
                      words + gmpi::reply_words);
    for (int i = gmpi::reply_stride; i-- > missing;)
      __atomic_store_n(&replies[slot * gmpi::reply_stride + i], words[i], __ATOMIC_RELEASE);
  }

  /// As the proxy gives back a slot that a host call has finished with.
  void release_from_host(std::uint32_t slot, std::uint32_t turn) {
    std::uint64_t count = (host_releases[slot] + 1) & 0xffffffff;
    __atomic_store_n(&host_releases[slot], std::uint64_t(turn) << 32 | count, __ATOMIC_RELEASE);
    __atomic_fetch_add(&host_releases[0], 1, __ATOMIC_RELEASE);
  }
};
