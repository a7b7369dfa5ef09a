// Where the messages that have been left to be sent go: a lane of the block's first warp each, all
// by one look at the routes.
//
// Invariant: to each rank they take slots in the order of their calls, and nothing has happened
// before they do.
#pragma once

#include "series_carry_device.hpp"

namespace gmpi::device::peer {

/// Where the messages that have been left to be sent go: lane by lane, in order.
struct Places {
  Route route;
  std::uint32_t route_index;
  unsigned long long first;
  std::uint32_t slots;
  unsigned same; ///< lanes whose messages take the same route
  bool sends, dense;
  bool has_room; ///< those slots are known to be free
  bool is_last;  ///< no later one takes the same route
  bool is_wide;  ///< it is long, and goes with its data
  WideUse use;   ///< of such a one
};

/// Finds tokens for long messages that can go with their data, to be carried by all blocks of the
/// grid: places.is_wide, and use. Returns whether this lane's could go so, but there is no token
/// for it. `sends`: whether it is to be sent. A warp, whole; its function calls none.
GMPI_DEVICE bool find_tokens(const State &state, const Series &series, bool sends, Places &places) {
  const std::uint32_t lane = lane_index();
  const LeftCall &call = series.call[lane];
  const bool may_be_wide = sends && is_long(call) && call.bytes <= wide_bytes &&
                           call.peer < state.near_peers && is_for_all(call.data, call.bytes) &&
                           can_carry_together(call.bytes);
  std::uint32_t used[wide_tokens] = {}, back[wide_tokens] = {};
  if (may_be_wide) {
    const std::uint32_t *const returned = token_at(state.acks, call.peer, 0);
    GMPI_UNROLL
    for (std::uint32_t i = 0; i < wide_tokens; ++i) {
      used[i] = load_relaxed_device(&state.wide_uses[call.peer][i]);
      back[i] = load_relaxed_system(returned + i);
    }
  }
  const unsigned same = __match_any_sync(whole_warp, may_be_wide ? call.peer : max_peers);
  std::uint32_t before = __popc(same & ((1u << lane) - 1)); // of that rank
  places.is_wide = false;
  places.use = {};
  GMPI_UNROLL
  for (std::uint32_t i = 0; i < wide_tokens; ++i)
    if (may_be_wide && used[i] == back[i] && before-- == 0) {
      places.is_wide = true;
      places.use = {i, WideUse::behind(used[i])};
    }
  return may_be_wide && !places.is_wide;
}

/// Whether this lane's call sends, and has not.
GMPI_DEVICE bool is_to_send(const Series &series) {
  const LeftCall &call = series.call[lane_index()];
  return lane_index() < series.count() && call.sends && !call.over;
}

/// Finds out, in the usual case: they take routes. Nothing has happened yet. Returns whether it is
/// so for this lane. `with_long`: some may be long; `sends`: whether this lane's is to be sent.
template <bool with_long>
GMPI_DEVICE bool find_places(const Series &series, bool sends, Places &places) {
  const std::uint32_t lane = lane_index();
  const LeftCall &call = series.call[lane];
  places.sends = sends;
  places.route_index =
      places.sends ? static_cast<std::uint32_t>(call.rank) % Routes::most : Routes::most;
  places.route = {};
  if (places.sends)
    places.route = load_route<Scope::grid>(places.route_index);
  const Route &route = places.route;
  const std::uint32_t bytes = places.sends ? call.bytes : 0;
  const bool announces = with_long && bytes > eager_bytes && !places.is_wide;
  const unsigned same = places.same = __match_any_sync(whole_warp, places.route_index);
  const unsigned sending = __ballot_sync(whole_warp, places.sends);
  const bool one_each = __all_sync(whole_warp, announces || bytes <= slot_bytes) != 0;
  // Slots of those that take the same route.
  unsigned long long before = one_each ? __popc(same & sending & ((1u << lane) - 1)) : 0;
  places.dense = false;
  places.slots = places.sends ? 1 : 0;
  GMPI_NO_UNROLL
  for (unsigned those = one_each ? 0 : sending; those != 0; those &= those - 1) {
    const std::uint32_t j =
        __ffs(static_cast<int>(those)) - 1; // (its own turn is the last to count)
    places.dense = !announces && may_be_dense(bytes, call.data, route, route.next + before);
    places.slots = announces ? 1 : static_cast<std::uint32_t>(slots_for(bytes, places.dense));
    const std::uint32_t its = of_lane(places.slots, j);
    if (j < lane && (same >> j & 1) != 0)
      before += its;
  }
  places.first = route.next + before;
  places.is_last = same >> lane == 1;
  places.has_room = !places.sends || places.first + places.slots <= route.free_until;
  return !places.sends || (leads_to(route, call.comm->handle, call.rank, call.tag, call.datatype) &&
                           (announces || (with_long && places.is_wide)
                                ? route.near != 0
                                : static_cast<std::uint32_t>(call.count) <= route.longest));
}

/// Takes these places. A lane writes its message if that is no longer than a packet; the others are
/// to be carried, but for those that are announced: these are described. `order`: the sender's word
/// for both channels. `alone`: the warp carries them, if it may. Returns whether there are any to
/// be carried.
template <bool with_long, bool alone = false>
GMPI_DEVICE bool take_places(State &state, Series &series, const Places &places,
                             std::uint64_t order) {
  LeftCall &call = series.call[lane_index()];
  const bool announces = with_long && places.sends && is_long(call) && !places.is_wide;
  const std::uint32_t bytes = places.sends && !announces ? call.bytes : 0;
  if (places.sends) {
    increase_relaxed_device(places.route.order, places.slots * one_owned);
    count_call(state, call.bytes);
    if (places.is_last)
      note_next<Scope::grid>(places.route_index, places.first + places.slots);
    call.ring = places.route.out;
    call.first = places.first;
    call.carried = bytes;
    call.sent.head = head_of(call.tag, places.route.context) | (places.dense ? dense_bit : 0);
    call.sent.size = bytes;
    call.sent.after = common_of(order);
    call.dense = places.dense;
    if (with_long && places.is_wide) {
      call.sent.size |= std::uint64_t(places.use.serial()) << 48;
      store_relaxed_device(&state.wide_uses[call.peer][places.use.token], places.use.number);
      increase_relaxed_device(&state.wide, 1);
    }
    if (announces)
      describe_announced(state, call);
    else if (bytes <= packet_bytes)
      write_left(call);
  }
  const unsigned carried = __ballot_sync(whole_warp, bytes > packet_bytes);
  if (alone && (carried == 0 || carry_alone<false>(series, carried)))
    return false;
  note_to_carry(series, bytes > packet_bytes, bytes);
  return carried != 0;
}

/// The sum of what those of `lanes` have. A warp, whole.
GMPI_DEVICE std::uint32_t sum_of_lanes(std::uint32_t value, unsigned lanes) {
  std::uint32_t sum = 0;
  GMPI_NO_UNROLL
  for (unsigned those = __ballot_sync(whole_warp, value != 0); those != 0; those &= those - 1) {
    const std::uint32_t j = __ffs(static_cast<int>(those)) - 1, its = of_lane(value, j);
    sum += (lanes >> j & 1) != 0 ? its : 0;
  }
  return sum;
}

/// Has the grid's messages to whom it has left some take routes, with slots for all of these, and
/// for those of some series like this behind them: it takes longer to find that there are none than
/// to look at a few more. `sends`: whether this lane's is one of them. The first warp, whole.
GMPI_DEVICE void find_routes(State &state, const Series &series, bool sends) {
  constexpr std::uint32_t least = 256;
  const std::uint32_t lane = lane_index();
  const LeftCall &call = series.call[lane];
  const unsigned its = __match_any_sync(whole_warp, sends ? call.rank : -1); // lanes of its rank
  const bool dense = call.bytes >= least_dense && (call.bytes & 3) == 0 && is_in_eights(call.data);
  const auto own =
      static_cast<std::uint32_t>(!sends                    ? 0
                                 : call.bytes > wide_bytes ? 1
                                                           : slots_for(call.bytes, dense));
  const std::uint32_t slots = sum_of_lanes(own, its);
  GMPI_NO_UNROLL
  for (unsigned firsts = __ballot_sync(whole_warp, sends && (its & ((1u << lane) - 1)) == 0);
       firsts != 0; firsts &= firsts - 1) {
    const std::uint32_t i = __ffs(static_cast<int>(firsts)) - 1;
    const LeftCall &first = series.call[i];
    const std::uint32_t all = 2 * of_lane(slots, i);
    find_route<Scope::grid>(state, *first.comm, first.rank, first.datatype,
                            all < least ? least : all, lane);
    __syncwarp();
  }
}

} // namespace gmpi::device::peer
