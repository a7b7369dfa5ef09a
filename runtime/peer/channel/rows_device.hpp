// Rows: how a warp by itself carries a message of more than a packet in each lane, up to
// rows_bytes: whole words of eight bytes at an address for such.
//
// Invariant: a row is a packet in each lane, the header's in the first row. What is in the ring is
// the same whoever writes or reads it: its packets follow each other, in one slot or two.
#pragma once

#include "channel_device.hpp"

namespace gmpi::device::peer {

/// As much as a warp carries with a packet in each lane.
constexpr std::uint32_t warp_bytes = (32 - header_packets) * packet_bytes;
static_assert(warp_bytes == 232);

/// A slot's rows, and one more, in the next slot: so a KiB is among what they carry.
constexpr std::uint32_t row_count = slot_packets / 32 + 1;
constexpr std::uint32_t rows_bytes = (row_count * 32 - header_packets) * packet_bytes;

/// Whether a message of so many bytes is carried so.
GMPI_DEVICE bool is_in_rows(const void *data, std::uint32_t bytes) {
  return (bytes > warp_bytes) & (bytes <= rows_bytes) & ((bytes & 7) == 0) & is_in_eights(data);
}
GMPI_DEVICE std::uint32_t slots_in_rows(std::uint32_t bytes) { return bytes > slot_bytes ? 2 : 1; }

/// A lane's packets of such a message, which begins with slot number `slot` of a ring.
struct Rows {
  std::uint64_t *first, *last; ///< where they are: of the first row, and of the last
  std::uint32_t lap, last_lap, lane;

  GMPI_DEVICE Rows(std::uint64_t *ring, unsigned long long slot, std::uint32_t lane)
      : first(packet_at(ring, slot, lane)), last(packet_at(ring, slot + 1, lane)),
        lap(lap_of(slot)), last_lap(lap_of(slot + 1)), lane(lane) {}
  GMPI_DEVICE static bool is_last(std::uint32_t row) { return row + 1 == row_count; }
  GMPI_DEVICE std::uint64_t *place(std::uint32_t row) const {
    return is_last(row) ? last : first + row * 32 * packet_words;
  }
  GMPI_DEVICE std::uint32_t lap_in(std::uint32_t row) const {
    return is_last(row) ? last_lap : lap;
  }
  /// Whether a message of so many bytes has the one in that row; and where its data is.
  GMPI_DEVICE bool is_one(std::uint32_t row, std::uint32_t bytes) const {
    return row * 32 + lane < header_packets + bytes / packet_bytes;
  }
  GMPI_DEVICE std::uint32_t at(std::uint32_t row) const {
    return (row * 32 + lane - header_packets) * packet_bytes; // a header's: beyond any end
  }

  /// Writes the message, of `bytes` bytes. `head`: the lane's packet of the header, or 0.
  GMPI_DEVICE void write(std::uint64_t head, const void *data, std::uint32_t bytes) const {
    auto *const from = static_cast<const unsigned char *>(data);
    std::uint64_t words[row_count];
    GMPI_UNROLL
    for (std::uint32_t row = 0; row < row_count; ++row)
      words[row] =
          at(row) < bytes ? *reinterpret_cast<const unsigned long long *>(from + at(row)) : 0;
    words[0] |= head;
    GMPI_UNROLL
    for (std::uint32_t row = 0; row < row_count; ++row)
      if (is_one(row, bytes))
        store_packet(place(row), words[row], lap_in(row));
  }

  /// Looks at what is there now: of any message, perhaps none.
  GMPI_DEVICE void look(Packet (&found)[row_count]) const {
    GMPI_UNROLL
    for (std::uint32_t row = 0; row < row_count; ++row)
      found[row] = Packet::load(place(row));
  }
  /// Whether all of this lane's of a message of `bytes` bytes have been found.
  GMPI_DEVICE bool are_there(const Packet (&found)[row_count], std::uint32_t bytes) const {
    bool there = true;
    GMPI_UNROLL
    for (std::uint32_t row = 0; row < row_count; ++row)
      there &= !is_one(row, bytes) | found[row].shows(lap_in(row));
    return there;
  }
  GMPI_DEVICE void store(const Packet (&found)[row_count], void *data, std::uint32_t bytes) const {
    auto *const to = static_cast<unsigned char *>(data);
    GMPI_UNROLL
    for (std::uint32_t row = 0; row < row_count; ++row)
      if (at(row) < bytes)
        *reinterpret_cast<unsigned long long *>(to + at(row)) = found[row].data();
  }
};

} // namespace gmpi::device::peer
