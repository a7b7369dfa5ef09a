// What all of a block do of a short message whose slots its first warp has found: they write it, or
// read its data: packets of whole words of four bytes at an address for such, or dense ones of
// words of eight, in slots that follow each other.
//
// Invariant: what is written or read meanwhile is nobody else's: the route's slots, or the channels
// of block.peer.span, which are held until it is on its way. The functions here call none: those
// that do save registers first.
#pragma once

#include "../../mpi/first_warp_device.hpp"
#include "../matching/matching_device.hpp"
#include "routes_device.hpp"

namespace gmpi::device::peer {

/// Whether all of a block are to carry a span.
GMPI_DEVICE bool is_span(Begun begun) {
  return begun == Begun::spanning || begun == Begun::bundling;
}
GMPI_DEVICE bool is_to_be_written(const Span &span) { return span.freed == nullptr; }

/// Has all of the block read a message's data, from slot number `slot` of a channel on: it is one
/// of whole words that come next from `peer`, whose channels are held, and read up to `behind`
/// then. Lane 0.
GMPI_DEVICE void note_span(std::uint64_t *ring, std::uint32_t *freed, unsigned long long slot,
                           void *data, std::uint32_t bytes, std::uint32_t peer, Position behind,
                           Begun then) {
  Span &span = block_state().peer.span;
  span.ring = ring;
  span.freed = freed;
  span.data = static_cast<unsigned char *>(data);
  span.first = slot;
  span.bytes = bytes;
  span.then = then;
  span.peer = peer;
  span.common = behind.common;
  span.owned = behind.owned;
}

/// The packets of a span's data, from number 0 on.
struct SpanWindow {
  std::uint64_t *ring;
  unsigned char *data;
  std::uint32_t base, lap; ///< of packet 0: its place in the ring
  std::uint32_t bytes;

  static constexpr std::uint32_t ring_packets = channel_slots * slot_packets;

