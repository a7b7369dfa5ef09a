// The peer transport: messages from GPU to GPU of one host, with no host on the way. What ranks
// share, and what a rank keeps for itself. Host and device. (For ranks of several hosts see
// relay_link.hpp: what kernels see is the same.)
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

#include "../mpi/mpi_library.hpp"
#include "../queue/scope.hpp"

#include <cstddef>

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
constexpr std::uint32_t max_comms = 64;
constexpr std::uint32_t max_requests = 1024; ///< by request slot
/// A communicator's context is a number that its rank 0 has counted, and that rank's in
/// MPI_COMM_WORLD: whoever sets communicators up at the same time never agrees on the same.
constexpr std::uint32_t context_bits = 20;
constexpr std::uint32_t any_source = 0xffff;
/// So many of a rank's allocations the others can map at a time.
constexpr std::uint32_t max_offers = 64;

/// Of messages that have arrived before their receive, so many are kept with up to small_bytes of
/// data (or none yet), and so many with more.
constexpr std::uint32_t small_kept = 8192, large_kept = 256;
constexpr std::uint32_t small_bytes = 1024;
/// And wide ones, which have places by rank and token.
constexpr std::uint32_t wide_kept = max_peers * wide_tokens;
constexpr std::uint32_t first_wide_kept = small_kept + large_kept;
static_assert(first_wide_kept % wide_tokens == 0);
/// The memory of all of these, where `ranks` run on this host.
constexpr std::size_t kept_bytes(std::uint32_t ranks) {
  return std::size_t(small_kept) * small_bytes + std::size_t(large_kept) * eager_bytes +
         std::size_t(ranks) * wide_tokens * wide_bytes;
}

/// One round of a collective call moves so much from each rank to each.
constexpr std::uint32_t round_bytes = 65536;
/// The first says hello, and how many of the others this rank has written.
constexpr std::uint32_t round_packets = round_bytes / packet_bytes + 1;
/// Of a call of several rounds across hosts, as much as a warp carries at once.
constexpr std::uint32_t section_packets = 32;
constexpr std::uint32_t section_bytes = section_packets * packet_bytes;
constexpr std::uint32_t round_sections = round_bytes / section_bytes;
/// So many rounds have memory of their own (a power of two), and so many may be written before one
/// has been read: of a call's first, so many before it is known that the others have begun it.
constexpr std::uint32_t round_places = 8, rounds_ahead = round_places / 2,
                        rounds_unasked = rounds_ahead - 1;
/// Longer calls go between ranks of one host in pieces of a bundle each, which one rank owns. All
/// ranks send it their parts, and it sends all of them the result (pieces_device.hpp): for either,
/// there are so many places of each owner.
GMPI_HOST_DEVICE constexpr std::uint32_t piece_places(std::uint32_t ranks) { return 2048 / ranks; }
enum class PiecePlace {
  part,   ///< in the owner's memory, by the rank that sends it
  result, ///< in each rank's, by owner
};

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
/// Where rank `from` of `size` puts its packets of collective round number `round`, in the memory
/// of a rank's rounds: [round_places][size][round_packets].
GMPI_HOST_DEVICE inline std::uint64_t *part_of_round(std::uint64_t *memory, std::uint32_t round,
                                                     int size, int from) {
  const auto place = round % round_places * static_cast<std::uint32_t>(size) +
                     static_cast<std::uint32_t>(from);
  return memory + place * (round_packets * packet_words); // (in 32 bits: kernels take their time)
}
GMPI_HOST_DEVICE constexpr std::size_t words_of_rounds(std::uint32_t ranks) {
  return std::size_t(round_places) * ranks * round_packets * packet_words;
}
static_assert(words_of_rounds(max_peers) < 1ull << 32);
/// And the places of pieces, which lie behind that: [PiecePlace][ranks][piece_places] bundles.
GMPI_HOST_DEVICE constexpr std::size_t words_of_pieces(std::uint32_t ranks) {
  return 2 * std::size_t(ranks) * piece_places(ranks) * bundle_packets * packet_words;
}
/// Never what an acknowledgement's packet shows that has been cleared.
GMPI_HOST_DEVICE constexpr std::uint32_t lap_of_serial(std::uint32_t serial) {
  return (serial & 0xffff) | 0x10000;
}

