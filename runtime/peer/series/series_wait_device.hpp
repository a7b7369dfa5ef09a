// MPI_Waitall of a grid behind the calls that it waits for, all of which have been left to it: an
// exchange, as of a halo. The block that makes them sends, and receives from the channels itself.
// Nothing is posted, and their requests are ready for later calls.
//
// Invariant: as for a blocking receive (matching_device.hpp): the channels are held, and looked at
// without the lock while nobody of the rank has posted anything, nothing is kept and nothing is
// active. Where that is not so, or what comes is not what was left to be received, the channels are
// given back, and the calls that are left are made the usual way (make_series()).
#pragma once

#include "../../queue/quick_device.hpp"
#include "series_long_pair_device.hpp"
#include "series_pending_device.hpp"
#include "series_posted_device.hpp"
#include "series_share_device.hpp"

namespace gmpi::device::peer {

/// What is longer is not stored together with others.
constexpr std::uint32_t most_stored = step_bytes<Scope::grid> / Copies::most;

/// Begins: takes hold of the channels from all ranks that something is to be received from, and of
/// places for what is to be sent, if all is usual, and announces what is long. `wide`: but for what
/// can go with its data, for receives of which it is not known where that can be stored; the host
/// is asked for that, and what lacks tokens, or slots if it `may_wait`, is pending. (`again`: only
/// if there are such receives, as the last time.) Returns spanning, where all of the block are to
/// write messages; over, where there are none; or nothing, or exchanging, and nothing has happened:
/// the latter where some can neither be stored with others nor be wide. The block's first warp,
/// whole; else it calls no function.
template <bool with_long, bool wide, bool alone>
GMPI_DEVICE Begun begin_exchange_of(State &state, Series &series, bool may_wait, bool again) {
  const std::uint32_t lane = lane_index();
  LeftCall &call = series.call[lane];
  // All of this is under way together.
  const Summary summary = look(state);
  const bool far = state.far_news != nullptr;
  ReceivingChannels channels(state, series);
  const bool sends = is_to_send(series);
  Places places;
  places.is_wide = false;
  bool lacks_token = false;
  if constexpr (wide)
    lacks_token = find_tokens(state, series, sends, places);
  bool usual = find_places<with_long>(series, sends, places) && !far && !is_contended(summary);
  unsigned pending = 0;
  if constexpr (wide) {
    usual = usual && (places.has_room || lacks_token || may_wait);
    pending = leave_pending(places, lacks_token);
    if (again && !__all_sync(whole_warp, usual))
      return Begun::nothing; // as soon as it is known
  } else {
    usual = usual && places.has_room;
  }
  const bool may_be_long = with_long && lane < series.count() && !call.over && is_long(call);
  const bool announces = may_be_long && places.sends && !places.is_wide;
  OwnOffer own;
  bool is_known = true;
  if (may_be_long) {
    is_known = call.sends || own.find(state, call);
    usual = usual && call.bytes <= most_stored && (is_known || (wide && call.bytes <= wide_bytes));
    if constexpr (wide)
      if (!is_known)
        ask_for_offer(state, static_cast<const unsigned char *>(call.data));
  }
  // What can neither be stored with others nor be wide may go one behind the other.
  if (with_long && __any_sync(whole_warp, may_be_long && (call.bytes > most_stored ||
                                                          (!is_known && call.bytes > wide_bytes))))
    return Begun::exchanging;
  if constexpr (wide) {
    const bool is_needed = !__all_sync(whole_warp, is_known);
    if (lane == 0)
      series.was_wide = is_needed;
    __syncwarp();
    if (again && !is_needed)
      return Begun::nothing;
  }
  if (!__all_sync(whole_warp, usual && channels.are_free()) ||
      (pending != 0 && !__any_sync(whole_warp, places.is_wide)))
    return Begun::nothing;
  const std::uint64_t order = places.sends ? load_relaxed_device(places.route.order) : 0;
  channels.take_hold(state);
  if (!__all_sync(whole_warp, channels.has_hold())) {
    channels.let_go(state);
    return Begun::nothing;
  }
  channels.note(series);
  const bool carries = take_places<with_long, alone>(state, series, places, order);
  if constexpr (with_long) {
    if (may_be_long && channels.receives)
      describe_long_receive(state, call, own);
    begin_long_ones(series, __ballot_sync(whole_warp, announces));
    const bool refills = wide && may_lack_slots(call, channels.receives);
    if (lane == 0) {
      series.wide = wide;
      series.pending = pending;
      series.refills = refills;
    }
    release_device(); // whoever answers, or stores, comes after
    if (announces)
      announce_left(call);
  }
  return carries ? Begun::spanning : Begun::over;
}

/// What has been made of the calls stays so: it is noted for whoever waits. What is under way, the
/// general way goes on with. The same warp.
template <bool with_long> GMPI_DEVICE void leave_rest(State &state, Series &series) {
  const std::uint32_t lane = lane_index(), count = series.count();
  LeftCall &call = series.call[lane];
  const bool is_under_way = with_long && ((series.announced | series.landing) >> lane & 1) != 0;
  const bool is_pending = with_long && (series.pending >> lane & 1) != 0;
  if (lane < count && is_under_way) {
    if (call.sends)
      activate(state, call.slot);
    call.over = true;
  } else if (lane < count && (call.sends || call.over) && !is_pending) {
    note_made(state, call);
  }
  __syncwarp();
  free_received(state, series, count, with_long ? series.freed : 0);
}

template <bool with_long, bool wide = false, bool alone = false>
GMPI_NOINLINE Begun begin_exchange_as_warp(int count, const MPI_Request *requests,
                                           bool may_wait = false, bool again = false) {
  BlockState &block = block_state();
  return are_of_series(block.series, requests, count)
             ? begin_exchange_of<with_long, wide, alone>(*context.peer, block.series, may_wait,
                                                         again)
             : Begun::elsewhere;
}
/// `requests`: null, where nothing is to be said of what has been received.
template <bool with_long, bool shares = false, bool alone = false>
GMPI_NOINLINE Begun receive_left_as_warp(int requests_count, const MPI_Request *requests) {
  BlockState &block = block_state();
  State &state = *context.peer;
  Series &series = block.series;
  const std::uint32_t count = series.count();
  if constexpr (with_long)
    tell_stored(state, series);
  Begun begun;
  GMPI_NO_UNROLL
  for (;;) {
    if constexpr (shares)
      free_so_far(state, series);
    begun = receive_left<with_long, shares, false, alone>(state, series);
    if (alone && begun == Begun::receiving)
      continue;
    if (shares && begun == Begun::working) {
      await_sharers(series);
      continue;
    }
    if (!shares || begun != Begun::sending)
      break;
    if (series.pending != 0 && send_pending(state, series))
      return Begun::spanning;
  }
  if (begun == Begun::answered) {
    if (requests != nullptr)
      note_statuses(series, *block.launch, requests_count, requests);
    if constexpr (with_long)
      end_landed(state, series);
    end_series(state, series, *block.launch);
    if (lane_index() == 0)
      keep_result<Scope::grid>(nothing_received());
    end_as_warp<Scope::grid>();
    if constexpr (!shares)
      free_received(state, series, count);
  } else if (begun == Begun::elsewhere) {
    leave_rest<with_long>(state, series);
  }
  return begun;
}

/// The first warp's part, up to where all of the block, or the grid, have something to do; which it
/// does by itself as far as it can (`alone`).
template <bool with_long, bool alone = false>
GMPI_DEVICE Begun begin_exchange(int count, const MPI_Request *requests, bool tells) {
  const auto begin = [&](bool may_wait) {
    if constexpr (with_long) {
      const Series &series = block_state().series;
      if (series.was_wide) {
        const Begun begun = begin_exchange_as_warp<true, true>(count, requests, may_wait, true);
        if (begun != Begun::nothing || series.was_wide)
          return begun;
      }
    }
    Begun begun = begin_exchange_as_warp<with_long, false, alone>(count, requests);
    if constexpr (with_long)
      if (begun == Begun::nothing)
        begun = begin_exchange_as_warp<true, true>(count, requests, may_wait);
    return begun;
  };
  Begun begun = begin(false);
  if (begun == Begun::nothing) {
    find_routes_as_warp();
    begun = begin(true);
  }
  return begun == Begun::over
             ? receive_left_as_warp<with_long, false, alone>(count, tells ? requests : nullptr)
             : begun;
}

/// Goes on with an exchange, all blocks of which may carry messages together, from where it has
/// come. All of the block. (Apart from exchange_left(): what it asks for in addition would cost
/// each message there that a block carries 0.3 to 0.7 us.)
GMPI_NOINLINE Begun exchange_together(Begun begun, int count, const MPI_Request *requests) {
  Series &series = block_state().series;
  if (thread_index() < 32 && !has_long(series))
    begin_long_ones(series, 0);
  GMPI_NO_UNROLL
  for (;;) {
    const bool reads = begun == Begun::bundling;
    if (reads || begun == Begun::spanning) {
      if (!carry_with_others(reads))
        reads ? carry_all_left<true>() : carry_all_left<false>();
    } else if (begun == Begun::storing) {
      make_copies(GridTeam{BlockTeam{thread_index() == 0}});
    } else {
      break;
    }
    begun = tell_all(thread_index() < 32 ? receive_left_as_warp<true, true>(count, requests)
                                         : Begun::over);
  }
  if (begun == Begun::answered) {
    free_made(*context.peer, series);
    __syncthreads();
  }
  return begun;
}

/// Makes a pair, if it can be made so, and tells what has been received. All of the block, as
/// below.
GMPI_NOINLINE bool exchange_pair_with_statuses(int count, const MPI_Request *requests) {
  LaunchState &launch = *block_state().launch;
  Series &series = block_state().series;
  bool may = false;
  if (thread_index() < 32) {
    may = are_all_left_as_warp(count, requests);
    if (may)
      note_statuses(series, launch, count, requests, &receive_of_pair(series));
  }
  if (exchange_pair<true>(may)) {
    end_pair(true);
    return true;
  }
  if (thread_index() == 0)
    launch.statuses.next = 0;
  return false;
}
GMPI_DEVICE bool exchange_pair(int count, const MPI_Request *requests, bool tells) {
  if (tells)
    return exchange_pair_with_statuses(count, requests);
  if (!exchange_pair<false>(thread_index() < 32 && are_all_left_as_warp(count, requests)))
    return false;
  end_pair(false);
  return true;
}

/// Whether all blocks may have to carry what the block is to carry: several messages, or a wide
/// one.
GMPI_DEVICE bool is_for_others(const Series &series) {
  const std::uint32_t those = series.to_share;
  return (those & (those - 1)) != 0 ||
         (those != 0 && series.call[__ffs(static_cast<int>(those)) - 1].carried > eager_bytes);
}

/// Whether the block's first warp may carry all that has been left, by length: of a pair, either
/// with a packet in each lane. The warp, whole.
GMPI_DEVICE bool may_carry_alone(const Series &series) {
  const std::uint32_t lane = lane_index(), count = series.count();
  const LeftCall &call = series.call[lane];
  const auto sent =
      static_cast<std::uint32_t>(__popc(__ballot_sync(whole_warp, lane < count && call.sends)));
  const std::uint32_t most = sent > count - sent ? sent : count - sent;
  const bool pair = (count == 2) & (most == 1);
  return most <= most_alone &&
         __all_sync(whole_warp, lane >= count || (is_for_lanes(call.bytes, lanes_shift(most)) &
                                                  (!pair | (call.bytes <= warp_bytes))));
}

/// Does as exchange_left(), where they are so short that the block's first warp can do it alone.
/// Returns answered, where it has; behind, where it is another exchange, and nothing has happened;
/// singly, where the calls that have not been made are still left; or how exchange_left() is to go
/// on. The warp, whole.
template <class = void>
GMPI_NOINLINE Begun exchange_short_as_warp(int count, const MPI_Request *requests, bool tells) {
  const Series &series = block_state().series;
  const bool pair = is_one_each_way(series);
  if (count > 32 || (pair && tells))
    return Begun::behind;
  if (pair && exchange_pair_as_warp(count, requests))
    return Begun::answered;
  const Begun begun = begin_exchange<false, true>(count, requests, tells);
  return begun == Begun::answered || is_span(begun) ? begun : Begun::singly;
}

/// Makes the calls that have been left to a grid's wait, and waits for them, if these are what it
/// waits for, and all is usual. Returns answered then, and launch.statuses says what has been
/// received if it `tells`; else the calls that have not been made are still left. `begun`: behind,
/// or how far the first warp has come. All of the block that makes the call, in whose number none
/// is missing.
GMPI_NOINLINE Begun exchange_left(Begun begun, int count, const MPI_Request *requests, bool tells) {
  if (count > 32)
    return Begun::elsewhere;
  bool with_long = false; // the first warp knows
  if (begun == Begun::behind) {
    if (is_pair(block_state().series)) {
      if (exchange_pair(count, requests, tells))
        return Begun::answered;
    } else if (is_long_pair(block_state().series)) {
      begun = exchange_long_pairs(count, requests, tells, false);
      if (begun != Begun::nothing)
        return begun;
    }
    begun = Begun::over;
    if (thread_index() < 32) {
      with_long = has_long(block_state().series);
      begun = with_long ? begin_exchange<true>(count, requests, tells)
                        : begin_exchange<false>(count, requests, tells);
    }
    begun = tell_all(begun);
  }
  if (begun == Begun::exchanging)
    return exchange_long_pairs(count, requests, tells, true);
  const MPI_Request *const told = tells ? requests : nullptr;
  while (begun == Begun::spanning || begun == Begun::bundling || begun == Begun::storing) {
    if (begun == Begun::storing)
      make_copies(GridTeam{BlockTeam{thread_index() == 0}});
    else if (is_for_others(block_state().series))
      return exchange_together(begun, count, told);
    else
      begun == Begun::spanning ? carry_all_left<false>() : carry_all_left<true>();
    begun = Begun::over;
    if (thread_index() < 32)
      begun = with_long ? receive_left_as_warp<true>(count, told)
                        : receive_left_as_warp<false>(count, told);
    begun = tell_all(begun);
  }
  return begun;
}

} // namespace gmpi::device::peer
