// The quickest way to send a short message: what most calls do, and nothing else. A block's first
// warp, whole, sends by a route, with a packet in each lane, or a few (rows_device.hpp). Of a
// longer message it writes the header, and all of the block carry the rest (span_device.hpp).
//
// Invariant: whatever is unusual is left to others, before anything has happened. It is part of the
// kernel: so no registers are saved, and what can be is under way together. What only data in each
// thread's own memory needs is in functions apart (`own`): even a branch around it would cost the
// others.
#pragma once

#include "../channel/routes_device.hpp"
#include "../channel/rows_device.hpp"
#include "../channel/wide_device.hpp"
#include "../general/receive_device.hpp"

namespace gmpi::device::peer {

/// Begins to load, if `is`, the eight bytes that packet `packet` of a message carries, of `bytes`
/// in all: whole words of four bytes at an address for such. Nothing for a packet of the header, or
/// behind the end. In flight together with what else is loaded so.
GMPI_DEVICE std::uint64_t load_words_if(bool is, const void *data, std::uint32_t bytes,
                                        std::uint32_t packet) {
  const std::uint32_t at = (packet - header_packets) * packet_bytes; // a header's: beyond any end
  auto *from = reinterpret_cast<const std::uint32_t *>(static_cast<const char *>(data) + at);
  const std::uint32_t low = load_word_if(is & (at < bytes), from);
  const std::uint32_t high = load_word_if(is & (at < bytes) & (at + 4 < bytes), from + 1);
  return low | std::uint64_t(high) << 32;
}

/// The eight of `bytes` bytes at `data`, each thread's own memory, that packet `packet` carries;
/// the first `headers` of them carry none. What the first lane's memory says is sent. A warp,
/// whole.
GMPI_DEVICE std::uint64_t load_own(const void *data, std::uint32_t bytes, std::uint32_t packet,
                                   std::uint32_t headers) {
  if (bytes == packet_bytes && is_in_eights(data)) { // as most are
    const std::uint64_t value = of_lane(*static_cast<const std::uint64_t *>(data), 0);
    return packet == headers ? value : 0;
  }
  std::uint64_t own = 0;
  GMPI_NO_UNROLL
  for (std::uint32_t at = 0; at < bytes; at += packet_bytes) {
    const auto *const from = static_cast<const unsigned char *>(data) + at;
    const std::uint64_t value = of_lane(load_data(from, bytes - at), 0);
    own = packet == headers + at / packet_bytes ? value : own;
  }
  return own;
}

/// An eager message's first word, without what only a dense one's has: as pack_header() has it.
GMPI_DEVICE std::uint64_t head_of(int tag, std::uint32_t context) {
  static_assert(std::uint32_t(MessageKind::eager) == 0 && header_packets == 3);
  return static_cast<std::uint32_t>(tag) | std::uint64_t(context) << 32;
}

/// Sends more than a warp does, by route `i`, if its slots are known to be free: the header. All of
/// the block are to carry the rest. `order`: the sender's word for both channels.
template <Scope S>
GMPI_DEVICE Begun send_span(const Route &route, std::uint32_t i, int tag, const void *data,
                            std::uint32_t bytes, std::uint64_t order, Begun then) {
  const std::uint32_t lane = lane_index();
  if (route.next + slots_for(bytes) > route.free_until)
    return Begun::nothing;
  const bool dense = may_be_dense(bytes, data, route, route.next);
  if (is_answered_early<S>(then))
    order = answer_early<S>(route.order, slots_for(bytes, dense));
  if (lane == 0) {
    Span &span = block_state().peer.span;
    span.ring = route.out;
    span.freed = nullptr;
    span.data = static_cast<unsigned char *>(const_cast<void *>(data));
    span.first = route.next;
    span.bytes = bytes;
    span.then = then;
    span.route = i;
    span.free_until = route.free_until;
  }
  const std::uint64_t value = lane == 0   ? head_of(tag, route.context) | (dense ? dense_bit : 0)
                              : lane == 1 ? bytes
                                          : common_of(order);
  if (lane < header_packets)
    store_packet(packet_at(route.out, route.next, lane), value, lap_of(route.next));
  return way_of_span(dense);
}

/// The rest of a call by route `i` whose message takes so many slots, and is on its way. `told`: as
/// it has been loaded. Lane 0.
template <Scope S>
GMPI_DEVICE void end_short(const Route &route, std::uint32_t i, std::uint32_t slots,
                           std::uint32_t bytes, std::uint32_t told, Begun then) {
  State &state = *context.peer;
  if (!is_answered_early<S>(then))
    increase_relaxed_device(route.order, slots * one_owned);
  if (then == Begun::over)
    end_sending<S>();
  note_next<S>(i, route.next + slots);
  count_call(state, bytes);
  if (told != 0)
    tell_progress(state);
}

/// Sends a message in rows by route `i`, if its slots are known to be free. `order`, `told`: as
/// above.
template <Scope S>
GMPI_DEVICE Begun send_in_rows(const Route &route, std::uint32_t i, int tag, const void *data,
                               std::uint32_t bytes, std::uint64_t order, std::uint32_t told,
                               Begun then) {
  const std::uint32_t lane = lane_index(), slots = slots_in_rows(bytes);
  if (route.next + slots > route.free_until)
    return Begun::nothing;
  if (is_answered_early<S>(then))
    order = answer_early<S>(route.order, slots);
  const std::uint64_t head = lane == 0   ? head_of(tag, route.context)
                             : lane == 1 ? bytes
                             : lane == 2 ? common_of(order)
                                         : 0;
  Rows(route.out, route.next, lane).write(head, data, bytes);
  __syncwarp(); // the data has been read, and the route
  if (lane == 0)
    end_short<S>(route, i, slots, bytes, told, then);
  return then;
}

/// send_short(), with the route as it has been `seen` early, or by one that is yet to be loaded.
///
/// Whether it can send is no branch before all that it needs to load is under way.
template <Scope S, bool own, bool early>
GMPI_DEVICE Begun send_short_by(const RouteWords &seen, MPI_Comm comm, int dest, int tag,
                                const void *data, int count, MPI_Datatype datatype, int source,
                                Begun then) {
  const std::uint32_t i = static_cast<std::uint32_t>(dest) % Routes::most;
  const std::uint32_t lane = lane_index();
  State &state = *context.peer;
  Route route;
  if constexpr (early)
    route = seen.route();
  else
    route = load_route<S>(i);
  if constexpr (early) // a long message need not wait for what is loaded here
    if (static_cast<std::uint32_t>(count) > route.longest)
      return Begun::nothing;
  const std::uint32_t bytes = static_cast<std::uint32_t>(count) * route.extent;
  const bool by_warp = bytes <= warp_bytes;
  bool leads = leads_to(route, comm, dest, tag, datatype) &
               (static_cast<std::uint32_t>(count) <= route.longest) &
               (static_cast<std::uint32_t>(source) < route.size) &
               (own ? by_warp : is_in_words(data, bytes));
  RouteWords now;
  if constexpr (early)
    now = RouteWords::load(block_state().launch->routes.route[i]);
  std::uint64_t order = 0;
  if (!is_answered_early<S>(then))
    order = load_relaxed_device_if(leads, route.order);
  const std::uint32_t told = load_relaxed_device(&state.summary.told);
  std::uint64_t words = own ? 0 : load_words_if(leads & by_warp, data, bytes, lane);
  if constexpr (early) {
    leads &= now.leads_as(seen);
    route.next = now.next();
    route.free_until = now.free_until();
  }
  std::uint64_t *to = packet_at(route.out, route.next, lane);
  if constexpr (!early)
    to = by_now(to); // while the rest comes
  if (!(leads & by_warp & (route.next < route.free_until)))
    return !leads | by_warp ? Begun::nothing
           : is_in_rows(data, bytes)
               ? send_in_rows<S>(route, i, tag, data, bytes, order, told, then)
               : send_span<S>(route, i, tag, data, bytes, order, then);
  if (is_answered_early<S>(then))
    order = answer_early<S>(route.order, 1);
  if constexpr (own)
    words = load_own(data, bytes, lane, header_packets);
  const std::uint64_t known = lane == 0 ? head_of(tag, route.context) : lane == 1 ? bytes : 0;
  const std::uint64_t value = known | (common_of(order) & (lane == 2 ? ~0ull : 0)) | words;
  if (lane < header_packets + (bytes + packet_bytes - 1) / packet_bytes)
    store_packet(to, value, lap_of(route.next));
  __syncwarp(); // the data has been read, and the route
  if (lane == 0)
    end_short<S>(route, i, 1, bytes, told, then);
  return then;
}
/// Sends at most eager_bytes through the route that the last such message has taken, if that leads
/// there, its slots are known to be free, and `source` is a rank, too; else nothing has happened.
/// Returns `then`, or that all of the block are to carry a span. `then`: over, where the call is
/// over with it; or answered, or sent. `own`: from each thread's own memory, of any length that a
/// warp carries. `early`: the route, or null.
template <Scope S, bool own>
GMPI_DEVICE Begun send_short(MPI_Comm comm, int dest, int tag, const void *data, int count,
                             MPI_Datatype datatype, int source, Begun then,
                             const EarlyRoute<S> *early = nullptr) {
  if (take_launchs<S>() && early != nullptr)
    return send_short_by<S, own, true>(early->words, comm, dest, tag, data, count, datatype, source,
                                       then);
  return send_short_by<S, own, false>({}, comm, dest, tag, data, count, datatype, source, then);
}

/// What is left when all of the block have written a span. (It calls a function.)
GMPI_DEVICE void tell_of_span() {
  if (thread_index() == 0 && block_state().peer.span.told != 0)
    tell_progress(*context.peer);
}

} // namespace gmpi::device::peer