enum class MessageKind : std::uint8_t {
  eager,       ///< with its data
  synchronous, ///< the same; the sender waits for the match
  announced,   ///< without: the sender waits for the match, and sends it then
  data,        ///< of a message that was announced; `tag` is the receiver's request
};
/// How a message's data lies in its channel.
enum class Form : std::uint8_t {
  packets, ///< eight bytes in each
  apart,   ///< as it is, in portions, in memory behind the ring, or in a wide one's place: between
           ///< ranks of several hosts
  dense,   ///< twelve bytes in each packet
  plain,   ///< as it is, in portions, in the slots: of kind `data`, between ranks of one host
};

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

/// A message's first packets.
struct Header {
  MessageKind kind;
  std::uint32_t context; ///< of the communicator; below 2^context_bits
  std::uint16_t request; ///< the sender's, where it waits for the match; of an eager one, not told
  std::uint16_t serial;  ///< and which use of it; of a wide one, see WideUse
  std::int32_t tag;
  std::uint64_t bytes; ///< below 2^47
  std::uint64_t after; ///< as far the receiver must have come in the other channel: a slot number;
                       ///< where that is the owned channel, its last bits
  Form form;           ///< told of an eager one; of `data`, both ends know
  bool streams;        ///< of an announced one: all blocks of a grid wait to stream it
};
/// Of the second word of an announced message, beside its bytes: that it may be streamed.
constexpr std::uint64_t streams_bit = std::uint64_t(1) << 47;
/// Of an eager message's first word, instead of a request: its form.
constexpr std::uint32_t form_bits = 2, form_place = 64 - form_bits;
constexpr std::uint64_t dense_bit = std::uint64_t(Form::dense) << form_place;
static_assert(std::uint32_t(Form::packets) == 0 && (dense_bit & (dense_bit - 1)) == 0);

GMPI_HOST_DEVICE constexpr bool is_wide(const Header &header) {
  return header.kind == MessageKind::eager && header.bytes > eager_bytes;
}
/// Whether its data lies in its token's place.
GMPI_HOST_DEVICE constexpr bool is_placed(const Header &header) {
  return is_wide(header) && header.form == Form::apart;
}
/// A wide message's token, and which use of that it is, never 0: a serial in its header.
struct WideUse {
  std::uint32_t token, number;

  static constexpr std::uint32_t number_bits = 13;
  GMPI_HOST_DEVICE static constexpr std::uint32_t behind(std::uint32_t number) {
    return number % ((1u << number_bits) - 1) + 1;
  }
  GMPI_HOST_DEVICE static constexpr WideUse of(std::uint16_t serial) {
    return {std::uint32_t(serial) >> number_bits, serial & ((1u << number_bits) - 1)};
  }
  GMPI_HOST_DEVICE constexpr std::uint16_t serial() const {
    return static_cast<std::uint16_t>(token << number_bits | number);
  }
  /// The slot that it is of a place_channel(): who frees it shows its number there.
  GMPI_HOST_DEVICE constexpr unsigned long long slot() const {
    return std::uint64_t(number - 1) * channel_slots + token;
  }
};
static_assert(wide_tokens << WideUse::number_bits == 1u << 16);

/// The data word of one of a message's first packets. Packet 0: tag, context, kind, request.
GMPI_HOST_DEVICE inline std::uint64_t pack_header(const Header &header, std::uint32_t packet) {
  static_assert(max_requests <= 1u << 10 && std::uint32_t(MessageKind::data) < 1u << 2 &&
                32 + context_bits + 2 + 10 == 64);
  const std::uint64_t last = header.kind == MessageKind::eager
                                 ? std::uint64_t(header.form) << form_place
                                 : std::uint64_t(header.request) << 54;
  return packet == 0 ? std::uint32_t(header.tag) | std::uint64_t(header.context) << 32 |
                           std::uint64_t(header.kind) << 52 | last
         : packet == 1 ? header.bytes | (header.streams ? streams_bit : 0) |
                             std::uint64_t(header.serial) << 48
                       : header.after;
}
GMPI_HOST_DEVICE inline Header unpack_header(std::uint64_t first, std::uint64_t second,
                                             std::uint64_t third) {
  Header header{};
  header.tag = static_cast<std::int32_t>(first);
  header.context = static_cast<std::uint32_t>(first >> 32 & ((1u << context_bits) - 1));
  header.kind = static_cast<MessageKind>(first >> 52 & 3);
  if (header.kind == MessageKind::eager)
    header.form = static_cast<Form>(first >> form_place);
  else
    header.request = static_cast<std::uint16_t>(first >> 54);
  header.bytes = second & (streams_bit - 1);
  header.streams = (second & streams_bit) != 0;
  header.serial = static_cast<std::uint16_t>(second >> 48);
  header.after = third;
  return header;
}

