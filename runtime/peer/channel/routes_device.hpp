// Channels that a block, or a launch, owns: short messages take them without an atomic.
//
// Invariant: what a block owns lies in its shared memory, for calls of its own; what a launch owns,
// in its LaunchState, for calls of grid scope. So nobody else uses a route meanwhile. Blocks that
// arrive at a call may look at a launch's, and look again when they know that they are to use it.
#pragma once

#include "../../mpi/datatypes_device.hpp"
#include "channel_device.hpp"

#include <cstddef>
#include <cstring>

namespace gmpi::device::peer {

/// Whether calls of scope S take the launch's routes; else they take the block's.
template <Scope S> GMPI_DEVICE bool take_launchs() { return S == Scope::grid && grid_blocks() > 1; }
/// Whose routes calls of scope S take.
template <Scope S> GMPI_DEVICE Routes &routes_of() {
  BlockState &block = block_state();
  return take_launchs<S>() ? block.launch->routes : block.routes;
}

/// A copy of route `i`.
template <Scope S> GMPI_DEVICE Route load_route(std::uint32_t i) {
  // Not by one address: what is known to lie in shared memory is there sooner.
  if (take_launchs<S>())
    return block_state().launch->routes.route[i];
  return block_state().routes.route[i];
}

/// The words of a route of the launch's, which somebody may be writing: of each pair all is there.
struct RouteWords {
  std::uint64_t a, b, c, d, e, f, g, h;
  static_assert(sizeof(Route) == 8 * sizeof(std::uint64_t));

  GMPI_DEVICE static RouteWords load(const Route &route) {
    RouteWords words;
    auto *from = reinterpret_cast<const std::uint64_t *>(&route);
    load_whole(from, words.a, words.b);
    load_whole(from + 2, words.c, words.d);
    load_whole(from + 4, words.e, words.f);
    load_whole(from + 6, words.g, words.h);
    return words;
  }
  GMPI_DEVICE Route route() const {
    Route route;
    memcpy(&route, this, sizeof(Route));
    return route;
  }
  static_assert(offsetof(Route, next) == 4 * sizeof(std::uint64_t) &&
                offsetof(Route, order) == 6 * sizeof(std::uint64_t));
  GMPI_DEVICE std::uint64_t next() const { return e; }
  GMPI_DEVICE std::uint64_t free_until() const { return f; }
  /// Whether all is the same but these.
  GMPI_DEVICE bool leads_as(const RouteWords &other) const {
    return ((a ^ other.a) | (b ^ other.b) | (c ^ other.c) | (d ^ other.d) | (g ^ other.g) |
            (h ^ other.h)) == 0;
  }
};
/// Stores a route. One thread.
template <Scope S> GMPI_DEVICE void store_route(Route &to, const Route &route) {
  if (!take_launchs<S>()) {
    to = route;
    return;
  }
  unsigned long long words[sizeof(Route) / sizeof(unsigned long long)];
  memcpy(words, &route, sizeof(Route));
  GMPI_NO_UNROLL
  for (std::uint32_t k = 0; k < sizeof words / sizeof words[0]; ++k)
    store_relaxed_device(reinterpret_cast<unsigned long long *>(&to) + k, words[k]);
}
/// Notes how far route `i` has been used, and how far its slots are known to be free. One thread.
template <Scope S> GMPI_DEVICE void note_next(std::uint32_t i, unsigned long long next) {
  if (take_launchs<S>())
    store_relaxed_device(&block_state().launch->routes.route[i].next, next);
  else
    block_state().routes.route[i].next = next;
}
template <Scope S> GMPI_DEVICE void note_free_until(std::uint32_t i, unsigned long long end) {
  if (take_launchs<S>())
    store_relaxed_device(&block_state().launch->routes.route[i].free_until, end);
  else
    block_state().routes.route[i].free_until = end;
}

/// The route of a call of scope S as it is looked at before it is known which block is to use it:
/// the launch's, where calls of that scope take these. A warp, or one thread.
template <Scope S> struct EarlyRoute {
  RouteWords words;

  GMPI_DEVICE void load(int dest) {
    if (take_launchs<S>())
      words = RouteWords::load(
          block_state().launch->routes.route[static_cast<std::uint32_t>(dest) % Routes::most]);
  }
};

/// Whether the route leads there, and MPI takes such a tag.
GMPI_DEVICE bool leads_to(const Route &route, MPI_Comm comm, int dest, int tag,
                          MPI_Datatype datatype) {
  // (All of it is looked at: each branch would wait for its own.)
  return (route.comm == comm) & (route.datatype == datatype) & (route.dest == dest) &
         (static_cast<std::uint32_t>(tag) <= static_cast<std::uint32_t>(context.tag_upper_bound));
}

/// Has route `i` lead to that rank by an owned channel, if nobody else owns it. One thread.
template <Scope S>
GMPI_NOINLINE void own_channel(State &state, Routes &routes, std::uint32_t i, const Comm &comm,
                               int dest, MPI_Datatype datatype) {
  const std::uint32_t peer = comm.peer_of[dest], channel = owned_channel(peer);
  const auto extent = static_cast<std::uint32_t>(find_datatype(datatype).extent);
  if (extent == 0) // an empty message of any datatype
    return;
  Route route = routes.route[i];
  const bool owns = (routes.owned >> i & 1) != 0;
  if (owns && route.comm == comm.handle && route.dest == dest && route.datatype == datatype)
    return;
  if (owns && routes.channel[i] != channel)
    give_up(state, routes, i);
  if ((routes.owned >> i & 1) == 0) {
    if (load_relaxed_device(&state.owner[peer]) != 0 ||
        cas_acquire_device(&state.owner[peer], 0, 1) != 0) {
      routes.refused |= 1u << i;
      store_route<S>(routes.route[i], Route{});
      return;
    }
    const Line &line = state.sending[channel];
    routes.owned |= 1u << i;
    routes.channel[i] = static_cast<std::uint16_t>(channel);
    route.next = load_relaxed_device(&line.next);
    route.free_until = load_relaxed_device(&line.free_until);
    route.order = &state.sending[peer].next;
    route.out = state.channels[channel].out;
  }
  route.comm = comm.handle;
  route.dest = dest;
  route.datatype = datatype;
  route.extent = extent;
  route.near = peer < state.near_peers;
  route.longest = (route.near != 0 ? eager_bytes : far_packets_bytes) / extent;
  route.context = comm.context;
  route.size = static_cast<std::uint32_t>(comm.size);
  store_route<S>(routes.route[i], route);
}

/// Has the next messages to that rank take a route, if they can, and looks for `slots` slots there.
/// A warp, whole.
template <Scope S>
GMPI_DEVICE void find_route(State &state, const Comm &comm, int dest, MPI_Datatype datatype,
                            unsigned long long slots, std::uint32_t lane) {
  Routes &routes = routes_of<S>();
  const std::uint32_t i = static_cast<std::uint32_t>(dest) % Routes::most;
  const bool refused = (routes.refused >> i & 1) != 0;
  __syncwarp();
  if (refused)
    return;
  if (lane == 0)
    own_channel<S>(state, routes, i, comm, dest, datatype);
  __syncwarp();
  if ((routes.owned >> i & 1) == 0)
    return;
  const Route &route = routes.route[i];
  const std::uint32_t channel = routes.channel[i];
  if (route.next + slots <= route.free_until)
    return;
  find_free_as_warp(state, channel, route.next + slots, lane);
  __syncwarp();
  if (lane == 0)
    note_free_until<S>(i, load_relaxed_device(&state.sending[channel].free_until));
}

} // namespace gmpi::device::peer
