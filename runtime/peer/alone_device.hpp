// The quick way of short calls that single threads make.
//
// Invariant: a thread that uses its block's routes holds block.routes_taken meanwhile; calls of the
// whole block need not, since then no thread makes one of its own. Nobody waits for it: there is
// another way.
#pragma once

#include "quick_collectives_device.hpp"

namespace gmpi::device::peer {

GMPI_DEVICE bool try_take_routes(BlockState &block) {
  if (atomicExch(&block.routes_taken, 1u) != 0)
    return false;
  __threadfence_block();
  return true;
}
GMPI_DEVICE void give_routes_back(BlockState &block) {
  __threadfence_block();
  atomicExch(&block.routes_taken, 0u);
}

/// Packets that one thread loads at a time.
constexpr std::uint32_t alone_at_once = 4;

/// Writes the packets of a message's data, in one slot, from number `p` to before `end`.
GMPI_DEVICE void write_data_alone(std::uint64_t *to, std::uint32_t lap, std::uint32_t p,
                                  std::uint32_t end, const void *data, std::uint32_t bytes) {
  GMPI_NO_UNROLL
  for (; p < end; p += alone_at_once) {
    std::uint64_t values[alone_at_once];
    GMPI_UNROLL
    for (std::uint32_t i = 0; i < alone_at_once; ++i)
      values[i] = load_words(data, bytes, p + i);
    GMPI_UNROLL
    for (std::uint32_t i = 0; i < alone_at_once; ++i)
      if (p + i < end)
        store_packet(to + (p + i) * packet_words, values[i], lap);
  }
}
/// Reads those from number `p` on.
GMPI_DEVICE void read_data_alone(const std::uint64_t *from, std::uint32_t lap, std::uint32_t p,
                                 void *data, std::uint32_t bytes) {
  const std::uint32_t all = packets_for(bytes);
  GMPI_NO_UNROLL
  for (; p < all; p += alone_at_once) {
    Packet found[alone_at_once];
    GMPI_UNROLL
    for (std::uint32_t i = 0; i < alone_at_once; ++i)
      found[i] = Packet::load(from + (p + i < all ? p + i : p) * packet_words);
    GMPI_UNROLL
    for (std::uint32_t i = 0; i < alone_at_once; ++i)
      if (p + i < all)
        store_words(data, bytes, p + i,
                    found[i].shows(lap) ? found[i].data()
                                        : await_packet(from + (p + i) * packet_words, lap));
  }
}

/// Sends at most slot_bytes through a route whose next slot is known to be free.
GMPI_DEVICE void send_by(Route &route, int tag, const void *data, std::uint32_t bytes) {
  State &state = *context.peer;
  const unsigned long long next = route.next;
  std::uint64_t *const to = packet_at(route.out, next, 0);
  const std::uint32_t lap = lap_of(next);
  // These need nothing of each other.
  const std::uint64_t after = common_of(load_relaxed_device(route.order));
  const std::uint32_t told = load_relaxed_device(&state.summary.told);
  const std::uint32_t all = packets_for(bytes);
  const std::uint32_t few =
      header_packets + alone_at_once < all ? header_packets + alone_at_once : all;
  write_data_alone(to, lap, header_packets, few, data, bytes);
  const Header header{MessageKind::eager, route.context, 0, 0, tag, bytes, after, false};
  GMPI_UNROLL
  for (std::uint32_t p = 0; p < header_packets; ++p)
    store_packet(to + p * packet_words, pack_header(header, p), lap);
  write_data_alone(to, lap, few, all, data, bytes);
  route.next = next + 1;
  increase_relaxed_device(route.order, one_owned);
  count_call(state, bytes);
  if (told != 0)
    tell_progress(state);
}

/// MPI_Send, if it can be done at once by a route of the block's; else nothing has happened.
GMPI_DEVICE bool send_alone(const Arguments &a) {
  BlockState &block = block_state();
  Route &route = block.routes.route[static_cast<std::uint32_t>(a.dest) % Routes::most];
  if (!try_take_routes(block))
    return false;
  const std::uint32_t bytes = static_cast<std::uint32_t>(a.send_count) * route.extent;
  const bool can = route.comm == a.comm && route.datatype == a.send_datatype &&
                   route.dest == a.dest &&
                   static_cast<std::uint32_t>(a.send_count) <= route.longest && a.send_tag >= 0 &&
                   a.send_tag <= context.tag_upper_bound && bytes <= slot_bytes &&
                   is_in_words(a.send_buffer, bytes) && route.next < route.free_until;
  if (can)
    send_by(route, a.send_tag, a.send_buffer, bytes);
  give_routes_back(block);
  return can;
}

/// Has the thread's next short messages to that rank take a route, if they can.
GMPI_OUT_OF_LINE void find_route_alone(const Comm &comm, int dest, MPI_Datatype datatype) {
  BlockState &block = block_state();
  Routes &routes = block.routes;
  const std::uint32_t i = static_cast<std::uint32_t>(dest) % Routes::most;
  if (!try_take_routes(block))
    return;
  State &state = *context.peer;
  if ((routes.refused >> i & 1) == 0)
    own_channel<Scope::thread>(state, routes, i, comm, dest, datatype);
  Route &route = routes.route[i];
  if ((routes.owned >> i & 1) != 0 && route.next >= route.free_until) {
    find_free(state, routes.channel[i], route.next + 1);
    route.free_until = load_relaxed_device(&state.sending[routes.channel[i]].free_until);
  }
  give_routes_back(block);
}

/// A channel's next packets as one thread sees them: a header, and the first of the data.
struct Front {
  Packet packets[header_packets + 1];