/// Data in a portion, as it is: all but the place of a header, which only the first portion has,
/// but all leave free. So each begins at an address for 16 bytes. An eager message is one portion.
constexpr std::uint32_t raw_slot_bytes = slot_packets * packet_words * sizeof(std::uint64_t);
constexpr std::uint32_t plain_head = header_packets * packet_words * sizeof(std::uint64_t);
constexpr std::uint32_t plain_bytes = portion_slots * raw_slot_bytes - plain_head;
template <class Bytes> GMPI_HOST_DEVICE constexpr Bytes slots_in_portion(Bytes bytes) {
  return (plain_head + bytes + raw_slot_bytes - 1) / raw_slot_bytes;
}
GMPI_HOST_DEVICE constexpr unsigned long long slots_in_portions(std::uint64_t bytes) {
  const std::uint64_t rest = bytes % plain_bytes;
  return bytes / plain_bytes * portion_slots + (rest != 0 ? slots_in_portion(rest) : 0);
}

/// A message's slots, from when its header has been seen; of kind `data` see carried_slots().
GMPI_HOST_DEVICE constexpr unsigned long long slots_of(const Header &header) {
  return header.kind == MessageKind::announced ? 1
         : header.form == Form::apart // of a placed one the header's alone
             ? (is_wide(header) ? 1 : slots_in_portion(static_cast<std::uint32_t>(header.bytes)))
             : slots_for(header.bytes, header.form == Form::dense);
}
/// And its packets, where it goes in such.
GMPI_HOST_DEVICE constexpr unsigned long long packets_of(const Header &header) {
  return header.kind == MessageKind::announced ? header_packets
         : header.form == Form::dense          ? dense_packets_for(header.bytes)
                                               : packets_for(header.bytes);
}

