// A message's header, its first packets; and how many slots a message takes, whose header is known.
// Host and device.
//
// Invariant: from a header follows how many slots its message takes, and how its data lies there.
#pragma once

#include "ring.hpp"

namespace gmpi::peer {

constexpr std::uint32_t max_requests = 1024; ///< by request slot

/// A communicator's context is a number that its rank 0 has counted, and that rank's in
/// MPI_COMM_WORLD: whoever sets communicators up at the same time never agrees on the same.
constexpr std::uint32_t context_bits = 20;

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

} // namespace gmpi::peer
