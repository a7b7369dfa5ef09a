// Messages of an exchange that there is no room for at first: that lack a token, or slots that are
// known to be free. They go when the other rank has read others of it.
//
// Invariant: messages to a rank keep their order: what is behind a pending one is pending, too. Who
// receives gives back what it has read as soon as it has nothing else to do. Who has tried often to
// find room, in vain, leaves the rest to the general way: the other rank may be waiting for what is
// pending.
#pragma once

#include "series_receive_device.hpp"

namespace gmpi::device::peer {

/// Leaves out of what places have been found for what has to wait; `lacks_token`: this lane's one
/// has to. Returns which: bits by place. A warp, whole.
GMPI_DEVICE unsigned leave_pending(Places &places, bool lacks_token) {
  const std::uint32_t lane = lane_index();
  const unsigned lack =
      __ballot_sync(whole_warp, places.sends && (lacks_token || !places.has_room));
  const bool waits = places.sends && (lack & places.same & ((2u << lane) - 1)) != 0;
  const unsigned pending = __ballot_sync(whole_warp, waits);
  places.sends = places.sends && !waits;
  places.is_wide = places.is_wide && !waits;
  places.is_last = (places.same & ~pending) >> lane == 1;
  return pending;
}

/// Sends what is pending, as far as there is room by now: it is announced, or all of the block are
/// to write it, series.to_carry and to_share. Returns whether they are. The first warp, whole.
GMPI_NOINLINE bool send_pending(State &state, Series &series) {
  const std::uint32_t lane = lane_index();
  LeftCall &call = series.call[lane];
  const unsigned before = series.pending;
  const bool is_pending = (before >> lane & 1) != 0;
  find_routes(state, series, is_pending);
  Places places;
  const bool lacks_token = find_tokens(state, series, is_pending, places);
  const bool usual = find_places<true>(series, is_pending, places);
  const unsigned pending = leave_pending(places, lacks_token);
  if (!__all_sync(whole_warp, usual) || pending == before) {
    if (lane == 0)
      ++series.tries;
    __syncwarp();
    return false;
  }
  const std::uint64_t order = places.sends ? load_relaxed_device(places.route.order) : 0;
  const bool carries = take_places<true>(state, series, places, order);
  const bool announces = places.sends && is_long(call) && !places.is_wide;
  const unsigned announced = __ballot_sync(whole_warp, announces);
  if (lane == 0) {
    series.announced |= announced;
    series.pending = pending;
    series.tries = 0;
  }
  release_device(); // whoever answers, or stores, comes after
  if (announces)
    announce_left(call);
  __syncwarp();
  return carries;
}

/// Whether who sends what is received, to this lane if it `receives`, may need slots again that it
/// has written: somewhat less than a channel has. The same warp.
GMPI_DEVICE bool may_lack_slots(const LeftCall &call, bool receives) {
  const auto own = static_cast<std::uint32_t>(
      !receives || call.bytes > wide_bytes ? 0 : slots_for(call.bytes, call.bytes >= least_dense));
  return sum_of_lanes(own, whole_warp) > channel_slots / 4 * 3;
}

/// Gives the slots back of what has been read, if more is to come that may lack them. The same
/// warp.
GMPI_DEVICE void free_so_far(State &state, Series &series) {
  if (series.sharing || series.open == 0 || !series.refills)
    return;
  const std::uint32_t lane = lane_index();
  const LeftCall &call = series.call[lane];
  const unsigned freed = series.freed;
  const unsigned received =
      __ballot_sync(whole_warp, lane < series.count() && !call.sends && call.over);
  free_received(state, series, series.count(), freed);
  if (lane == 0)
    series.freed = received;
  __syncwarp();
}

} // namespace gmpi::device::peer
