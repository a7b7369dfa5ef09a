// Channels that a block, or a launch, owns: short messages take them without an atomic.
//
// Invariant: what a block owns lies in its shared memory, for calls of its own; what a launch owns,
// in its LaunchState, for calls of grid scope. So nobody else looks at a route meanwhile.
#pragma once

#include "../mpi/datatypes_device.hpp"
#include "channel_device.hpp"

namespace gmpi::device::peer {

/// Whose routes calls of scope S take.
template <Scope S> GMPI_DEVICE Routes &routes_of() {
  BlockState &block = block_state();
  return S == Scope::grid && grid_blocks() > 1 ? block.launch->routes : block.routes;
}

/// A copy of route `i`.
template <Scope S> GMPI_DEVICE Route load_route(std::uint32_t i) {
  // Not by one address: what is known to lie in shared memory is there sooner.
  if (S == Scope::grid && grid_blocks() > 1)
    return block_state().launch->routes.route[i];
  return block_state().routes.route[i];
}

/// Whether the route leads there, and MPI takes such a tag.
GMPI_DEVICE bool leads_to(const Route &route, MPI_Comm comm, int dest, int tag,
                          MPI_Datatype datatype) {
  // (All of it is looked at: each branch would wait for its own.)
  return (route.comm == comm) & (route.datatype == datatype) & (route.dest == dest) &
         (static_cast<std::uint32_t>(tag) <= static_cast<std::uint32_t>(context.tag_upper_bound));
}

/// Has route `i` lead to that rank by an owned channel, if nobody else owns it. One thread.
GMPI_OUT_OF_LINE void own_channel(State &state, Routes &routes, std::uint32_t i, const Comm &comm,
                                  int dest, MPI_Datatype datatype) {
  const std::uint32_t peer = comm.peer_of[dest], channel = owned_channel(peer);
  const auto extent = static_cast<std::uint32_t>(find_datatype(datatype).extent);
  if (extent == 0) // an empty message of any datatype
    return;
  Route &route = routes.route[i];
  if ((routes.owned >> i & 1) != 0 && routes.channel[i] != channel)
    give_up(state, routes, i);
  if ((routes.owned >> i & 1) == 0) {
    if (load_relaxed_device(&state.owner[peer]) != 0 ||
        cas_acquire_device(&state.owner[peer], 0, 1) != 0) {
      routes.refused |= 1u << i;
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
  route.longest = eager_bytes / extent;
  route.context = comm.context;
  route.size = static_cast<std::uint32_t>(comm.size);
  route.near = peer < state.near_peers;
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
    own_channel(state, routes, i, comm, dest, datatype);
  __syncwarp();
  if ((routes.owned >> i & 1) == 0)
    return;
  Route &route = routes.route[i];
  const std::uint32_t channel = routes.channel[i];
  if (route.next + slots <= route.free_until)
    return;
  find_free_as_warp(state, channel, route.next + slots, lane);
  __syncwarp();
  if (lane == 0)
    route.free_until = load_relaxed_device(&state.sending[channel].free_until);
}

} // namespace gmpi::device::peer
