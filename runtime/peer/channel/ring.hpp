// The ring of a channel: its slots and packets, what shows that they are whole and new, and how far
// both channels to a rank have been taken. Host and device.
//
// Invariant: a channel leads from one rank to another, through a ring of slots in the receiver's
// memory. Sixteen bytes, a packet, carry eight of data and, twice, their lap's number: half a
// packet arrives as one, so a packet whose two laps are right is whole and new, and nothing else
// guards it: no flag, no fence. (Between GPUs, where all sixteen arrive as one, a dense packet
// carries twelve, and its lap once.) A message takes whole slots that follow each other, its header
// the first packets. The sender writes slot number q once the receiver has freed it q /
// channel_slots times. A message's slots are carried portion by portion, from its first: the sender
// begins a portion when all its slots are free, and writes it whole; so where a portion's first
// packet is there, the rest is on its way. (The data of an announced message, and of an eager one
// to another host, lies there, or apart from the packets, as it is: portions_device.hpp.)
//
// Two channels lead from each rank to each. Of the common one, whoever sends takes slots by an
// atomic. The owned one belongs to one block, or launch, at a time, which needs none. A message
// says how far the other channel had been taken when its own slots were: it is not looked at before
// the receiver has come so far there. So messages keep the order in which they were sent, whichever
// channel each of them took.
#pragma once

#include "../../mpi/mpi_library.hpp"

#include <cstddef>
#include <cstdint>