  /// Of a message whose first slot is number `first`.
  GMPI_DEVICE SpanWindow(std::uint64_t *ring, unsigned char *data, unsigned long long first,
                         std::uint32_t bytes)
      : ring(ring), data(data),
        base(static_cast<std::uint32_t>(first) % channel_slots * slot_packets + header_packets),
        lap(lap_of(first)), bytes(bytes) {}
  GMPI_DEVICE explicit SpanWindow(const Span &span)
      : SpanWindow(span.ring, span.data, span.first, span.bytes) {}
  GMPI_DEVICE Bundles bundles() const {
    return {ring + (base - header_packets + dense_head) * packet_words, data, bytes / bundle_bytes,
            lap};
  }
  /// Has it begin behind these.
  GMPI_DEVICE void skip(const Bundles &bundles) {
    base += dense_head - header_packets + bundles.count * bundle_packets;
    data += bundles.count * bundle_bytes;
    bytes -= bundles.count * bundle_bytes;
  }
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

/// Reads or writes them.
template <bool reads, std::uint32_t at_once, bool eights, class Meanwhile>
GMPI_DEVICE void carry_span(const SpanWindow &window, std::uint32_t p, std::uint32_t end,
                            std::uint32_t size, Meanwhile meanwhile) {
  if constexpr (reads)
    read_span<at_once, eights>(window, p, end, size, meanwhile);
  else
    write_span<at_once, eights>(window, p, end, size, meanwhile);
}

/// As many packets of each thread's are under way at a time where they are not dense.
constexpr std::uint32_t packets_at_once = 2;

/// The same of a message that is not dense, in words.
template <bool reads, class Meanwhile>
GMPI_DEVICE void carry_words(const SpanWindow &window, std::uint32_t p, std::uint32_t end,
                             std::uint32_t size, Meanwhile meanwhile) {
  const bool eights = is_in_eights(window.data);
  eights ? carry_span<reads, packets_at_once, true>(window, p, end, size, meanwhile)
         : carry_span<reads, packets_at_once, false>(window, p, end, size, meanwhile);
}
/// The same where the data is not in words.
template <bool reads>
GMPI_DEVICE void carry_bytes(const SpanWindow &window, std::uint32_t p, std::uint32_t end,
                             std::uint32_t size) {
  GMPI_NO_UNROLL
  for (; p < end; p += size) {
    const std::uint32_t at = p * packet_bytes, left = window.bytes - at;
    if constexpr (reads)
      store_data(window.data + at, left, await_packet(window.place(p), window.lap_at(p)));
    else
      store_packet(window.place(p), load_data(window.data + at, left), window.lap_at(p));
  }
}

/// Whether a message, at slot `first` of a route's channel, may be dense: whole words of four
/// bytes.
GMPI_DEVICE bool may_be_dense(std::uint32_t bytes, const void *data, const Route &route,
                              unsigned long long first) {
  return bytes >= least_dense && (bytes & 3) == 0 && route.near != 0 && is_in_eights(data) &&
         first % channel_slots + slots_for(bytes, true) <= channel_slots;
}
/// How all of a block carry a span.
GMPI_DEVICE Begun way_of_span(bool dense) { return dense ? Begun::bundling : Begun::spanning; }

/// One thread's packets, of `size` threads, of which some warps are whole. `meanwhile`: as above.
template <bool dense, bool reads, class Meanwhile>
GMPI_DEVICE void carry_packets(SpanWindow window, std::uint32_t rank, std::uint32_t size,
                               Meanwhile meanwhile) {
  if constexpr (dense) {
    const Bundles bundles = window.bundles();
    carry_bundles<reads>(bundles, rank, size, meanwhile);
    window.skip(bundles);
    const std::uint32_t from_last = size - 1 - rank; // the first have more bundles
    carry_span<reads, 1, true>(window, from_last, window.packets(), size, [] {});
  } else {
    carry_words<reads>(window, rank, window.packets(), size, meanwhile);
  }
}

/// Looks whether slots of route `i` from number `known` on are free, too. A warp, whole.
template <Scope S> GMPI_DEVICE void look_behind(std::uint32_t i, unsigned long long known) {
  constexpr std::uint32_t at_once = 4;
  const std::uint32_t lane = lane_index();
  const Routes &routes = routes_of<S>();
  const std::uint32_t channel = routes.channel[i];
  const std::uint32_t *const freed = context.peer->channels[channel].out_freed;
  bool free[at_once];
  GMPI_UNROLL
  for (std::uint32_t k = 0; k < at_once; ++k)
    free[k] = is_free(freed, known + k * 32 + lane);
  std::uint32_t more = 0;
  GMPI_UNROLL
  for (std::uint32_t k = 0; k < at_once; ++k) {
    const unsigned taken = ~__ballot_sync(whole_warp, free[k]);
    if (more == k * 32)
      more += taken != 0 ? static_cast<std::uint32_t>(__ffs(static_cast<int>(taken))) - 1 : 32;
  }
  if (lane == 0 && more != 0) {
    note_free_until<S>(i, known + more);
    atomicMax(&context.peer->sending[channel].free_until, known + more);
  }
}
/// The same where few are known to be free behind those that a message takes: the next messages
/// find some.
template <Scope S> GMPI_DEVICE void look_ahead(const Span &span) {
  constexpr std::uint32_t few = 3 * slots_for(eager_bytes);
  if (span.free_until - span.first < few)
    look_behind<S>(span.route, span.free_until);
}

/// Ends a call that has sent a message. Lane 0.
template <Scope S> GMPI_DEVICE void end_sending() {
  prepare_end<S>(false); // what it has read nobody else needs
  tell_end_of_call<S>();
}
/// Whether a call that goes on so, once its message has been sent, ends for the grid's other blocks
/// before: MPI_Isend.
template <Scope S> GMPI_DEVICE constexpr bool is_answered_early(Begun then) {
  return S == Scope::grid && then == Begun::answered;
}
/// They go on, once its message has taken so many slots of the owned channel. Returns the sender's
/// word, as it was. A warp, whole.
template <Scope S>
GMPI_DEVICE std::uint64_t answer_early(unsigned long long *order, std::uint64_t slots) {
  constexpr unsigned long long never = 1ull << (common_bits - 1); // so many slots
  static_assert(never < one_owned); // (what is above wraps: its top bit comes and goes)
  std::uint64_t before = 0;
  if (lane_index() == 0) {
    before = add_relaxed_device(order, slots * one_owned);
    if ((before & never) == 0) // nobody is told before it is known
      end_with_request<S>(null_peer_request());
  }
  return of_lane(before, 0);
}

/// Has all of the block, in whose number none is missing, write the data of block.peer.span.
/// Returns how far its call has come then.
template <Scope S, bool dense> GMPI_DEVICE Begun write_span() {
  Span &span = block_state().peer.span;
  State &state = *context.peer;
  const std::uint32_t rank = thread_index();
  carry_packets<dense, false>(SpanWindow(span), rank, block_threads(), [&] {
    if (rank != 0)
      return;
    const auto slots = static_cast<std::uint32_t>(slots_for(span.bytes, dense));
    const Route &route = routes_of<S>().route[span.route];
    const bool answered = is_answered_early<S>(span.then);
    if (!answered)
      increase_relaxed_device(route.order, slots * one_owned);
    note_next<S>(span.route, span.first + slots);
    count_call(state, span.bytes);
    if constexpr (dense)
      if (!answered)
        let_rest<S>(block_state(), span.bytes);
  });
  if (dense && rank / 32 + 1 == block_threads() / 32)
    look_ahead<S>(span);
  const Begun then = span.then;
  if (rank == 0)
    span.told = load_relaxed_device(&state.summary.told);
  __syncthreads();
  if (rank == 0 && then == Begun::over)
    end_sending<S>();
  return then;
}

/// The same for reading it.
template <Scope S, bool dense> GMPI_DEVICE Begun read_span() {
  const Span &span = block_state().peer.span;
  const std::uint32_t rank = thread_index(), bytes = span.bytes;
  carry_packets<dense, true>(SpanWindow(span), rank, block_threads(), [&] {
    if (rank != 0)
      return;
    let_channels_go(*context.peer, span.peer, {span.common, span.owned});
    if constexpr (dense)
      let_rest<S>(block_state(), bytes);
  });
  std::uint32_t *const freed = span.freed;
  const unsigned long long first = span.first;
  const Begun then = span.then;
  __syncthreads();
  if (rank == 0) {
    prepare_end<S>();
    tell_end_of_call<S>();
  }
  free_share(freed, first, first + slots_for(bytes, dense), rank, block_threads());
  return then;
}

} // namespace gmpi::device::peer
