// What all of a block do of a short message whose slots its first warp has found: they write it, or
// read its data: packets of whole words of four bytes at an address for such, in slots that follow
// each other.
//
// Invariant: what is written or read meanwhile is nobody else's: the route's slots, or the channels
// of block.peer.span, which are held until it is on its way. The functions here call none: those
// that do save registers first.
#pragma once

#include "../mpi/first_warp_device.hpp"
#include "matching_device.hpp"
#include "routes_device.hpp"

namespace gmpi::device::peer {

GMPI_DEVICE bool is_to_be_written(const Span &span) { return span.freed == nullptr; }

/// The packets of a span's data, from number 0 on.
struct SpanWindow {
  std::uint64_t *ring;
  unsigned char *data;
  std::uint32_t base, lap; ///< of packet 0: its place in the ring
  std::uint32_t bytes;

  static constexpr std::uint32_t ring_packets = channel_slots * slot_packets;

  GMPI_DEVICE explicit SpanWindow(const Span &span)
      : ring(span.ring), data(span.data),
        base(static_cast<std::uint32_t>(span.first) % channel_slots * slot_packets +
             header_packets),
        lap(lap_of(span.first)), bytes(span.bytes) {}
  GMPI_DEVICE std::uint32_t packets() const { return (bytes + packet_bytes - 1) / packet_bytes; }
  GMPI_DEVICE std::uint64_t *place(std::uint32_t p) const {
    return ring + std::size_t((base + p) % ring_packets) * packet_words;
  }
  GMPI_DEVICE std::uint32_t lap_at(std::uint32_t p) const {
    return lap + (base + p) / ring_packets;
  }
  GMPI_DEVICE bool is_whole(std::uint32_t p) const { return (p + 1) * packet_bytes <= bytes; }

