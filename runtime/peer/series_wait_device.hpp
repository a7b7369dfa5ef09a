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
#include "series_pair_device.hpp"
#include "series_share_device.hpp"

namespace gmpi::device::peer {

/// Whether `count` requests are those of all calls that have been left, but for those whose wait
/// has been left, too; and null ones. A warp, whole.
GMPI_DEVICE bool are_of_series(const Series &series, const MPI_Request *requests, int count) {
  const std::uint32_t lane = lane_index();
  const MPI_Request its =
      lane < static_cast<std::uint32_t>(count) ? requests[lane] : MPI_Request(MPI_REQUEST_NULL);
  const bool is_null = its == MPI_Request(MPI_REQUEST_NULL) || its == null_peer_request();
  const std::uint32_t slot = is_null || !is_kernel_request(its) ? 0 : decode_request(its).slot;
  const std::uint32_t waited = waited_calls();
  // Mostly they are named in the order in which they have been made.
  const unsigned theirs = __ballot_sync(whole_warp, !is_null);
  const std::uint32_t place = __popc(theirs & ((1u << lane) - 1));
  if (waited == 0 && __all_sync(whole_warp, is_null || slot == series.call[place].slot))
    return __popc(theirs) == static_cast<int>(series.count());
  std::uint32_t found = 0; // of the series
  bool known = is_null;
  GMPI_NO_UNROLL
  for (std::uint32_t i = 0; i < series.count(); ++i) {
    const bool is_it = slot == series.call[i].slot && (waited >> i & 1) == 0;
    known = known || is_it;
    found += __any_sync(whole_warp, is_it) || (waited >> i & 1) != 0;
  }
  return found == series.count() && __all_sync(whole_warp, known);
}

/// What is longer is not stored together with others.
constexpr std::uint32_t most_stored = step_bytes<Scope::grid> / Copies::most;

/// Begins: takes hold of the channels from all ranks that something is to be received from, and of
/// places for what is to be sent, if all is usual, and announces what is long. Returns spanning,
/// where all of the block are to write messages; over, where there are none; or nothing, and
/// nothing has happened. The block's first warp, whole; it calls no function.
template <bool with_long> GMPI_DEVICE Begun begin_exchange_of(State &state, Series &series) {
  const std::uint32_t lane = lane_index();
  LeftCall &call = series.call[lane];
  const bool receives = lane < series.count() && !call.sends;
  const std::uint32_t peer = receives ? call.peer : max_peers;
  // All of this is under way together.
  const Summary summary = look(state);
  const bool far = state.far_news != nullptr;
  unsigned long long word = 0;
  Position at{};
  std::uint64_t *rings[2] = {nullptr, nullptr};
  if (receives) {
    word = load_relaxed_device(&state.receiving[peer].next);
    at.owned = load_relaxed_device(&state.receiving[owned_channel(peer)].next);
    rings[0] = state.channels[peer].in;
    rings[1] = state.channels[owned_channel(peer)].in;
  }
  Places places;
  bool usual = find_places<with_long>(series, places) && !far && !is_contended(summary);
  const bool may_be_long = with_long && lane < series.count() && is_long(call);
  OwnOffer own;
  if (may_be_long)
    usual = usual && call.bytes <= most_stored && (call.sends || own.find(state, call));
  const std::uint32_t first = __ffs(static_cast<int>(__match_any_sync(whole_warp, peer))) - 1;
  const bool is_first = receives && first == lane; // of those from its rank
  usual = usual && (!is_first || (word & locked) == 0);
  if (!__all_sync(whole_warp, usual))
    return Begun::nothing;
  const std::uint64_t order = places.sends ? load_relaxed_device(places.route.order) : 0;
  const bool held = is_first && try_lock_channels(state, peer, word);
  word = of_lane(word, first);
  at = position_of(word, of_lane(at.owned, first));
  if (!__all_sync(whole_warp, held || !is_first)) {
    if (held)
      let_channels_go(state, peer, at);
    return Begun::nothing;
  }
  if (receives) {
    call.received.rings[0] = rings[0];
    call.received.rings[1] = rings[1];
    call.received.common = at.common;
    call.received.owned = at.owned;
  }
  const unsigned open = __ballot_sync(whole_warp, receives);
  const unsigned ranks = __ballot_sync(whole_warp, is_first);
  if (lane == 0) {
    series.open = open;
    series.ranks = ranks;
  }
  const bool carries = take_places<with_long>(state, series, places, order);
  if constexpr (with_long) {
    if (may_be_long && receives)
      describe_long_receive(state, call, own);
    begin_long_ones(series, __ballot_sync(whole_warp, may_be_long && !receives));
    release_device(); // whoever answers, or stores, comes after
    if (may_be_long && !receives)
      announce_left(call);
  }
  return carries ? Begun::spanning : Begun::over;
}

/// What a lane sees of a message that may begin at a slot.
struct FrontOfMessage {
  Packet packets[header_packets + 1];

