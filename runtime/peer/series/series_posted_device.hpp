// A grid's wait for calls that were left and have been made since, where other work came between:
// their receives are posted, and the block still knows them.
//
// Invariant: it takes the lock, and hold of the channels that their messages come by, where exactly
// those receives are posted and nothing is kept. So nobody else gives them messages meanwhile, and
// it receives as for calls that have not been made (series_receive_device.hpp). What it has
// received is no longer posted before the lock is given back. Where something else comes, or others
// want the lock, they stay posted, and the wait goes on the usual way.
#pragma once

#include "../../queue/quick_device.hpp"
#include "series_receive_device.hpp"

namespace gmpi::device::peer {

/// Whether there may be such calls: the last ones that were left have been made, and none since.
GMPI_DEVICE bool has_made() {
  const Series &series = block_state().series;
  return series.next == series.first && series.made_count() - 1 < Series::most &&
         !are_queued(series);
}

/// Takes hold of all, if all is usual. Returns whether it has. The block's first warp, whole; it
/// calls no function.
GMPI_DEVICE bool hold_posted(State &state, Series &series) {
  const std::uint32_t lane = lane_index(), count = series.count();
  const LeftCall &call = series.call[lane];
  const bool sends = lane < count && call.sends;
  PostRing &posts = state.posts;
  // All of this is under way together.
  const Summary summary = look(state);
  const bool far = state.far_news != nullptr;
  const std::uint32_t begin = load_relaxed_device(&posts.first);
  const std::uint32_t end = load_relaxed_device(&posts.next);
  const std::uint32_t lock = load_relaxed_device(&state.lock) | load_relaxed_device(&state.wanted);
  ReceivingChannels channels(state, series);
  const bool receives = channels.receives;
  const bool is_sent =
      !sends || static_cast<RequestState>(load_relaxed_device(&state.requests[call.slot].state)) ==
                    RequestState::done;
  const std::uint32_t serial =
      lane < count ? context.records[call.slot].serial & serial_mask : call.serial;
  const unsigned receiving = __ballot_sync(whole_warp, receives);
  const auto all = static_cast<std::uint32_t>(__popc(receiving));
  const auto place = static_cast<std::uint32_t>(__popc(receiving & ((1u << lane) - 1)));
  const bool usual = all != 0 && !far && summary.posted == all && end - begin == all &&
                     (summary.kept | summary.active | summary.told | lock) == 0 && is_sent &&
                     serial == call.serial && !(receives && call.over) && channels.are_free();
  if (!__all_sync(whole_warp, usual))
    return false;
  const std::uint32_t number = of_lane(begin, 0) + place;
  const unsigned long long entry =
      receives ? load_relaxed_device(&posts.entry[number % PostRing::places]) : 0;
  channels.take_hold(state);
  const bool locks = lane == 0 && atomicCAS(&state.lock, 0u, 1u) == 0;
  const bool is_posted =
      !receives || entry == (call.slot | static_cast<unsigned long long>(number + 1) << 32);
  bool has_all = __all_sync(whole_warp, channels.has_hold() && (locks || lane != 0) && is_posted);
  if (has_all) { // (Whoever had the lock meanwhile may have moved them.)
    acquire_device();
    const bool moved = posts.first != begin || state.in_lists != 0 ||
                       (posts.gone & ((2ull << (all - 1)) - 1)) != 0;
    has_all = !__any_sync(whole_warp, lane == 0 && moved);
  }
  if (!has_all) {
    channels.let_go(state);
    if (locks)
      atomicExch(&state.lock, 0u);
    return false;
  }
  channels.note(series);
  __syncwarp();
  return true;
}

/// Those that have been received are no longer posted; the lock is given back. The same warp.
GMPI_DEVICE void unpost_received(State &state, const Series &series) {
  const std::uint32_t lane = lane_index();
  const LeftCall &call = series.call[lane];
  const bool receives = lane < series.count() && !call.sends;
  const unsigned receiving = __ballot_sync(whole_warp, receives);
  const unsigned received = __ballot_sync(whole_warp, receives && call.over);
  if (lane == 0 && received == receiving) {
    const auto all = static_cast<std::uint32_t>(__popc(receiving));
    state.posts.gone >>= all;
    store_relaxed_device(&state.posts.first, state.posts.first + all);
  } else if (lane == 0) {
    GMPI_NO_UNROLL
    for (unsigned those = received; those != 0; those &= those - 1)
      state.posts.gone |= 1ull << __popc(receiving & ((those & (0u - those)) - 1));
  }
  if (receives && call.over) {
    Request &request = state.requests[call.slot];
    request.peer = call.peer;
    request.rank = call.rank;
    request.tag = call.tag;
    request.header = header_of(*call.comm, call.tag, call.carried, false);
  }
  __syncwarp();
  release_device(); // what has been received is there before anybody is told that it is
  if (receives && call.over)
    note_state(state.requests[call.slot], RequestState::done);
  if (lane == 0) {
    atomicSub(&state.summary.posted, static_cast<std::uint32_t>(__popc(received)));
    atomicExch(&state.lock, 0u);
  }
  __syncwarp();
}

/// Receives, once it has hold of all. Returns answered, where all has been received, and nothing is
/// left of the wait; bundling, where all of the block are to read messages before it goes on; or
/// elsewhere. The same warp.
GMPI_NOINLINE Begun receive_posted_as_warp() {
  BlockState &block = block_state();
  State &state = *context.peer;
  Series &series = block.series;
  const std::uint32_t lane = lane_index(), count = series.count();
  const Begun begun = receive_left<false, false, true>(state, series);
  if (begun == Begun::bundling)
    return begun;
  if (begun == Begun::answered && lane == 0)
    keep_result<Scope::grid>(nothing_received());
  if (begun == Begun::answered)
    end_as_warp<Scope::grid>();
  unpost_received(state, series);
  free_received(state, series, count);
  if (begun == Begun::answered) {
    const LeftCall &call = series.call[lane];
    const bool has = lane < count;
    const std::uint32_t serial = has ? context.records[call.slot].serial : 0;
    keep_or_release_slots(context, reserve_of<Scope::grid>(), has, call.slot, serial);
    if (lane == 0)
      increase_relaxed_device(&state.found, count);
  }
  if (lane == 0)
    series.forget();
  __syncwarp();
  return begun;
}

/// Begins to receive for calls that have been made, if these requests are theirs and none of them
/// is long. Returns as receive_posted_as_warp(). The first warp, whole.
GMPI_NOINLINE Begun begin_posted_as_warp(int count, const MPI_Request *requests) {
  Series &series = block_state().series;
  const Series::Left &left = series.left[thread_index() / 32];
  const bool waited = left.waited_from(series.last) != 0;
  if (lane_index() == 0)
    series.first = series.last; // as before they were made
  __syncwarp();
  if (!waited && !has_long(series) && are_of_series(series, requests, count) &&
      hold_posted(*context.peer, series))
    return receive_posted_as_warp();
  if (lane_index() == 0)
    series.forget();
  __syncwarp();
  return Begun::elsewhere;
}
/// The same of 32 requests at most, to the end: answered, or elsewhere. All of the block that makes
/// the call, in whose number none is missing.
GMPI_NOINLINE Begun wait_for_posted(int count, const MPI_Request *requests) {
  Begun begun = Begun::over;
  if (thread_index() < 32)
    begun = begin_posted_as_warp(count, requests);
  begun = tell_all(begun);
  while (begun == Begun::bundling) {
    carry_all_left<true>();
    begun = tell_all(thread_index() < 32 ? receive_posted_as_warp() : Begun::over);
  }
  return begun;
}

} // namespace gmpi::device::peer