  /// Packet `p` of the data; `eights`: it is at an address for eight bytes.
  template <bool eights> GMPI_DEVICE std::uint64_t load(std::uint32_t p) const {
    auto *from = reinterpret_cast<const std::uint32_t *>(data + p * packet_bytes);
    if (!is_whole(p))
      return from[0];
    if (eights)
      return *reinterpret_cast<const unsigned long long *>(from);
    return from[0] | std::uint64_t(from[1]) << 32;
  }
  template <bool eights> GMPI_DEVICE void store(std::uint32_t p, std::uint64_t value) const {
    auto *to = reinterpret_cast<std::uint32_t *>(data + p * packet_bytes);
    if (eights && is_whole(p)) {
      *reinterpret_cast<unsigned long long *>(to) = value;
      return;
    }
    to[0] = static_cast<std::uint32_t>(value);
    if (is_whole(p))
      to[1] = static_cast<std::uint32_t>(value >> 32);
  }
};

/// Writes every size-th packet from `p` to before `end`, so many at a time; `meanwhile` is done
/// while the first are on their way.
template <std::uint32_t at_once, bool eights, class Meanwhile>
GMPI_DEVICE void write_span(const SpanWindow &window, std::uint32_t p, std::uint32_t end,
                            std::uint32_t size, Meanwhile meanwhile) {
  const std::uint32_t first = p;
  GMPI_NO_UNROLL
  for (; p < end; p += at_once * size) {
    std::uint64_t values[at_once];
    GMPI_UNROLL
    for (std::uint32_t i = 0; i < at_once; ++i)
      if (p + i * size < end)
        values[i] = window.load<eights>(p + i * size);
    if (p == first)
      meanwhile();
    GMPI_UNROLL
    for (std::uint32_t i = 0; i < at_once; ++i)
      if (const std::uint32_t q = p + i * size; q < end)
        store_packet(window.place(q), values[i], window.lap_at(q));
  }
}
/// Reads the same.
template <std::uint32_t at_once, bool eights, class Meanwhile>
GMPI_DEVICE void read_span(const SpanWindow &window, std::uint32_t p, std::uint32_t end,
                           std::uint32_t size, Meanwhile meanwhile) {
  const std::uint32_t first = p;
  GMPI_NO_UNROLL
  for (; p < end; p += at_once * size) {
    Packet found[at_once];
    GMPI_UNROLL
    for (std::uint32_t i = 0; i < at_once; ++i)
      if (p + i * size < end)
        found[i] = Packet::load(window.place(p + i * size));
    if (p == first)
      meanwhile();
    GMPI_UNROLL
    for (std::uint32_t i = 0; i < at_once; ++i)
      if (const std::uint32_t q = p + i * size; q < end) {
        const std::uint32_t lap = window.lap_at(q);
        window.store<eights>(q, found[i].shows(lap) ? found[i].data()
                                                    : await_packet(window.place(q), lap));
      }
  }
}

/// A stretch of a span's packets that a warp writes or reads at a time, `each` in a lane; eight
/// bytes each, at an address for such, and all their places follow from the first one's.
template <std::uint32_t each> struct Stretch {
  static constexpr std::uint32_t packets = each * 32;
  std::uint64_t *place;     ///< of this lane's first
  unsigned long long *data; ///< its own
  std::uint32_t lap;

  GMPI_DEVICE Stretch(const SpanWindow &window, std::uint32_t number)
      : place(window.place(number * packets + lane_index())),
        data(reinterpret_cast<unsigned long long *>(window.data) + number * packets + lane_index()),
        lap(window.lap_at(number * packets)) {}

  /// Of one that is written.
  GMPI_DEVICE void load(std::uint64_t (&values)[each]) const {
    GMPI_UNROLL
    for (std::uint32_t i = 0; i < each; ++i)
      values[i] = data[32 * i];
  }
  GMPI_DEVICE void store(const std::uint64_t (&values)[each]) const {
    GMPI_UNROLL
    for (std::uint32_t i = 0; i < each; ++i)
      store_packet(place + 32 * i * packet_words, values[i], lap);
  }
  /// `meanwhile` is done while the `first` data is on its way.
  template <class Meanwhile> GMPI_DEVICE void read(bool first, Meanwhile meanwhile) const {
    Packet found[each];
    bool there;
    GMPI_NO_UNROLL
    do {
      GMPI_UNROLL
      for (std::uint32_t i = 0; i < each; ++i)
        found[i] = Packet::load(place + 32 * i * packet_words);
      if (first)
        meanwhile();
      first = false;
      there = true;
      GMPI_UNROLL
      for (std::uint32_t i = 0; i < each; ++i)
        there = there & found[i].shows(lap);
    } while (!there && (relax(), true));
    GMPI_UNROLL
    for (std::uint32_t i = 0; i < each; ++i)
      data[32 * i] = found[i].data();
  }
};

/// As many packets of each thread are under way at a time. (A function's registers are those that
/// its caller does not keep, half of all: of a packet that is read, four; of one that is written,
/// two, and two of the one that is loaded meanwhile.)
constexpr std::uint32_t few_packets = 2, some_packets = 4, most_packets = 8;

/// How all of a block carry a span: in stretches, or not.
GMPI_DEVICE Begun way_of_span(std::uint32_t bytes, const void *data, unsigned long long first) {
  const std::uint32_t packets = (bytes + packet_bytes - 1) / packet_bytes;
  const std::uint32_t base = static_cast<std::uint32_t>(first) % channel_slots * slot_packets;
  const bool is_straight = (reinterpret_cast<std::uint64_t>(data) & 7) == 0 &&
                           base + header_packets + packets <= SpanWindow::ring_packets;
  return is_straight && packets > few_packets * block_threads() ? Begun::stretching
                                                                : Begun::spanning;
}

/// This block's part of a span, but its last packets, in stretches. Returns from which on these
/// are. `meanwhile`: as below.
template <std::uint32_t each, bool reads, class Meanwhile>
GMPI_DEVICE std::uint32_t carry_stretches(const SpanWindow &window, Meanwhile meanwhile) {
  using Its = Stretch<each>;
  const std::uint32_t all = window.bytes / packet_bytes / Its::packets;
  const std::uint32_t warp = thread_index() / 32, warps = block_threads() / 32;
  const std::uint32_t end = warp < warps ? all : 0; // a block's last warp may not be whole
  if constexpr (reads) {
    GMPI_NO_UNROLL
    for (std::uint32_t i = warp; i < end; i += warps)
      Its(window, i).read(i == warp, meanwhile);
  } else if (warp < end) {
    std::uint64_t values[each];
    Its(window, warp).load(values);
    meanwhile();
    GMPI_NO_UNROLL
    for (std::uint32_t i = warp; i < end; i += warps) {
      std::uint64_t next[each] = {};
      if (i + warps < end)
        Its(window, i + warps).load(next);
      Its(window, i).store(values);
      GMPI_UNROLL
      for (std::uint32_t k = 0; k < each; ++k)
        values[k] = next[k];
    }
  }
  return all * Its::packets;
}
/// In stretches of many packets, if that leaves some for each thread.
template <bool reads, class Meanwhile>
GMPI_DEVICE std::uint32_t carry_in_stretches(const SpanWindow &window, Meanwhile meanwhile) {
  return window.packets() >= most_packets * block_threads()
             ? carry_stretches<most_packets, reads>(window, meanwhile)
             : carry_stretches<some_packets, reads>(window, meanwhile);
}

/// One thread's packets. `meanwhile` is done by the first warp's lanes, while they wait for memory.
template <bool stretches, bool reads, class Meanwhile>
GMPI_DEVICE void carry_packets(const SpanWindow &window, Meanwhile meanwhile) {
  const std::uint32_t rank = thread_index(), size = block_threads(), packets = window.packets();
  std::uint32_t done = 0;
  if constexpr (stretches)
    done = carry_in_stretches<reads>(window, meanwhile);
  const auto if_not_yet = [&] {
    if (done == 0)
      meanwhile();
  };
  const bool eights = stretches || (reinterpret_cast<std::uint64_t>(window.data) & 7) == 0;
  if constexpr (reads)
    eights ? read_span<few_packets, true>(window, done + rank, packets, size, if_not_yet)
           : read_span<few_packets, false>(window, done + rank, packets, size, if_not_yet);
  else
    eights ? write_span<few_packets, true>(window, done + rank, packets, size, if_not_yet)
           : write_span<few_packets, false>(window, done + rank, packets, size, if_not_yet);
}

/// Has all of the block, in whose number none is missing, write the data of block.peer.span.
/// Returns how far its call has come then.
template <Scope S, bool stretches> GMPI_DEVICE Begun write_span() {
  Span &span = block_state().peer.span;
  State &state = *context.peer;
  const SpanWindow window(span);
  const std::uint32_t rank = thread_index();
  carry_packets<stretches, false>(window, [&] {
    if (rank != 0)
      return;
    const auto slots = static_cast<std::uint32_t>(slots_for(span.bytes));
    Route &route = routes_of<S>().route[span.route];
    increase_relaxed_device(route.order, slots * one_owned);
    route.next = span.first + slots;
    count_call(state, span.bytes);
  });
  const Begun then = span.then;
  if (rank == 0)
    span.told = load_relaxed_device(&state.summary.told);
  __syncthreads();
  if (then != Begun::sent && rank == 0) {
    prepare_end<S>(then != Begun::over); // what it has read nobody else needs
    tell_end_of_call<S>();
  }
  return then;
}

/// The same for reading it.
template <Scope S, bool stretches> GMPI_DEVICE Begun read_span() {
  const Span &span = block_state().peer.span;
  const SpanWindow window(span);
  const std::uint32_t rank = thread_index();
  carry_packets<stretches, true>(window, [&] {
    if (rank == 0)
      let_channels_go(*context.peer, span.peer, {span.common, span.owned});
  });
  std::uint32_t *const freed = span.freed;
  const unsigned long long first = span.first;
  const Begun then = span.then;
  __syncthreads();
  if (rank == 0) {
    prepare_end<S>();
    tell_end_of_call<S>();
  }
  free_share(freed, first, first + slots_for(window.bytes), rank, block_threads());
  return then;
}

} // namespace gmpi::device::peer
