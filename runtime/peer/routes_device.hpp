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

/// Has the next short messages to that rank take an owned channel, if nobody else owns it. One
/// thread.
GMPI_OUT_OF_LINE void own_channel(State &state, Routes &routes, const Comm &comm, int dest,
                                  MPI_Datatype datatype) {
  const std::uint32_t i = static_cast<std::uint32_t>(dest) % Routes::most;
  const std::uint32_t peer = comm.peer_of[dest], channel = owned_channel(peer);
  Route &route = routes.route[i];
  if ((routes.owned >> i & 1) != 0 && route.channel != channel)
    give_up(state, routes, i);
  if ((routes.owned >> i & 1) == 0) {
    if (load_relaxed_device(&state.owner[peer]) != 0 ||
        cas_acquire_device(&state.owner[peer], 0, 1) != 0)
      return;
    const Line &line = state.sending[channel];
    routes.owned |= 1u << i;
    route.channel = channel;
    route.next = load_relaxed_device(&line.next);
    route.free_until = load_relaxed_device(&line.free_until);
    route.order = &state.sending[peer].next;
    route.out = state.channels[channel].out;
  }
  route.comm = comm.handle;
  route.dest = dest;
  route.datatype = datatype;
  route.extent = static_cast<std::uint32_t>(find_datatype(datatype).extent);
  route.context = comm.context;
}

/// Whether the route's next slot is free; if not, looks for such. A warp, whole.
GMPI_DEVICE void find_route_slots(State &state, Route &route, std::uint32_t lane) {
  if (route.next < route.free_until)
    return;
  find_free_as_warp(state, route.channel, route.next + 1, lane);
  __syncwarp();
  if (lane == 0)
    route.free_until = load_relaxed_device(&state.sending[route.channel].free_until);
}

/// Has the next short messages to that rank take a route, if they can. A warp, whole.
template <Scope S>
GMPI_DEVICE void find_route(State &state, const Comm &comm, int dest, MPI_Datatype datatype,
                            std::uint32_t lane) {
  Routes &routes = routes_of<S>();
  if (lane == 0)
    own_channel(state, routes, comm, dest, datatype);
  __syncwarp();
  const std::uint32_t i = static_cast<std::uint32_t>(dest) % Routes::most;
  if ((routes.owned >> i & 1) != 0)
    find_route_slots(state, routes.route[i], lane);
}

} // namespace gmpi::device::peer