  GMPI_DEVICE void load(const std::uint64_t *from) {
    GMPI_UNROLL
    for (std::uint32_t p = 0; p <= header_packets; ++p)
      packets[p] = Packet::load(from + p * packet_words);
  }
  GMPI_DEVICE bool shows_header(std::uint32_t lap) const {
    return packets[0].shows(lap) & packets[1].shows(lap) & packets[2].shows(lap);
  }
};

/// MPI_Recv of a short message from a rank that is named, if nothing else is to be done meanwhile;
/// else nothing has happened.
GMPI_DEVICE bool receive_alone(const Arguments &a) {
  const Comm *comm = find_comm(a.comm);
  if (comm == nullptr || wants_status(a) || a.source < 0 || a.source >= comm->size)
    return false;
  const Buffers buffers = buffers_of(Function::Recv, a, message_bytes);
  if (!receives_well(*comm, a, buffers) || !is_in_words(buffers.out, 0))
    return false;
  State &state = *context.peer;
  const std::uint32_t peer = comm->peer_of[a.source];
  const unsigned long long word = load_relaxed_device(&state.receiving[peer].next);
  if (!try_lock_channels(state, peer, word))
    return false;
  const Channel &common = state.channels[peer], &owned = state.channels[owned_channel(peer)];
  Position at = position_of(state, peer, word);
  const std::uint64_t *from_common = packet_at(common.in, at.common, 0);
  const std::uint64_t *from_owned = packet_at(owned.in, at.owned, 0);
  std::uint32_t *const freed_common = common.in_freed + at.common % channel_slots;
  std::uint32_t *const freed_owned = owned.in_freed + at.owned % channel_slots;
  const std::uint32_t lap_common = lap_of(at.common), lap_owned = lap_of(at.owned);
  Patience patience;
  GMPI_NO_UNROLL
  for (unsigned turns = 0;; ++turns) {
    const Summary summary = look(state);
    Front front;
    front.load(from_owned);
    const Packet hint = Packet::load(from_common); // all of it would be many registers
    const bool by_owned =
        front.shows_header(lap_owned) && at.allows(owned_channel(peer), front.packets[2].data());
    bool there = by_owned;
    if (!by_owned && hint.shows(lap_common)) {
      front.load(from_common);
      there = front.shows_header(lap_common) && at.allows(peer, front.packets[2].data());
    }
    if (is_contended(summary) || patience.ends(turns))
      break;
    if (!there) {
      relax();
      continue;
    }
    const Header header = unpack_header(front.packets[0].data(), front.packets[1].data(), 0);
    if (!is_for(header, *comm, a.recv_tag) || header.kind != MessageKind::eager ||
        header.bytes > buffers.out_bytes || header.bytes > slot_bytes || (header.bytes & 3) != 0)
      break;
    const auto bytes = static_cast<std::uint32_t>(header.bytes);
    const std::uint64_t *from = by_owned ? from_owned : from_common;
    const std::uint32_t lap = by_owned ? lap_owned : lap_common;
    if (bytes != 0)
      store_words(buffers.out, bytes, header_packets,
                  front.packets[header_packets].shows(lap)
                      ? front.packets[header_packets].data()
                      : await_packet(from + header_packets * packet_words, lap));
    read_data_alone(from, lap, header_packets + 1, buffers.out, bytes);
    at.common += !by_owned;
    at.owned += by_owned;
    let_channels_go(state, peer, at);
    store_relaxed_system(by_owned ? freed_owned : freed_common, lap);
    return true;
  }
  let_channels_go(state, peer, at);
  return false;
}

} // namespace gmpi::device::peer
