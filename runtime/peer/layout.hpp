// The peer transport: messages from GPU to GPU of one host, with no host on the way. What a rank's
// memory holds for the others, beside the rings of the channels (channel/ring.hpp). Host and
// device. (For ranks of several hosts see relay_link.hpp: what kernels see is the same.)
//
// Invariant: a word has one writer at a time, the rank that it is for or the one that it comes from,
// and shows by a lap, a serial or a count that what it says is new.
#pragma once

#include "channel/header.hpp"

namespace gmpi::peer {

/// So many of a rank's allocations the others can map at a time.
constexpr std::uint32_t max_offers = 64;

/// Never what an acknowledgement's packet shows that has been cleared.
GMPI_HOST_DEVICE constexpr std::uint32_t lap_of_serial(std::uint32_t serial) {
  return (serial & 0xffff) | 0x10000;
}

/// The answer to a message that waits for its match: two packets, of which the first names the
/// request that has matched, and which use of it; and, for the data of an announced message, one of
/// the receiver's offers, by its place and number (0: none). The second says how far behind that
/// allocation's begin the data belongs.
constexpr std::uint32_t ack_packets = 2;
struct Match {
  std::uint32_t request, serial, place, number;
};
/// Instead of an offer's place, where there is none: the message is to be streamed. Then the second
/// packet says which is its first bundle.
constexpr std::uint32_t streamed_place = 1;
/// Where the answer to a rank's request is written, in its memory for these.
GMPI_HOST_DEVICE inline std::uint64_t *ack_at(std::uint64_t *acks, std::uint32_t request) {
  return acks + request * ack_packets * packet_words;
}
GMPI_HOST_DEVICE constexpr std::uint64_t pack_match(const Match &match) {
  static_assert(max_requests <= 1u << 10 && max_offers <= 1u << 6);
  return match.request | std::uint64_t(match.place) << 10 |
         std::uint64_t(match.serial & 0xffff) << 16 | std::uint64_t(match.number) << 32;
}
GMPI_HOST_DEVICE constexpr Match unpack_match(std::uint64_t word) {
  const auto low = static_cast<std::uint32_t>(word);
  return {low & 0x3ff, low >> 16, low >> 10 & 0x3f, static_cast<std::uint32_t>(word >> 32)};
}

/// An allocation of the program's that other ranks can map, so that their kernels store long
/// messages where they belong. Words as packets, with the offer's number for their lap: what shows
/// one number is whole. Numbers are never used again. Host threads write it, kernels read it.
struct Offer {
  std::uint64_t begin[packet_words];
  std::uint64_t bytes[packet_words];
  std::uint64_t handle[8]; ///< an ExportHandle; who has seen the number before and behind has it
};

/// What a rank's memory holds for the others to read or write, by offset in bytes.
struct Shared {
  std::uint32_t ranks; ///< on this host

  static constexpr std::size_t channel_bytes =
      std::size_t(channel_slots) * slot_packets * packet_words * sizeof(std::uint64_t);
  static constexpr std::size_t freed_bytes = channel_slots * sizeof(std::uint32_t);
  static constexpr std::size_t acks_bytes =
      max_requests * ack_packets * packet_words * sizeof(std::uint64_t);
  static constexpr std::size_t landed_words = acks_bytes / sizeof(std::uint64_t);
  static constexpr std::size_t landed_bytes = max_requests * packet_words * sizeof(std::uint64_t);
  static constexpr std::size_t tokens_bytes = max_peers * wide_tokens * sizeof(std::uint32_t);
  static constexpr std::size_t stream_bytes =
      std::size_t(stream_slots) * bundle_packets * packet_words * sizeof(std::uint64_t);
  static constexpr std::size_t stream_freed_bytes = stream_slots * sizeof(std::uint32_t);

  /// Packets from rank `source`, in its common or owned channel.
  std::size_t channel(std::uint32_t source, bool owned) const {
    return (source + (owned ? ranks : 0)) * channel_bytes;
  }
  /// How often rank `destination` has freed each slot of the channel to it.
  std::size_t freed(std::uint32_t destination, bool owned) const {
    return 2 * ranks * channel_bytes + (destination + (owned ? ranks : 0)) * freed_bytes;
  }
  /// By request of this rank's: what has matched it; and, landed_words behind that, a packet that
  /// shows the request's serial once its data has been stored.
  std::size_t acks() const { return freed(ranks, true); }
  /// This rank's offers, for the others' hosts; behind the tokens that the others give back.
  std::size_t offers() const { return acks() + acks_bytes + landed_bytes + tokens_bytes; }
  /// The stream from rank `source`; and how often rank `destination` has freed each place of the one
  /// to it.
  std::size_t stream(std::uint32_t source) const {
    return offers() + max_offers * sizeof(Offer) + source * stream_bytes;
  }
  std::size_t stream_freed(std::uint32_t destination) const {
    return stream(ranks) + destination * stream_freed_bytes;
  }
  std::size_t bytes() const { return stream_freed(ranks); }
};

/// Where the receiver `to` of a rank's wide messages writes which use of a token has come back, in
/// that rank's memory, whose `acks` these are.
GMPI_HOST_DEVICE inline std::uint32_t *token_at(std::uint64_t *acks, std::uint32_t to,
                                                std::uint32_t token) {
  auto *const tokens = reinterpret_cast<std::uint32_t *>(
      acks + (Shared::acks_bytes + Shared::landed_bytes) / sizeof(std::uint64_t));
  return tokens + to * wide_tokens + token;
}

/// The channels to and from another rank, or this one itself, of one kind.
struct Channel {
  std::uint64_t *out;       ///< packets to it, in its memory, or for the relay
  std::uint32_t *out_freed; ///< in ours
  std::uint64_t *in;        ///< packets from it, in ours
  std::uint32_t *in_freed;  ///< in its memory, or for the relay
};

} // namespace gmpi::peer