  GMPI_DEVICE void load(std::uint64_t *ring, unsigned long long slot) {
    GMPI_UNROLL
    for (std::uint32_t p = 0; p <= header_packets; ++p)
      packets[p] = Packet::load(packet_at(ring, slot, p));
  }
  /// Whether it is there, and its turn.
  GMPI_DEVICE bool has_come(std::uint32_t channel, unsigned long long slot,
                            const Position &at) const {
    bool shows = true;
    GMPI_UNROLL
    for (std::uint32_t p = 0; p < header_packets; ++p)
      shows = shows && packets[p].shows(lap_of(slot));
    return shows && at.allows(channel, packets[header_packets - 1].data());
  }
};

/// A message that a lane has found: where, and what it says.
struct FoundMessage {
  std::uint32_t channel;
  std::uint64_t *ring;
  unsigned long long slot;
  Header header;

  GMPI_DEVICE unsigned long long end() const { return slot + slots_of(header); }
  GMPI_DEVICE FoundMessage of(std::uint32_t lane) const {
    FoundMessage its = *this;
    its.channel = of_lane(channel, lane);
    its.ring = pointer_of_lane(ring, lane);
    its.slot = of_lane(slot, lane);
    its.header.tag = of_lane(header.tag, lane);
    its.header.context = of_lane(header.context, lane);
    its.header.kind = static_cast<MessageKind>(of_lane(static_cast<int>(header.kind), lane));
    its.header.bytes = of_lane(header.bytes, lane);
    its.header.dense = of_lane(static_cast<int>(header.dense), lane) != 0;
    its.header.request = static_cast<std::uint16_t>(of_lane(int(header.request), lane));
    its.header.serial = static_cast<std::uint16_t>(of_lane(int(header.serial), lane));
    return its;
  }
};

/// The caller's lane receives a message, if it can be. `data`: its packet behind the header, as it
/// was seen. It reads no more than that; returns whether there is more in the channel.
template <bool with_long>
GMPI_DEVICE bool take_front(State &state, LeftCall &call, const FoundMessage &found,
                            const Packet &data) {
  const auto bytes = static_cast<std::uint32_t>(found.header.bytes);
  call.ring = found.ring;
  call.first = found.slot;
  call.carried = bytes;
  call.dense = found.header.dense;
  call.received.channel = found.channel;
  call.tag = found.header.tag;
  call.over = true;
  call.announced = with_long && found.header.kind == MessageKind::announced;
  if (call.announced) {
    take_announced_left(state, call, found.channel, found.header);
    return false;
  }
  if (bytes > packet_bytes)
    return true;
  const std::uint32_t lap = lap_of(found.slot);
  if (bytes != 0)
    store_data(static_cast<unsigned char *>(call.data), bytes,
               data.shows(lap)
                   ? data.data()
                   : await_packet(packet_at(found.ring, found.slot, header_packets), lap));
  return false;
}

/// Receives, as far as the block's first warp can do it: it, whole. Returns answered, where all has
/// been received, and nothing is left but to end the call and to give slots back; bundling, where
/// all of the block are to read messages before it goes on; storing, where all blocks are to store
/// some; working, where the other blocks are to end what they carry before (`shares`: they may be
/// at it); or elsewhere, where the rest of the calls are to be made the usual way. It calls no
/// function.
///
/// Messages come in the order in which they are sent, and mostly that is the order of the receives,
/// and they are as long as there is room. So each lane looks where its message begins if it is so.
template <bool with_long, bool shares>
GMPI_DEVICE Begun receive_left(State &state, Series &series) {
  const std::uint32_t lane = lane_index();
  LeftCall &call = series.call[lane];
  const unsigned below = (1u << lane) - 1;
  const bool receives = lane < series.count() && !call.sends;
  const std::uint32_t peer = receives ? call.peer : max_peers;
  const unsigned group = __match_any_sync(whole_warp, peer);
  const Wanted wanted{call.context, peer, call.tag};
  const std::uint32_t room = receives ? call.bytes : 0;
  const auto slots = with_long && room > eager_bytes
                         ? 1
                         : static_cast<std::uint32_t>(slots_for(room, room >= least_dense));
  LongOnes ones(series);
  unsigned open = series.open, unread = 0;
  Position at{call.received.common, call.received.owned};
  Patience patience;
  bool usual = true, stores = false;
  GMPI_NO_UNROLL
  for (unsigned turns = 0; open != 0 || (with_long && ones.any()); ++turns) {
    if constexpr (with_long) {
      usual = ones.look(state, call);
      stores = usual && ones.are_to_be_stored();
      if (!usual || stores)
        break;
    }
    const bool is_open = (open >> lane & 1) != 0;
    const Summary summary = look(state);
    std::uint32_t before = 0; // slots, if it is so
    GMPI_NO_UNROLL
    for (unsigned those = open; those != 0; those &= those - 1) {
      const std::uint32_t j = __ffs(static_cast<int>(those)) - 1;
      const std::uint32_t its = of_lane(slots, j);
      if (j < lane && (group >> j & 1) != 0)
        before += its;
    }
    FrontOfMessage front, owned;
    bool by_common = false, by_owned = false;
    if (is_open) {
      front.load(call.received.rings[0], at.common + before);
      owned.load(call.received.rings[1], at.owned + before);
      by_common = front.has_come(peer, at.common + before, at);
      by_owned = owned.has_come(owned_channel(peer), at.owned + before, at);
    }
    // All from a rank come by the channel by which the first has.
    const std::uint32_t first = __ffs(static_cast<int>(group & open)) - 1;
    const bool from_owned = (__ballot_sync(whole_warp, by_common) >> first % 32 & 1) == 0;
    const bool has_come = from_owned ? by_owned : by_common;
    if (from_owned)
      front = owned;
    const FoundMessage found{from_owned ? owned_channel(peer) : peer,
                             is_open ? call.received.rings[from_owned] : nullptr,
                             (from_owned ? at.owned : at.common) + before,
                             unpack_header(front.packets[0].data(), front.packets[1].data(), 0)};
    const auto may_take = [&](const Header &header) {
      return is_open && wanted.is(header, peer) && header.bytes <= room &&
             (header.kind == MessageKind::eager
                  ? !header.dense || is_in_eights(call.data)
                  : with_long && header.kind == MessageKind::announced);
    };
    // They are there as far as each begins where the one before it ends.
    const unsigned ahead = group & open & below;
    const unsigned long long begin = of_lane(found.end(), 31 - __clz(static_cast<int>(ahead | 1)));
    const unsigned there =
        __ballot_sync(whole_warp, has_come && (ahead == 0 || begin == found.slot));
    const bool is_in_row = is_open && ((ahead | 1u << lane) & ~there) == 0;
    const unsigned good = __ballot_sync(whole_warp, is_in_row && may_take(found.header));
    const bool takes = is_in_row && ((ahead | 1u << lane) & ~good) == 0;
    const unsigned taken = __ballot_sync(whole_warp, takes);
    const bool has_more =
        takes && take_front<with_long>(state, call, found, front.packets[header_packets]);
    unread |= __ballot_sync(whole_warp, has_more);
    const unsigned theirs = group & taken;
    const unsigned long long end = of_lane(found.end(), 31 - __clz(static_cast<int>(theirs | 1)));
    if (theirs != 0)
      at.move(found.channel, end);
    open &= ~taken;
    if constexpr (with_long)
      ones.landing |= __ballot_sync(whole_warp, takes && call.announced);
    // What is behind one that is not for the receive at its place may be for any of the others.
    unsigned others = __ballot_sync(whole_warp, is_in_row && !takes);
    const bool nothing_new = (taken | others) == 0;
    GMPI_NO_UNROLL
    for (; others != 0 && usual; others &= others - 1) {
      const std::uint32_t its = __ffs(static_cast<int>(others)) - 1;
      const FoundMessage other = found.of(its);
      const bool may_be_its = (group & open & 1u << lane) != 0 && (group >> its & 1) != 0;
      const unsigned matching =
          __ballot_sync(whole_warp, may_be_its && wanted.is(other.header, peer));
      const bool is_mine = (matching & (1u << lane | below)) == 1u << lane;
      const bool can = is_mine && may_take(other.header);
      const unsigned taker = __ballot_sync(whole_warp, can);
      unread |= __ballot_sync(whole_warp, can && take_front<with_long>(state, call, other, {}));
      usual = taker != 0;
      open &= ~taker;
      if constexpr (with_long)
        ones.landing |= __ballot_sync(whole_warp, can && call.announced);
      if (usual && (group >> its & 1) != 0)
        at.move(other.channel, other.end());
    }
    if (unread != 0 || !usual)
      break;
    if (nothing_new) {
      usual = __any_sync(whole_warp, is_contended(summary) || patience.ends(turns)) == 0;
      if (!usual)
        break;
      relax();
    }
  }
  const bool joins = shares && unread == 0 && series.sharing;
  const bool goes_on = unread != 0 || stores || joins;
  const bool all = open == 0 && !(with_long && ones.any());
  if (with_long && !goes_on)
    all ? acquire_system() : leave_landing(state, ones);
  if (receives && goes_on) {
    call.received.common = at.common;
    call.received.owned = at.owned;
  } else if ((series.ranks >> lane & 1) != 0) {
    let_channels_go(state, peer, at);
  }
  __syncwarp();
  if (lane == 0)
    series.open = open;
  note_to_carry(series, (unread >> lane & 1) != 0, call.carried);
  if constexpr (with_long) {
    if (lane == 0)
      ones.keep(series);
    if (stores && !joins)
      ones.leave_to_all(call, series);
  }
  return joins     ? Begun::working
         : stores  ? Begun::storing
         : goes_on ? Begun::bundling
         : all     ? Begun::answered
                   : Begun::elsewhere;
}

/// Gives the slots back of all that has been received. The same warp, once who waits has been told,
/// or will not be until more has been done.
GMPI_DEVICE void free_received(const State &state, const Series &series, std::uint32_t count) {
  const LeftCall &call = series.call[lane_index()];
  if (lane_index() < count && !call.sends && call.over)
    free_share(state.channels[call.received.channel].in_freed, call.first,
               call.first + (call.announced ? 1 : slots_for(call.carried, call.dense)), 0, 1);
}

/// All have been made and waited for: their requests are ready for other calls. The same warp.
GMPI_DEVICE void end_series(State &state, Series &series, LaunchState &launch) {
  const std::uint32_t lane = lane_index(), count = series.count();
  const LeftCall &call = series.call[lane];
  if (lane < count)
    put_ready(launch, series.next - count + lane + ReadyRequests::most, {call.slot, call.serial});
  __syncwarp();
  if (lane == 0) {
    increase_relaxed_device(&state.left, count);
    increase_relaxed_device(&state.exchanged, count);
    series.end();
  }
}

/// What has been made of the calls stays so: it is noted for whoever waits. What is under way, the
/// general way goes on with. The same warp.
template <bool with_long> GMPI_DEVICE void leave_rest(State &state, Series &series) {
  const std::uint32_t lane = lane_index(), count = series.count();
  LeftCall &call = series.call[lane];
  const bool is_under_way = with_long && ((series.announced | series.landing) >> lane & 1) != 0;
  if (lane < count && is_under_way) {
    if (call.sends)
      activate(state, call.slot);
    call.over = true;
  } else if (lane < count && (call.sends || call.over)) {
    note_made(state, call);
  }
  __syncwarp();
  free_received(state, series, count);
}

template <bool with_long>
GMPI_NOINLINE Begun begin_exchange_as_warp(int count, const MPI_Request *requests) {
  BlockState &block = block_state();
  return are_of_series(block.series, requests, count)
             ? begin_exchange_of<with_long>(*context.peer, block.series)
             : Begun::elsewhere;
}
/// Leaves to all blocks what has been received, by request; or, of a pair (`by_result`), that the
/// launch's result will tell. The same warp.
template <bool by_result>
GMPI_DEVICE void note_statuses(const Series &series, LaunchState &launch, int count,
                               const MPI_Request *requests) {
  const std::uint32_t lane = lane_index();
  if (lane < static_cast<std::uint32_t>(count)) {
    const std::uint32_t slot = decode_request(requests[lane]).slot;
    auto &its = launch.statuses.of[lane];
    const CallResult none = nothing_received();
    its = {none.source, none.tag, 0};
    GMPI_NO_UNROLL
    for (std::uint32_t i = 0; i < series.count(); ++i)
      if (const LeftCall &call = series.call[i]; call.slot == slot && !call.sends)
        its = {by_result ? LeftStatuses::is_result : call.rank, call.tag, call.carried};
  }
  if (lane == 0)
    launch.statuses.next = series.next;
  __syncwarp();
}

/// `requests`: null, where nothing is to be said of what has been received.
template <bool with_long, bool shares = false>
GMPI_NOINLINE Begun receive_left_as_warp(int requests_count, const MPI_Request *requests) {
  BlockState &block = block_state();
  State &state = *context.peer;
  Series &series = block.series;
  const std::uint32_t count = series.count();
  if constexpr (with_long)
    tell_stored(state, series);
  const Begun begun = receive_left<with_long, shares>(state, series);
  if (begun == Begun::answered) {
    if (requests != nullptr)
      note_statuses<false>(series, *block.launch, requests_count, requests);
    if constexpr (with_long)
      end_landed(state, series);
    end_series(state, series, *block.launch);
    if (lane_index() == 0)
      keep_result<Scope::grid>(nothing_received());
    end_as_warp<Scope::grid>();
    free_received(state, series, count);
  } else if (begun == Begun::elsewhere) {
    leave_rest<with_long>(state, series);
  }
  return begun;
}

/// The first warp's part, up to where all of the block, or the grid, have something to do.
template <bool with_long>
GMPI_DEVICE Begun begin_exchange(int count, const MPI_Request *requests, bool tells) {
  Begun begun = begin_exchange_as_warp<with_long>(count, requests);
  if (begun == Begun::nothing) {
    find_routes_as_warp();
    begun = begin_exchange_as_warp<with_long>(count, requests);
  }
  return begun == Begun::over ? receive_left_as_warp<with_long>(count, tells ? requests : nullptr)
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
    } else if (begun == Begun::working) {
      await_sharers();
    } else {
      return begun;
    }
    begun = tell_all(thread_index() < 32 ? receive_left_as_warp<true, true>(count, requests)
                                         : Begun::over);
  }
}