namespace gmpi::peer {

constexpr std::uint32_t channel_slots = 4096; ///< a power of two
constexpr std::uint32_t slot_packets = 128;
constexpr std::uint32_t packet_words = 2; ///< of eight bytes
constexpr std::uint32_t packet_bytes = 8; ///< of data in a packet
constexpr std::uint32_t header_packets = 3;
/// Data of a message that takes one slot.
constexpr std::uint32_t slot_bytes = (slot_packets - header_packets) * packet_bytes;
constexpr std::uint32_t portion_slots = 16;
/// What a warp carries in four dense packets of each lane: three rows of 32 words of sixteen bytes.
/// Each of a lane's first three packets has twelve bytes of its word in that row; the fourth, the
/// last four of all three.
constexpr std::uint32_t bundle_packets = 4 * 32, bundle_bytes = 3 * 32 * 16;
/// Of a dense message, what is before the bundles, so that these begin at an address for 128 bytes.
/// The header is the first of it, and the rest means nothing. What is left of the data behind the
/// last whole bundle follows in packets that are not dense.
constexpr std::uint32_t dense_head = 8;
/// A stream is a ring of so many bundles, a power of two, in which a grid writes a long message that
/// another is reading (streams_device.hpp).
constexpr std::uint32_t stream_slots = 2048;
/// To a rank on another host it is one of so many chunks. Behind them, each has a packet that says
/// that it is there, and how many bytes.
constexpr std::uint32_t chunk_bytes = 16384, stream_chunks = 512;
GMPI_HOST_DEVICE constexpr std::uint32_t chunks_for(std::uint64_t bytes) {
  return static_cast<std::uint32_t>((bytes + chunk_bytes - 1) / chunk_bytes);
}
GMPI_HOST_DEVICE constexpr std::uint32_t lap_of_chunk(unsigned long long number) {
  return static_cast<std::uint32_t>(number / stream_chunks) + 1;
}
GMPI_HOST_DEVICE constexpr std::uint32_t place_of_chunk(unsigned long long number) {
  return static_cast<std::uint32_t>(number % stream_chunks);
}
GMPI_HOST_DEVICE inline unsigned char *chunk_at(std::uint64_t *ring, unsigned long long number) {
  return reinterpret_cast<unsigned char *>(ring) + place_of_chunk(number) * chunk_bytes;
}
GMPI_HOST_DEVICE inline std::uint64_t *packet_of_chunk(std::uint64_t *ring,
                                                       unsigned long long number) {
  return ring + std::size_t(stream_chunks) * chunk_bytes / sizeof(*ring) +
         place_of_chunk(number) * packet_words;
}
/// The memory of all of these.
constexpr std::size_t chunk_ring_bytes =
    stream_chunks * (std::size_t(chunk_bytes) + packet_words * sizeof(std::uint64_t));
/// The shortest message that may be dense.
constexpr std::uint32_t least_dense = 2 * bundle_bytes;
/// Longer messages are announced, and sent when a receive has matched; but for wide ones.
constexpr std::uint32_t eager_bytes = 65536;
/// To a rank on another host a longer eager message goes as it is: to read it behind its header
/// takes one more way to the host's memory and back, and then half of what packets take.
constexpr std::uint32_t far_packets_bytes = 4096;
/// A wide message is an eager one that is longer, and that all blocks of a grid write together. So
/// many of a rank's to another may be under way, or kept, each with a token of its own; for each,
/// the receiver has a place. (wide_device.hpp)
constexpr std::uint32_t wide_bytes = 1048576, wide_tokens = 8;
/// To a rank on another host, so many, so long. Its data goes straight to its token's place, in
/// memory of either host.
constexpr std::uint32_t far_wide_bytes = 2097152, far_tokens = 4;
static_assert(far_tokens <= wide_tokens);
constexpr std::uint32_t max_peers = 64;               ///< ranks that a rank's kernels reach
constexpr std::uint32_t max_channels = 2 * max_peers; ///< each way
/// The places of wide messages to and from a rank on another host are one more channel, whose rings
/// are [far_tokens][far_wide_bytes]: a slot of it is a use of a token.
GMPI_HOST_DEVICE constexpr std::uint32_t place_channel(std::uint32_t peer) {
  return max_channels + peer;
}
GMPI_HOST_DEVICE inline unsigned char *place_at(std::uint64_t *places, std::uint32_t token) {
  return reinterpret_cast<unsigned char *>(places) + std::size_t(token) * far_wide_bytes;
}

GMPI_HOST_DEVICE constexpr std::uint64_t packets_for(std::uint64_t bytes) {
  return header_packets + (bytes + packet_bytes - 1) / packet_bytes;
}
GMPI_HOST_DEVICE constexpr std::uint64_t dense_packets_for(std::uint64_t bytes) {
  return dense_head + bytes / bundle_bytes * bundle_packets +
         (bytes % bundle_bytes + packet_bytes - 1) / packet_bytes;
}
GMPI_HOST_DEVICE constexpr std::uint64_t slots_for(std::uint64_t bytes, bool dense = false) {
  const std::uint64_t packets = dense ? dense_packets_for(bytes) : packets_for(bytes);
  return (packets + slot_packets - 1) / slot_packets;
}
static_assert(least_dense > slot_bytes && slots_for(least_dense, true) <= slots_for(least_dense));

/// What the packets of slot number `slot` carry.
GMPI_HOST_DEVICE constexpr std::uint32_t lap_of(unsigned long long slot) {
  return static_cast<std::uint32_t>(slot / channel_slots) + 1;
}
/// Packet number `packet` of those from slot number `first` on.
GMPI_HOST_DEVICE inline std::uint64_t *packet_at(std::uint64_t *ring, unsigned long long first,
                                                 unsigned long long packet) {
  const unsigned long long place =
      (first * slot_packets + packet) % (std::uint64_t(channel_slots) * slot_packets);
  return ring + place * packet_words;
}

/// The owned channel to or from a peer; the common one has the peer's own number.
GMPI_HOST_DEVICE constexpr std::uint32_t owned_channel(std::uint32_t peer) {
  return peer + max_peers;
}
GMPI_HOST_DEVICE constexpr std::uint32_t other_channel(std::uint32_t channel) {
  return channel ^ max_peers;
}
GMPI_HOST_DEVICE constexpr std::uint32_t peer_of_channel(std::uint32_t channel) {
  return channel % max_peers;
}
static_assert((max_peers & (max_peers - 1)) == 0);

/// How far both channels have been taken, in one word: the common one's slot number, and the last
/// bits of the owned one's. The top bit is a receiver's: somebody looks.
constexpr std::uint32_t common_bits = 46, owned_bits = 17;
constexpr unsigned long long locked = 1ull << 63, one_owned = 1ull << common_bits;

GMPI_HOST_DEVICE constexpr unsigned long long common_of(unsigned long long word) {
  return word & (one_owned - 1);
}
GMPI_HOST_DEVICE constexpr std::uint32_t owned_of(unsigned long long word) {
  return static_cast<std::uint32_t>(word >> common_bits) & ((1u << owned_bits) - 1);
}
GMPI_HOST_DEVICE constexpr unsigned long long both_of(unsigned long long common,
                                                      unsigned long long owned) {
  return (common | owned << common_bits) & ~locked;
}
/// How far slot number `owned` is behind the one whose last bits are given; they are never half of
/// what the bits hold apart.
GMPI_HOST_DEVICE constexpr std::int32_t owned_ahead(std::uint32_t bits, unsigned long long owned) {
  return static_cast<std::int32_t>((bits - static_cast<std::uint32_t>(owned))
                                   << (32 - owned_bits)) >>
         (32 - owned_bits);
}
static_assert(channel_slots < 1u << (owned_bits - 2));

} // namespace gmpi::peer
