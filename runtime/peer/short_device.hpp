// The quickest way of short calls: what most calls do, and nothing else. A block's first warp,
// whole, sends by a route, and receives what comes next from a rank that is named. Of a message of
// more than a packet in each lane, it writes or reads the header, and all of the block carry the
// rest (span_device.hpp).
//
// Invariant: whatever is unusual is left to others, before anything has happened, or with
// block.peer.arrived. The functions here call none, and are part of whoever calls them: so hardly a
// register has to be saved, and what can be is under way together.
#pragma once

#include "receive_device.hpp"
#include "routes_device.hpp"
#include "span_device.hpp"
#include "taking_device.hpp"

namespace gmpi::device::peer {

/// As much as a warp carries with a packet in each lane.
constexpr std::uint32_t warp_bytes = (32 - header_packets) * packet_bytes;

/// The eight bytes that packet `packet` of a message carries, of `bytes` in all: whole words of
/// four bytes at an address for such. Nothing for a packet of the header, or behind the end.
GMPI_DEVICE std::uint64_t load_words(const void *data, std::uint32_t bytes, std::uint32_t packet) {
  const std::uint32_t at = (packet - header_packets) * packet_bytes; // a header's: beyond any end
  auto *from = reinterpret_cast<const std::uint32_t *>(static_cast<const char *>(data) + at);
  const std::uint32_t low = at < bytes ? from[0] : 0;
  const std::uint32_t high = at < bytes && at + 4 < bytes ? from[1] : 0;
  return low | std::uint64_t(high) << 32;
}
/// Stores the same.
GMPI_DEVICE void store_words(void *data, std::uint32_t bytes, std::uint32_t packet,
                             std::uint64_t value) {
  const std::uint32_t at = (packet - header_packets) * packet_bytes;
  auto *to = reinterpret_cast<std::uint32_t *>(static_cast<char *>(data) + at);
  if (at < bytes)
    to[0] = static_cast<std::uint32_t>(value);
  if (at < bytes && at + 4 < bytes)
    to[1] = static_cast<std::uint32_t>(value >> 32);
}

/// Whether the route leads there, and MPI takes such a tag.
GMPI_DEVICE bool leads_to(const Route &route, MPI_Comm comm, int dest, int tag,
                          MPI_Datatype datatype) {
  // (All of it is looked at: each branch would wait for its own.)
  return (route.comm == comm) & (route.datatype == datatype) & (route.dest == dest) &
         (static_cast<std::uint32_t>(tag) <= static_cast<std::uint32_t>(context.tag_upper_bound));
}

/// Sends at most eager_bytes through the route that the last such message has taken, if that leads
/// there, its slots are known to be free, and `source` is a rank, too; else nothing has happened.
/// Returns `then`, or that all of the block are to carry a span. `then`: over, where the call is
/// over with it; or answered, or sent.
template <Scope S>
GMPI_DEVICE Begun send_short(MPI_Comm comm, int dest, int tag, const void *data, int count,
                             MPI_Datatype datatype, int source, Begun then) {
  static_assert(std::uint32_t(MessageKind::eager) == 0 && header_packets == 3);
  const std::uint32_t i = static_cast<std::uint32_t>(dest) % Routes::most;
  const Route route = load_route<S>(i);
  const std::uint32_t bytes = static_cast<std::uint32_t>(count) * route.extent;
  const bool by_warp = bytes <= warp_bytes;
  const std::uint32_t slots = by_warp ? 1 : static_cast<std::uint32_t>(slots_for(bytes));
  if (!leads_to(route, comm, dest, tag, datatype) ||
      static_cast<std::uint32_t>(count) > route.longest || route.next + slots > route.free_until ||
      static_cast<std::uint32_t>(source) >= route.size || !is_in_words(data, bytes) ||
      is_local(data))
    return Begun::nothing;
  State &state = *context.peer;
  const std::uint32_t lane = lane_index();
  // These need nothing of each other.
  const std::uint64_t order = load_relaxed_device(route.order);
  const std::uint32_t told = load_relaxed_device(&state.summary.told);
  const std::uint64_t words = by_warp ? load_words(data, bytes, lane) : 0;
  if (!by_warp && lane == 0) {
    Span &span = block_state().peer.span;
    span.ring = route.out;
    span.freed = nullptr;
    span.data = static_cast<unsigned char *>(const_cast<void *>(data));
    span.first = route.next;
    span.bytes = bytes;
    span.then = then;
    span.route = i;
  }
  const std::uint64_t head = static_cast<std::uint32_t>(tag) | std::uint64_t(route.context)
                                                                   << 32; // as pack_header()
  const std::uint64_t value = lane == 0   ? head
                              : lane == 1 ? bytes
                              : lane == 2 ? common_of(order)
                                          : words;
  if (lane < header_packets + (by_warp ? (bytes + packet_bytes - 1) / packet_bytes : 0))
    store_packet(packet_at(route.out, route.next, lane), value, lap_of(route.next));
  if (!by_warp)
    return way_of_span(bytes, data, route.next);
  __syncwarp(); // the data has been read, and the route
  if (lane == 0) {
    increase_relaxed_device(route.order, one_owned);
    if (then != Begun::sent) {
      prepare_end<S>(then != Begun::over); // what it has read nobody else needs
      tell_end_of_call<S>();
    }
    routes_of<S>().route[i].next = route.next + 1;
    count_call(state, bytes);
    if (told != 0)
      tell_progress(state);
  }
  return then;
}

/// What is left when all of the block have written a span. (It calls a function.)
GMPI_DEVICE void tell_of_span() {
  if (thread_index() == 0 && block_state().peer.span.told != 0)
    tell_progress(*context.peer);
}

/// What the receive of such a message returns. Lane 0.
template <Scope S>
GMPI_DEVICE void note_short(Share &share, int source, int tag, std::uint32_t bytes) {
  share.truncated = false;
  share.result = nothing_received();
  share.result.source = source;
  share.result.tag = tag;
  share.result.bytes = bytes;
  if (S == Scope::grid)
    block_state().launch->result = share.result;
}

/// Has the block remember a rank of this datatype's messages, if there is such a one. A warp.
GMPI_DEVICE bool remember_source(const State &state, MPI_Comm handle, int rank,
                                 MPI_Datatype datatype) {
  const Comm *comm = find_comm(handle);
  const std::int32_t extent = find_datatype(datatype).extent;
  if (comm == nullptr || rank < 0 || rank >= comm->size || extent == 0)
    return false;
  __syncwarp();
  if (lane_index() == 0) {
    const std::uint32_t peer = comm->peer_of[rank];
    const Channel &common = state.channels[peer], &owned = state.channels[owned_channel(peer)];
    block_state().sources[static_cast<std::uint32_t>(rank) % Source::most] = {
        handle,
        datatype,
        rank,
        static_cast<std::uint32_t>(extent),
        comm->context,
        peer,
        0,
        0,
        {common.in, owned.in},
        {common.in_freed, owned.in_freed}};
  }
  __syncwarp();
  return true;
}

/// What a warp sees of both channels from a rank, a packet of each in a lane.
struct Fronts {
  const std::uint64_t *from[2];
  std::uint32_t laps[2];
  Packet packet;       ///< of the message that is next
  bool by_owned;       ///< its channel
  std::uint32_t there; ///< bits: lanes whose packet has come

