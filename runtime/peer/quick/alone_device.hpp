// The quick way of short calls that single threads make.
//
// Invariant: a thread that uses its block's routes holds block.routes_taken meanwhile; calls of the
// whole block need not, since then no thread makes one of its own. Nobody waits for it: there is
// another way.
#pragma once

#include "../collectives/repeated_collectives_device.hpp"

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
      values[i] = load_words_if(p + i < end, data, bytes, p + i);
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

/// MPI_Send of at most slot_bytes, if it can be done at once by a route of the block's whose next
/// slot is known to be free; else nothing has happened.
GMPI_DEVICE bool send_alone(const Arguments &a) {
  BlockState &block = block_state();
  State &state = *context.peer;
  if (!try_take_routes(block))
    return false;
  Route &its = block.routes.route[static_cast<std::uint32_t>(a.dest) % Routes::most];
  const Route route = its;
  const std::uint32_t bytes = static_cast<std::uint32_t>(a.send_count) * route.extent;
  const bool can = leads_to(route, a.comm, a.dest, a.send_tag, a.send_datatype) &
                   (static_cast<std::uint32_t>(a.send_count) <= route.longest) &
                   (bytes <= slot_bytes) & is_in_words(a.send_buffer, bytes) &
                   (route.next < route.free_until);
  // These need nothing of each other, and are under way together.
  const std::uint64_t order = load_relaxed_device_if(can, route.order);
  const std::uint32_t told = load_relaxed_device(&state.summary.told);
  const std::uint64_t first = load_words_if(can, a.send_buffer, bytes, header_packets);
  if (can) {
    std::uint64_t *const to = packet_at(route.out, route.next, 0);
    const std::uint32_t lap = lap_of(route.next), all = packets_for(bytes);
    store_packet(to, head_of(a.send_tag, route.context), lap);
    store_packet(to + packet_words, bytes, lap);
    if (bytes != 0)
      store_packet(to + header_packets * packet_words, first, lap);
    store_packet(to + 2 * packet_words, common_of(order), lap);
    write_data_alone(to, lap, header_packets + 1, all, a.send_buffer, bytes);
    its.next = route.next + 1;
    increase_relaxed_device(route.order, one_owned);
    count_call(state, bytes);
  }
  give_routes_back(block);
  if (can && told != 0)
    tell_progress(state);
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
  if (comm == nullptr || wants_status(a) || a.source < 0)
    return false;
  // What is loaded without need of each other is under way together.
  const std::int32_t size = comm->size;
  const std::uint32_t comm_context = comm->context;
  const std::uint32_t peer = comm->peer_of[static_cast<std::uint32_t>(a.source) % max_peers];
  const Buffers buffers = buffers_of(Function::Recv, a, message_bytes);
  if (a.source >= size || !receives_well(*comm, a, buffers) || !is_in_words(buffers.out, 0))
    return false;
  State &state = *context.peer;
  unsigned long long *const word_at = &state.receiving[peer].next;
  const unsigned long long word = load_relaxed_device(word_at);
  if ((word & locked) != 0)
    return false;
  const unsigned long long before = cas_relaxed_device(word_at, word, word | locked);
  const Summary summary = look(state);
  const unsigned long long last = load_relaxed_device(&state.receiving[owned_channel(peer)].next);
  const Channel common = state.channels[peer], owned = state.channels[owned_channel(peer)];
  if (before != word)
    return false;
  Position at = position_of(word, last);
  const std::uint64_t *from_common = packet_at(common.in, at.common, 0);
  const std::uint64_t *from_owned = packet_at(owned.in, at.owned, 0);
  std::uint32_t *const freed_common = common.in_freed + at.common % channel_slots;
  std::uint32_t *const freed_owned = owned.in_freed + at.owned % channel_slots;
  const std::uint32_t lap_common = lap_of(at.common), lap_owned = lap_of(at.owned);
  // What an eager message's header has to say, where the tag matters; and of how much at most.
  const std::uint64_t wanted = head_of(a.recv_tag, comm_context);
  const std::uint64_t matters = bits_of_head(a.recv_tag);
  const std::uint64_t most = buffers.out_bytes < slot_bytes ? buffers.out_bytes : slot_bytes;
  bool goes_on = !is_contended(summary);
  GMPI_NO_UNROLL
  for (unsigned turns = 1; goes_on; ++turns) {
    Front front;
    front.load(from_owned);
    const Packet hint = Packet::load(from_common); // all of it would be many registers
    const bool by_owned =
        front.shows_header(lap_owned) & at.allows(owned_channel(peer), front.packets[2].data());
    bool there = by_owned;
    if (!by_owned && hint.shows(lap_common)) {
      front.load(from_common);
      there = front.shows_header(lap_common) & at.allows(peer, front.packets[2].data());
    }
    if (!there) {
      if (turns % look_again == 0)
        goes_on = turns != most_turns && !is_contended(look(state));
      relax();
      continue;
    }
    const std::uint64_t first = front.packets[0].data(), second = front.packets[1].data();
    if ((((first ^ wanted) & matters) != 0) | (second > most) | ((second & 3) != 0))
      break;
    const auto bytes = static_cast<std::uint32_t>(second);
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
