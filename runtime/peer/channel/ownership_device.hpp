// Giving up the channels that a block, or a launch, owns.
//
// Invariant: who owns a channel keeps its Line in a Route, and puts it back when it gives the
// channel up: at its end, or when another destination needs the route. state.owner is 1 meanwhile.
#pragma once

#include "../../queue/memory_device.hpp"
#include "../state.hpp"

namespace gmpi::device::peer {

using namespace gmpi::peer;

/// Gives up what route `i` owns, which is not to be used then.
GMPI_DEVICE void give_up(State &state, Routes &routes, std::uint32_t i) {
  const Route &route = routes.route[i];
  const std::uint32_t channel = routes.channel[i];
  store_relaxed_device(&state.sending[channel].next, route.next);
  store_release_device(&state.owner[peer_of_channel(channel)], 0u);
  routes.owned &= ~(1u << i);
}
GMPI_OUT_OF_LINE void give_all_up(State &state, Routes &routes) {
  GMPI_NO_UNROLL
  for (std::uint32_t i = 0; i < Routes::most; ++i)
    if ((routes.owned >> i & 1) != 0) {
      give_up(state, routes, i);
      routes.route[i].comm = MPI_Comm{};
    }
  routes.refused = 0;
}

} // namespace gmpi::device::peer
