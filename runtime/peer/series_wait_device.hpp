// MPI_Waitall of a grid behind the calls that it waits for, all of which have been left to it: an
// exchange, as of a halo. The block that makes them sends, and receives from the channels itself.
// Nothing is posted, and their requests are ready for later calls.
//
// Invariant: as for a blocking receive (matching_device.hpp): the channels are held, and looked at
// without the lock while nobody of the rank has posted anything, nothing is kept and nothing is
// active. Where that is not so, or what comes is not what was left to be received, the channels are
// given back, and the calls that are left are made the usual way (make_series()).
#pragma once

#include "../queue/quick_device.hpp"
#include "series_device.hpp"

namespace gmpi::device::peer {

/// Whether `count` requests are those of all calls that have been left, and null ones. A warp,
/// whole.
GMPI_DEVICE bool are_of_series(const Series &series, const MPI_Request *requests, int count) {
  const std::uint32_t lane = lane_index();
  const MPI_Request its =
      lane < static_cast<std::uint32_t>(count) ? requests[lane] : MPI_Request(MPI_REQUEST_NULL);
  const bool is_null = its == MPI_Request(MPI_REQUEST_NULL) || its == null_peer_request();
  const std::uint32_t slot = is_null || !is_kernel_request(its) ? 0 : decode_request(its).slot;
  std::uint32_t found = 0; // of the series
  bool known = is_null;
  GMPI_NO_UNROLL
  for (std::uint32_t i = 0; i < series.count; ++i) {
    const bool is_it = slot == series.call[i].slot;
    known = known || is_it;
    found += __any_sync(whole_warp, is_it);
  }
  return found == series.count && __all_sync(whole_warp, known);
}

/// Begins: takes places for what is to be sent, if all is usual. Returns spanning, where all of the
/// block are to write series.to_carry; over, where there is nothing to send; or nothing, and
/// nothing has happened. The block's first warp, whole.
GMPI_DEVICE Begun begin_exchange_of(State &state, Series &series, LaunchState &launch) {
  const std::uint32_t lane = lane_index(), count = series.count;
  const LeftCall &call = series.call[lane];
  const bool receives = lane < count && !call.sends;
  const Summary summary = look(state);
  const std::uint32_t peer = receives ? call.comm->peer_of[call.rank] : max_peers;
  Places places;
  const bool usual = find_places(launch, series, places);
  bool is_first = receives; // from its rank
  GMPI_NO_UNROLL
  for (std::uint32_t i = 0; i < count; ++i)
    if (of_lane(peer, i) == peer && i < lane)
      is_first = false;
  if (!__all_sync(whole_warp, usual && !is_contended(summary)))
    return Begun::nothing;
  const std::uint64_t order = places.sends ? load_relaxed_device(places.route.order) : 0;
  take_places(state, launch, series, places, order);
  const unsigned sending = __ballot_sync(whole_warp, places.sends);
  const unsigned open = __ballot_sync(whole_warp, receives);
  const unsigned ranks = __ballot_sync(whole_warp, is_first);
  if (lane == 0) {
    series.to_carry = sending;
    series.open = open;
    series.ranks = ranks;
    series.holds = false;
  }
  __syncwarp();
  return sending != 0 ? Begun::spanning : Begun::over;
}

/// Takes hold of the channels from all ranks that something is to be received from. A warp, whole;
/// false where somebody else holds one.
GMPI_DEVICE bool hold_channels_of(State &state, Series &series, std::uint32_t peer) {
  LeftCall &call = series.call[lane_index()];
  const bool is_first = (series.ranks >> lane_index() & 1) != 0;
  bool held = false;
  Position at{};
  if (is_first) {
    const unsigned long long word = load_relaxed_device(&state.receiving[peer].next);
    held = try_lock_channels(state, peer, word);
    if (held)
      at = position_of(state, peer, word);
  }
  if (__all_sync(whole_warp, held || !is_first)) {
    if (is_first) {
      call.received.common = at.common;
      call.received.owned = at.owned;
    }
    return true;
  }
  if (held)
    let_channels_go(state, peer, at);
  return false;
}

/// Receives, as far as the block's first warp can do it: it, whole. Returns answered, where all has
/// been received, and nothing is left but to end the call and to give slots back; bundling, where
/// all of the block are to read series.to_carry before it goes on; or nothing, where the rest of
/// the calls are to be made the usual way. It calls no function.
GMPI_DEVICE Begun receive_left(State &state, Series &series) {
  constexpr unsigned headers = header_packets;
  const std::uint32_t lane = lane_index();
  LeftCall &call = series.call[lane];
  const std::uint32_t ranks = series.ranks;
  std::uint32_t open = series.open;
  const bool receives = (open >> lane & 1) != 0, is_first = (ranks >> lane & 1) != 0;
  const std::uint32_t peer = receives || is_first ? call.comm->peer_of[call.rank] : max_peers;
  const Wanted wanted{receives ? call.comm->context : 0, peer, call.tag};
  __syncwarp();
  if (!series.holds && !hold_channels_of(state, series, peer))
    return Begun::nothing;
  Position at{call.received.common, call.received.owned};
  std::uint64_t *rings[2] = {nullptr, nullptr};
  if (is_first) {
    rings[0] = state.channels[peer].in;
    rings[1] = state.channels[owned_channel(peer)].in;
  }
  Patience patience;
  std::uint32_t unread = 0;
  bool usual = true;
  GMPI_NO_UNROLL
  for (unsigned turns = 0; open != 0 && unread == 0 && usual; ++turns) {
    const Summary summary = look(state);
    GMPI_NO_UNROLL
    for (std::uint32_t those = ranks; those != 0 && usual; those &= those - 1) {
      const std::uint32_t its = __ffs(static_cast<int>(those)) - 1;
      const std::uint32_t from = of_lane(peer, its);
      std::uint64_t *const both[] = {pointer_of_lane(rings[0], its),
                                     pointer_of_lane(rings[1], its)};
      Position now{of_lane(at.common, its), of_lane(at.owned, its)};
      LookAsWarp look;
      look.load(both, now);
      GMPI_NO_UNROLL
      for (; open != 0;) {
        Packet packet;
        const std::uint32_t channel = look.find_next(from, now, packet);
        if (channel == max_channels)
          break;
        const Header header = unpack_header(of_lane(packet.data(), 0), of_lane(packet.data(), 1),
                                            of_lane(packet.data(), 2));
        const unsigned matching =
            __ballot_sync(whole_warp, (open >> lane & 1) != 0 && wanted.is(header, from));
        const std::uint32_t first = matching == 0 ? 0 : __ffs(static_cast<int>(matching)) - 1;
        auto *const to = static_cast<unsigned char *>(pointer_of_lane(call.data, first));
        const auto bytes = static_cast<std::uint32_t>(header.bytes);
        const bool by_warp = bytes <= warp_bytes && !header.dense;
        usual = matching != 0 && header.kind == MessageKind::eager &&
                header.bytes <= of_lane(call.bytes, first) &&
                (by_warp || (header.dense ? is_in_eights(to) : is_in_words(to, bytes)));
        if (!usual)
          break;
        // The next look is under way with what follows.
        const unsigned long long next = now.in(channel), end = next + slots_of(header);
        now.move(channel, end);
        look.load(both, now);
        open &= ~(1u << first);
        std::uint64_t *const ring = both[channel != from];
        if (lane == first) {
          call.ring = ring;
          call.first = next;
          call.carried = bytes;
          call.dense = header.dense;
          call.received.freed = state.channels[channel].in_freed;
          call.over = true;
        }
        if (!by_warp)
          unread |= 1u << first;
        else if (const std::uint32_t begin = (lane - headers) * packet_bytes; begin < bytes)
          store_data(to + begin, bytes - begin,
                     packet.shows(lap_of(next))
                         ? packet.data()
                         : await_packet(packet_at(ring, next, lane), lap_of(next)));
      }
      if (lane == its)
        at = now;
    }
    if (open == 0 || unread != 0 || !usual)
      break;
    usual = __any_sync(whole_warp, is_contended(summary) || patience.ends(turns)) == 0;
    if (usual)
      relax();
  }
  const bool goes_on = unread != 0;
  if (is_first && goes_on) {
    call.received.common = at.common;
    call.received.owned = at.owned;
  } else if (is_first) {
    let_channels_go(state, peer, at);
  }
  __syncwarp();
  if (lane == 0) {
    series.open = open;
    series.to_carry = unread;
    series.holds = goes_on;
  }
  __syncwarp();
  return goes_on ? Begun::bundling : open == 0 ? Begun::answered : Begun::nothing;
}

/// Gives the slots back of all that has been received. The same warp, once who waits has been told,
/// or will not be until more has been done.
GMPI_DEVICE void free_received(const Series &series, std::uint32_t count) {
  const LeftCall &call = series.call[lane_index()];
  if (lane_index() < count && !call.sends && call.over)
    free_share(call.received.freed, call.first, call.first + slots_for(call.carried, call.dense), 0,
               1);
}

/// All have been made and waited for: their requests are ready for other calls. The same warp.
GMPI_DEVICE void end_series(Series &series, LaunchState &launch) {
  const std::uint32_t lane = lane_index(), count = series.count;
  const LeftCall &call = series.call[lane];
  if (lane < count)
    put_ready(launch, series.next - count + lane + ReadyRequests::most, {call.slot, call.serial});
  __syncwarp();
  if (lane == 0)
    series.count = 0;
}

/// What has been made of the calls stays so: it is noted for whoever waits. The same warp.
GMPI_DEVICE void leave_rest(State &state, Series &series) {
  const std::uint32_t lane = lane_index(), count = series.count;
  LeftCall &call = series.call[lane];
  if (lane < count && (call.sends || call.over))
    note_made(state, call);
  __syncwarp();
  free_received(series, count);
}

GMPI_NOINLINE Begun begin_exchange_as_warp(int count, const MPI_Request *requests,
                                           bool finds_routes) {
  BlockState &block = block_state();
  State &state = *context.peer;
  if (!finds_routes && !are_of_series(block.series, requests, count))
    return Begun::elsewhere;
  if (finds_routes)
    find_routes(state, block.series);
  return begin_exchange_of(state, block.series, *block.launch);
}
GMPI_NOINLINE Begun receive_left_as_warp() {
  BlockState &block = block_state();
  State &state = *context.peer;
  Series &series = block.series;
  const std::uint32_t count = series.count;
  const Begun begun = receive_left(state, series);
  if (begun == Begun::answered) {
    end_series(series, *block.launch);
    if (lane_index() == 0)
      keep_result<Scope::grid>(nothing_received());
    end_as_warp<Scope::grid>();
    free_received(series, count);
  } else if (begun == Begun::nothing) {
    leave_rest(state, series);
  }
  return begun;
}

/// Makes the calls that have been left to a grid's MPI_Waitall, and waits for them, if these are
/// what it waits for, and all is usual. Returns answered then; else the calls that have not been
/// made are still left. All of the block that makes the call, in whose number none is missing.
GMPI_NOINLINE Begun exchange_left(int count, const MPI_Request *requests) {
  const Series &series = block_state().series;
  if (count > 32 || context.peer->far_news != nullptr)
    return Begun::nothing;
  Begun begun = Begun::nothing;
  GMPI_NO_UNROLL
  for (int attempt = 0; attempt < 2 && begun == Begun::nothing; ++attempt)
    begun = tell_all(thread_index() < 32 ? begin_exchange_as_warp(count, requests, attempt != 0)
                                         : Begun::over);
  if (begun != Begun::spanning && begun != Begun::over)
    return Begun::nothing;
  if (begun == Begun::spanning) {
    carry_left<false>(series);
    __syncthreads();
  }
  do {
    begun = tell_all(thread_index() < 32 ? receive_left_as_warp() : Begun::over);
    if (begun == Begun::bundling) {
      carry_left<true>(series);
      __syncthreads();
    }
  } while (begun == Begun::bundling);
  return begun;
}

} // namespace gmpi::device::peer