/// Whether its data goes as it is.
GMPI_HOST_DEVICE constexpr bool is_in_portions(const Header &header) {
  return header.kind == MessageKind::data || header.form == Form::apart;
}
/// The slots of any message.
GMPI_HOST_DEVICE constexpr unsigned long long carried_slots(const Header &header) {
  return header.kind == MessageKind::data ? slots_in_portions(header.bytes) : slots_of(header);
}
/// What of a message's data is in the portion that begins with its slot number `low`; and the slots
/// from there to where the next one begins.
GMPI_HOST_DEVICE constexpr std::uint32_t portion_bytes(const Header &header,
                                                       unsigned long long low) {
  const std::uint64_t left = header.bytes - low / portion_slots * plain_bytes;
  return header.kind == MessageKind::data && left > plain_bytes ? plain_bytes
                                                                : static_cast<std::uint32_t>(left);
}
GMPI_HOST_DEVICE constexpr unsigned long long slots_of_portion(const Header &header) {
  return header.kind == MessageKind::data ? portion_slots : slots_of(header);
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
  static constexpr std::size_t tokens_bytes = wide_kept * sizeof(std::uint32_t);
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

/// A channel that a block, or a launch, owns, as its next message in packets needs it: of up to
/// eager_bytes, or to a rank on another host of up to far_packets_bytes.
/// (What is aligned so, and what comes behind it, is loaded at once: see RouteWords.)
struct Route {
  alignas(16) MPI_Datatype datatype; ///< with which, and whom, it has been used last
  std::uint32_t extent;              ///< of the datatype, in bytes
  std::uint32_t longest;             ///< how many such elements go by it
  alignas(16) MPI_Comm comm;         ///< 0: it is not to be used
  int dest;
  std::uint32_t context : context_bits, size : 31 - context_bits; ///< of the communicator
  std::uint32_t near : 1;              ///< the channel is in a GPU's memory
  alignas(16) unsigned long long next; ///< as in a sender's Line
  unsigned long long free_until;
  alignas(16) unsigned long long *order; ///< the sender's word for both channels
  std::uint64_t *out;
};
static_assert(sizeof(Route) == 64);

/// All that a block, or a launch, owns.
struct Routes {
  static constexpr std::uint32_t most = 8; ///< by destination's rank, modulo this
  std::uint32_t owned;                     ///< bits: routes that have a channel
  std::uint32_t refused;                   ///< bits: somebody else owned what they asked for
  std::uint16_t channel[most];
  Route route[most];
};

struct Comm;

/// What a block remembers of a rank that it has received from.
struct alignas(16) Source {
  static constexpr std::uint32_t most = 8; ///< by that rank, modulo this
  MPI_Comm comm;                           ///< with which it has; 0: nothing is remembered
  MPI_Datatype datatype;
  int source;
  std::uint32_t extent;  ///< of the datatype, in bytes
  std::uint32_t context; ///< of the communicator
  std::uint32_t peer;
  const Comm *its;                ///< the communicator
  unsigned long long word, owned; ///< of the receiver's Lines, when the block gave them back last
  std::uint64_t *in[2];           ///< of the common channel, and of the owned one
  std::uint32_t *freed[2];
};

/// A communicator's last round.
union LastRound {
  struct {
    std::uint32_t number;
    std::uint32_t launch; ///< 1 + the index of that whose blocks are at it, each by itself; or 0
  } its;
  unsigned long long both;
};

/// A communicator whose messages kernels carry themselves.
struct Comm {
  MPI_Comm handle;
  std::uint32_t context; ///< the same on all its ranks, and no other's there; 0: free
  std::int32_t rank, size;
  LastRound round; ///< of collective calls, so far
  /// So many blocks of a grid are yet to read the last round that they read each by itself: until
  /// then no other call begins one.
  std::uint32_t unread;
  /// By rank: [round_places][size][round_packets], in that rank's memory, and then the places of
  /// pieces; where they run on several hosts, all in ours, and without these: the relay reads what
  /// this rank writes there, and writes what the others send.
  std::uint64_t *rounds[max_peers];
  unsigned char *scratch;           ///< [2][round_bytes]
  std::uint16_t peer_of[max_peers]; ///< by rank
  std::uint16_t rank_of[max_peers]; ///< by peer
};

enum class RequestState : std::uint32_t {
  idle,
  posted,        ///< a receive that no message has matched
  awaiting_data, ///< its message was announced; the data comes, or is stored, see Shared::acks()
  receiving,     ///< its message is on its way through the channel, or there
  queued,        ///< a send whose slots are not free yet
  awaiting_match,
  sending,
  storing, ///< the same, straight to where the message belongs
  done,
};

/// A send or receive that does not end at once, by request slot.
struct Request {
  std::uint32_t state; ///< RequestState
  std::uint32_t busy;  ///< somebody carries it on; at first, and when it is done, it stays so
  std::uint32_t next, number; ///< in its list of posted receives
  std::uint32_t own;          ///< others cannot reach its data: only who waits for it carries it on
  std::uint32_t sends;
  std::int32_t rank; ///< as the call names it, for reports
  const Comm *comm;
  std::uint32_t context; ///< the communicator's
  std::uint32_t peer;    ///< any_source: not known yet
  std::uint32_t channel; ///< that its message takes
  std::int32_t tag;      ///< that a receive wants
  std::uint32_t staging; ///< large kept entry whose memory `data` is, or `nothing`
  unsigned char *data;
  unsigned long long room;  ///< bytes at `data`
  Header header;            ///< of the message
  unsigned long long first; ///< its first slot
  unsigned long long moved; ///< slots that are done; of one that is stored, bytes
  std::uint32_t serial;     ///< which use of the slot this is; and perhaps answered_far
  std::uint32_t sent;       ///< of a slot that is kept: how many sends have had it, 16 bits of that
  Match offer;              ///< of a long receive: where its data can be stored, if anywhere
  unsigned long long offset; ///< and how far behind that allocation's begin
  unsigned char *target;     ///< of a send: the same place, as this rank has it mapped
  Match match;               ///< and what the receiver has said
};

/// A message that came before its receive.
struct Kept {
  std::uint32_t next, number; ///< in its list, or that of free places
  std::uint32_t channel;      ///< that it has come through
  unsigned long long first;   ///< its first slot, while its data is in the channel yet
  Header header;
};

constexpr std::uint32_t nothing = ~0u; ///< end of a list
/// In a send's serial: the receiver is on another host, and its answer in State::far_acks.
constexpr std::uint32_t answered_far = 1u << 16;

/// Posted receives, or kept messages: see match_lists_device.hpp.
struct MatchList {
  std::uint32_t first, last; ///< where first is `nothing` it is empty, and last means nothing
};
constexpr std::uint32_t match_lists = 1024; ///< of each; a multiple of 32

/// Receives that have been posted, and that nobody has put into lists yet. Whoever posts one takes
/// a number, writes the request's record, and then its entry: that takes no lock. Who has the lock
/// gives them what has arrived, in the order of their numbers, or puts them into lists.
struct PostRing {
  static constexpr std::uint32_t places = 64;
  alignas(128) std::uint32_t next;  ///< numbers that have been taken
  alignas(128) std::uint32_t first; ///< entries before are no longer here; changed under the lock
  unsigned long long gone; ///< under the lock: which of those from first on are not, either; bits
  /// By number: the request and, in the high half, the number plus one, once its record is
  /// complete.
  unsigned long long entry[places];
};

/// What a waiting thread looks at all the time: 16 bytes, one load.
struct alignas(16) Summary {
  std::uint32_t posted; ///< receives that wait for a message, or for their announced data
  std::uint32_t kept;   ///< messages that wait for a receive
  std::uint32_t active; ///< transfers for whoever has time
  std::uint32_t told;   ///< waits that the proxy knows of
};

struct Line {
  /// The next slot's number. Of a common channel: both channels' word. A receiver's owned one is
  /// written under the common one's lock, and may be seen late: the word tells.
  alignas(64) unsigned long long next;
  unsigned long long free_until; ///< sender: slots below are known to be free
};

/// A rank's own state, in device memory, zero at first but for what Links sets.
struct State {
  Summary summary;
  std::uint32_t lock;   ///< of all lists
  std::uint32_t wanted; ///< threads that wait for it: who only looks for work leaves it to them
  std::uint32_t peers;
  std::uint32_t comms_used;
  std::uint32_t listed; ///< counts the entries that any of these has had
  PostRing posts;
  std::uint32_t in_lists; ///< posted receives that have been put into these
  MatchList posted[match_lists], posted_any_tag, kept_lists[match_lists];
  std::uint32_t kept_bits[match_lists / 32]; ///< bits: those that are not empty
  std::uint32_t free_small, free_large;
  std::uint32_t active[32];      ///< bits: requests that are queued .. sending or receiving
  std::uint32_t active_words;    ///< bits: words of these that have ever had any
  std::uint64_t *acks;           ///< this rank's
  std::uint64_t *far_acks;       ///< the same, from other hosts' ranks; null: there are none
  const std::uint64_t *far_news; ///< counts what has come from other hosts
  unsigned long long far_quiet;  ///< when it said so, none of it waited to be looked at
  std::uint32_t near_peers;      ///< those before are this host's
  std::uint32_t self;            ///< this rank's own number among them
  /// [small_kept][small_bytes], [large_kept][eager_bytes], [near_peers][wide_tokens][wide_bytes]
  unsigned char *kept_data;
  unsigned long long last_told;      ///< when the proxy was told last that this rank goes on
  unsigned long long calls, bytes;   ///< for statistics
  unsigned long long stored, ringed; ///< long messages, by their way
  /// Calls that grids' blocks have left to the next one; those of them that one MPI_Waitall has
  /// sent and received; and those whose messages it has found, once they had been made.
  unsigned long long left, exchanged, found;
  Channel channels[max_channels + max_peers];
  std::uint64_t *peer_acks[max_peers]; ///< each in its own memory, or for the relay
  Offer *offers;                       ///< this rank's
  unsigned long long offers_used;      ///< those behind have never been made
  unsigned long long asked[64];        ///< buffers that the host has been asked to offer
  /// Where the others' offers are mapped, words as packets with an offer's number; and of which the
  /// host has been asked to map them.
  alignas(16) std::uint64_t mapped[max_peers][max_offers][packet_words]; // loaded as packets are
  std::uint32_t asked_to_map[max_peers][max_offers];
  std::uint32_t owner[max_peers]; ///< 1: somebody owns the owned channel to it
  Line sending[max_channels], receiving[max_channels];
  Request requests[max_requests];
  Comm comms[max_comms];
  /// By receiver: the last use of each token. Who owns the channel to it writes them.
  std::uint32_t wide_uses[max_peers][wide_tokens];
  unsigned long long wide; ///< such messages that have been sent, for statistics
  Channel streams[max_peers]; ///< to and from each rank
  /// By rank that sends: the number of the next bundle, and 1 while a message is streamed.
  unsigned long long stream_next[max_peers];
  std::uint32_t stream_busy[max_peers];
  unsigned long long streamed; ///< messages that have been sent so, for statistics
  Kept kept[first_wide_kept + wide_kept];
};

/// A message on its way through a channel.
struct Transfer {
  std::uint64_t *ring;
  std::uint32_t *freed;     ///< where the receiver tells that it has freed slots
  unsigned long long first; ///< its first slot
  unsigned char *data;
  unsigned long long room; ///< bytes at `data`; what is beyond is read and dropped
  Header header;

  GMPI_HOST_DEVICE unsigned long long readable() const {
    return room < header.bytes ? room : header.bytes;
  }
};

/// Of a state that is zero otherwise: nothing is posted or kept, and all places are free.
inline void empty_lists(State &state) {
  for (std::uint32_t i = 0; i < match_lists; ++i)
    state.posted[i].first = state.kept_lists[i].first = nothing;
  state.posted_any_tag.first = nothing;
  for (std::uint32_t i = 0; i < first_wide_kept; ++i)
    state.kept[i].next = i + 1 == small_kept || i + 1 == first_wide_kept ? nothing : i + 1;
  state.free_small = 0;
  state.free_large = small_kept;
}

/// What a thread has found to do, for all of its team.
enum class WorkKind : std::uint32_t {
  none,
  over,     ///< what was waited for has come
  keep,     ///< read a message's data into its place; lock and channel are held meanwhile
  read,     ///< the same of one that a posted receive, `index`, has been found for
  carry_on, ///< a request, which is now held
  copies,   ///< those of block.copies, for requests that are held
  replies,  ///< read what has come with Replies, as block.copies says
};
struct Work {
  WorkKind kind;
  std::uint32_t index;
};

/// Slots of a message that are to be written or read now, or bytes that are to be stored.
struct Step {
  enum Kind : std::uint32_t { none, write, read, store, over } kind; ///< over: nothing is left
  bool check; ///< whether the slots to be written are free is not known yet
  unsigned long long low, high;
  Transfer transfer;
  unsigned char *target; ///< where the message is stored
};

/// A long message that the blocks of a grid carry together: each takes the next portion, and waits
/// until that can be written or read. The block that makes the grid's call sees to the rest.
struct SharedTransfer {
  Step step;                ///< of all slots that are left
  std::uint32_t request;    ///< held meanwhile
  unsigned long long next;  ///< no block has taken those from here on
  unsigned long long limit; ///< those below can be carried without waiting
  unsigned long long done;  ///< how many have been
};

struct SharedTransfers {
  static constexpr std::uint32_t most = 4, stop = 1u << 31;
  std::uint32_t count; ///< so many are there, and stay until the blocks are told to stop; with
                       ///< `stop` no limit grows any more
  SharedTransfer transfer[most];
};

} // namespace gmpi::peer