/// Whether these requests are those of the pair that has been left. The first warp, whole.
template <class = void>
GMPI_NOINLINE bool are_pair_as_warp(int count, const MPI_Request *requests) {
  return are_of_series(block_state().series, requests, count);
}

/// Ends a series of which a pair has been made. All of the block, who meet once more before another
/// call is left: where they are given null requests, or (`meet`) here.
GMPI_DEVICE void end_pair(bool meet) {
  if (thread_index() < 32)
    end_series(*context.peer, block_state().series, *block_state().launch);
  if (meet)
    __syncthreads();
}

/// Makes a pair, if it can be made so, and tells what has been received. All of the block, as
/// below.
GMPI_NOINLINE bool exchange_pair_with_statuses(int count, const MPI_Request *requests) {
  LaunchState &launch = *block_state().launch;
  bool may = false;
  if (thread_index() < 32) {
    may = are_pair_as_warp(count, requests);
    if (may)
      note_statuses<true>(block_state().series, launch, count, requests);
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
  if (!exchange_pair<false>(thread_index() < 32 && are_pair_as_warp(count, requests)))
    return false;
  end_pair(false);
  return true;
}

/// Makes the calls that have been left to a grid's wait, and waits for them, if these are what it
/// waits for, and all is usual. Returns answered then, and launch.statuses says what has been
/// received if it `tells`; else the calls that have not been made are still left. All of the block
/// that makes the call, in whose number none is missing.
GMPI_NOINLINE Begun exchange_left(int count, const MPI_Request *requests, bool tells) {
  if (count > 32)
    return Begun::elsewhere;
  if (is_pair(block_state().series) && exchange_pair(count, requests, tells))
    return Begun::answered;
  bool with_long = false; // the first warp knows
  Begun begun = Begun::over;
  if (thread_index() < 32) {
    with_long = has_long(block_state().series);
    begun = with_long ? begin_exchange<true>(count, requests, tells)
                      : begin_exchange<false>(count, requests, tells);
  }
  begun = tell_all(begun);
  const MPI_Request *const told = tells ? requests : nullptr;
  while (begun == Begun::spanning || begun == Begun::bundling || begun == Begun::storing) {
    if (begun == Begun::storing)
      make_copies(GridTeam{BlockTeam{thread_index() == 0}});
    else if (__popc(block_state().series.to_share) > 1)
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
