// Writing and reading the messages of calls that have been left, once their places in channels are
// known: a lane, a warp, or all of a block.
//
// Invariant: a message is carried by itself, so nothing is asked of those who carry others.
#pragma once

#include "series_ready_device.hpp"

namespace gmpi::device::peer {

/// What a packet of such a message's header says.
GMPI_DEVICE std::uint64_t header_packet(const LeftCall &call, std::uint32_t packet) {
  return packet == 0 ? call.sent.head : packet == 1 ? call.sent.size : call.sent.after;
}

GMPI_DEVICE void write_header_packet(const LeftCall &call, std::uint32_t packet) {
  store_packet(packet_at(call.ring, call.first, packet), header_packet(call, packet),
               lap_of(call.first));
}

/// Writes one message whose place is known, of a packet at most. One thread.
GMPI_DEVICE void write_left(const LeftCall &call) {
  const std::uint64_t data =
      call.carried == 0 ? 0
                        : load_data(static_cast<const unsigned char *>(call.data), call.carried);
  GMPI_UNROLL
  for (std::uint32_t p = 0; p < header_packets; ++p)
    write_header_packet(call, p);
  if (call.carried != 0)
    store_packet(packet_at(call.ring, call.first, header_packets), data, lap_of(call.first));
}

/// Where the data of a message goes whose place is known; the first few who write it write its
/// header.
template <bool reads>
GMPI_DEVICE SpanWindow begin_to_carry(const LeftCall &call, std::uint32_t rank) {
  if (!reads && rank < header_packets)
    write_header_packet(call, rank);
  return {call.ring, static_cast<unsigned char *>(call.data), call.first, call.carried};
}
/// Writes or reads it, as `rank` of `size` threads.
template <bool reads>
GMPI_DEVICE void carry_left(const LeftCall &call, std::uint32_t rank, std::uint32_t size) {
  const SpanWindow window = begin_to_carry<reads>(call, rank);
  if (call.dense) {
    carry_packets<true, reads>(window, rank, size, [] {});
  } else if (is_in_words(call.data, call.carried)) {
    carry_packets<false, reads>(window, rank, size, [] {});
  } else {
    carry_bytes<reads>(window, rank, window.packets(), size);
  }
}
/// The same of series.to_carry and to_share: all of a block, in whose number none is missing. They
/// have met when it returns.
template <bool reads> GMPI_NOINLINE void carry_all_left() {
  const Series &series = block_state().series;
  const std::uint32_t warp = thread_index() / 32, warps = block_threads() / 32;
  std::uint32_t turn = 0; // whose message it is
  GMPI_NO_UNROLL
  for (std::uint32_t those = series.to_carry; those != 0; those &= those - 1) {
    if (turn == warp)
      carry_left<reads>(series.call[__ffs(static_cast<int>(those)) - 1], lane_index(), 32);
    turn = turn + 1 == warps ? 0 : turn + 1;
  }
  GMPI_NO_UNROLL
  for (std::uint32_t those = series.to_share; those != 0; those &= those - 1)
    carry_left<reads>(series.call[__ffs(static_cast<int>(those)) - 1], thread_index(),
                      block_threads());
  __syncthreads();
}

/// What a block's first warp writes, or reads, by itself: so many messages at most, of which each
/// lane has so many packets. (To have the block's other warps do it takes some 4,000 cycles.)
constexpr std::uint32_t most_alone = 8, packets_alone = 16;

/// How many lanes then have one of so many messages: a power of two, by its logarithm.
GMPI_DEVICE std::uint32_t lanes_shift(std::uint32_t messages) {
  return messages <= 1 ? 5 : __clz(static_cast<int>(messages - 1)) - 27;
}
GMPI_DEVICE bool is_for_lanes(std::uint32_t bytes, std::uint32_t shift) {
  return bytes <= packets_alone * packet_bytes << shift;
}

/// It carries the messages of `those` lanes, whose places are known, if it may: of each the data is
/// whole words of four bytes, at an address for eight. Returns whether it has. The warp, whole; it
/// calls no function.
template <bool reads> GMPI_DEVICE bool carry_alone(const Series &series, unsigned those) {
  constexpr std::uint32_t at_once = 4;
  const std::uint32_t lane = lane_index();
  const auto messages = static_cast<std::uint32_t>(__popc(those));
  const std::uint32_t shift = lanes_shift(messages), lanes = 1u << shift;
  const LeftCall &own = series.call[lane];
  const bool may =
      (those >> lane & 1) == 0 || (!own.dense && is_in_eights(own.data) && (own.carried & 3) == 0 &&
                                   is_for_lanes(own.carried, shift));
  if (messages > most_alone || !__all_sync(whole_warp, may))
    return false;
  __syncwarp(); // the lanes' places are there for the others
  const std::uint32_t number = lane >> shift, rank = lane & (lanes - 1);
  GMPI_NO_UNROLL
  for (std::uint32_t i = 0; i < number; ++i)
    those &= those - 1;
  if (those != 0) {
    const LeftCall &call = series.call[__ffs(static_cast<int>(those)) - 1];
    static_assert(32 / most_alone >= header_packets);
    const SpanWindow window = begin_to_carry<reads>(call, rank);
    carry_span<reads, at_once, true>(window, rank, window.packets(), lanes, [] {});
  }
  __syncwarp();
  return true;
}

/// Of several messages, those that are no longer are a warp's each.
constexpr std::uint32_t most_by_one_warp = 8192;

/// Notes which of these messages a warp each is to carry, and which all of the block. A warp,
/// whole.
GMPI_DEVICE void note_to_carry(Series &series, bool carries, std::uint32_t bytes) {
  const unsigned by_warp = __ballot_sync(whole_warp, carries && bytes <= most_by_one_warp);
  const unsigned by_block = __ballot_sync(whole_warp, carries && bytes > most_by_one_warp);
  if (lane_index() == 0) {
    series.to_carry = by_warp;
    series.to_share = by_block;
  }
  __syncwarp();
}

} // namespace gmpi::device::peer