  GMPI_DEVICE Fronts(const Source &source, const Position &at, std::uint32_t lane)
      : from{packet_at(source.in[0], at.common, lane), packet_at(source.in[1], at.owned, lane)},
        laps{lap_of(at.common), lap_of(at.owned)}, packet{}, by_owned(false), there(0) {}

  /// Looks at them. Whether there is a header whose turn it is.
  GMPI_DEVICE bool look(const Position &at, std::uint32_t lane) {
    constexpr unsigned headers = (1u << header_packets) - 1;
    const Packet common = Packet::load(from[0]);
    packet = Packet::load(from[1]);
    const bool is_third = lane + 1 == header_packets; // it says what is to come before
    by_owned = true;
    there = __ballot_sync(whole_warp, packet.shows(laps[1]) &
                                          (!is_third | at.allows(max_peers, packet.data())));
    if ((there & headers) == headers)
      return true;
    by_owned = false;
    packet = common;
    there = __ballot_sync(whole_warp,
                          common.shows(laps[0]) & (!is_third | at.allows(0, common.data())));
    return (there & headers) == headers;
  }
};

/// Receives what comes next from a rank that is named, if it is a message of whole words that fits
/// into memory of all of the block. Else nothing has happened; or the message is found, and the
/// channels are held. Returns over, or answered; or that all of the block are to carry a span.
///
/// To take hold of the channels takes one atomic where nobody else has received from that rank
/// since the block has: it succeeds if nothing has been taken meanwhile, so nothing has been kept,
/// and where the channels go on is known. It is under way together with the first look.
template <Scope S>
GMPI_DEVICE Begun receive_short(MPI_Comm comm, int source, int tag, void *data, int count,
                                MPI_Datatype datatype, bool want_status) {
  constexpr unsigned most_turns = 1u << 14; // then it is time to say what is waited for
  BlockState &block = block_state();
  State &state = *context.peer;
  const std::uint32_t lane = lane_index();
  Source &known = block.sources[static_cast<std::uint32_t>(source) % Source::most];
  if (count < 0 || (tag < 0 && tag != MPI_ANY_TAG) || !is_in_words(data, 0) || is_local(data))
    return Begun::nothing;
  const bool remembered =
      (known.comm == comm) & (known.datatype == datatype) & (known.source == source);
  if (!remembered && !remember_source(state, comm, source, datatype))
    return Begun::nothing;
  const Source &from = known;
  const std::uint64_t room = std::uint64_t(static_cast<std::uint32_t>(count)) * from.extent;
  // What an eager message's first header packet has to say, where the tag matters.
  const std::uint64_t wanted = static_cast<std::uint32_t>(tag) | std::uint64_t(from.context) << 32;
  const std::uint64_t ignored = tag == MPI_ANY_TAG ? 0xffffffffu : 0;
  unsigned long long *const word_at = &state.receiving[from.peer].next;
  unsigned long long word = from.word;
  Position at{common_of(word), from.owned};
  if (!remembered || (S == Scope::grid && grid_blocks() > 1)) {
    word = load_relaxed_device(word_at);
    at = position_of(state, from.peer, word);
    word = of_lane(word, 0);
    at = {common_of(word), of_lane(at.owned, 0)};
    if ((word & locked) != 0)
      return Begun::nothing;
  }
  Fronts fronts(from, at, lane);
  unsigned long long found = word;
  if (lane == 0)
    found = cas_relaxed_device(word_at, word, word | locked); // in flight
  bool is_second = false;                                     // attempt
  std::uint64_t first, second;                                // of the header
  GMPI_NO_UNROLL
  for (unsigned turns = 0;; ++turns) {
    Summary summary{};
    if (turns % 4 == 0)
      summary = look(state);
    const bool comes = fronts.look(at, lane);
    if (turns == 0) {
      found = of_lane(found, 0);
      if (found != word && (is_second || (found & locked) != 0))
        return Begun::nothing;
      if (found != word) { // somebody else has received from that rank
        is_second = true;
        word = found;
        at = position_of(state, from.peer, word);
        at.owned = of_lane(at.owned, 0);
        fronts = Fronts(from, at, lane);
        if (lane == 0)
          found = cas_relaxed_device(word_at, word, word | locked);
        turns = ~0u;
        continue;
      }
    }
    // Others of the rank may need somebody to go on, or what is held here.
    const bool stop =
        turns % 4 == 0 && (__any_sync(whole_warp, is_contended(summary)) || turns == most_turns);
    if (comes && !stop) {
      first = of_lane(fronts.packet.data(), 0);
      second = of_lane(fronts.packet.data(), 1);
      if (((first ^ wanted) & ~ignored) != 0 || second > room || (second & 3) != 0) {
        if (lane == 0)
          block.peer.arrived = {at.common, at.owned,
                                fronts.by_owned ? owned_channel(from.peer) : from.peer,
                                unpack_header(first, second, 0)};
        __syncwarp();
        return Begun::found;
      }
      const unsigned awaited =
          second < warp_bytes
              ? (2u << (header_packets - 1 + (static_cast<unsigned>(second) + 7) / 8)) - 1
              : whole_warp;
      if (second > warp_bytes || (fronts.there & awaited) == awaited)
        break;
    }
    if (stop) {
      if (lane == 0)
        let_channels_go(state, from.peer, at);
      return Begun::nothing;
    }
    if (lane == 0)
      relax();
  }
  const auto bytes = static_cast<std::uint32_t>(second);
  const bool by_owned = fronts.by_owned;
  const unsigned long long slot = by_owned ? at.owned : at.common;
  std::uint32_t *const freed = from.freed[by_owned ? 1 : 0];
  if (bytes > warp_bytes) {
    if (lane == 0) {
      const auto slots = static_cast<std::uint32_t>(slots_for(bytes));
      (by_owned ? at.owned : at.common) += slots;
      known.word = at.word();
      known.owned = at.owned;
      Span &span = block.peer.span;
      span.ring = from.in[by_owned ? 1 : 0];
      span.freed = freed;
      span.data = static_cast<unsigned char *>(data);
      span.first = slot;
      span.bytes = bytes;
      span.then = want_status ? Begun::answered : Begun::over;
      span.peer = from.peer;
      span.common = at.common;
      span.owned = at.owned;
      if (want_status)
        note_short<S>(block.peer, source, static_cast<std::int32_t>(first), bytes);
    }
    return way_of_span(bytes, data, slot);
  }
  store_words(data, bytes, lane, fronts.packet.data());
  __syncwarp();
  if (lane == 0) {
    (by_owned ? at.owned : at.common) += 1;
    known.word = at.word();
    known.owned = at.owned;
    let_channels_go(state, from.peer, at);
    if (want_status)
      note_short<S>(block.peer, source, static_cast<std::int32_t>(first), bytes);
    prepare_end<S>();
    tell_end_of_call<S>();
    store_relaxed_system(freed + slot % channel_slots, lap_of(slot));
  }
  return want_status ? Begun::answered : Begun::over;
}
static_assert(warp_bytes == 232);

} // namespace gmpi::device::peer
