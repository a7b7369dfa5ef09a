// Calls of a grid that its blocks leave to the next one: where a program makes several one behind
// the other, the blocks meet once for all of them. The translator says behind which calls another
// one comes at once (gmpi::grid::followed).
//
// Invariant: all blocks, and their warps, decide alike which calls they leave, by what is the same
// for all of them, and know what these return without asking each other: each such call takes the
// next of the requests that the launch has ready. A wait that is left is noted with its call, and
// nothing but waits is left then. An MPI_Send is left with its wait: others that send may be left
// behind it, but nothing that receives, maybe into its buffer. So is an MPI_Recv, behind calls that
// only begin, and nothing but waits is left behind it. The block that makes the next call
// makes those before it first, in their order; by then all blocks have arrived, so nobody reads the
// requests while it puts others in their place. A request that is ready is an ordinary one
// otherwise: whoever waits for it gives its slot back.
#pragma once

#include "series_leave_device.hpp"
#include "series_places_device.hpp"

namespace gmpi::device::peer {

/// Posts a receive that has been left, into the ring while nothing is kept; else its message may be
/// among those, see share.place. One thread.
GMPI_DEVICE void post_left(State &state, const LeftCall &call, Share &share) {
  const Comm &comm = *call.comm;
  if (load_relaxed_device(&state.summary.kept) != 0)
    return begin_receive_in(state, comm, call.rank, call.tag, call.data, call.bytes, false,
                            call.slot, share);
  OwnOffer own;
  if (is_long(call))
    own.match = find_or_ask_for_offer(state, static_cast<unsigned char *>(call.data), call.bytes,
                                      own.offset);
  const PostNumber number = take_post_number(state, call.slot);
  describe_post(state, comm, call.rank, wanted_from(comm, call.rank, call.tag), call.data,
                call.bytes, own.match, own.offset, {call.slot, call.serial});
  post_into_ring(state, call.slot, number);
  share.place = nothing;
}

/// Nothing is left of a call but to wait for its request. One thread.
GMPI_DEVICE void note_made(State &state, LeftCall &call) {
  const Comm &comm = *call.comm;
  begin_use(state, call.slot, call.serial & 0xffff, call.sends, comm, comm.context, call.data,
            call.bytes);
  Request &request = state.requests[call.slot];
  request.peer = comm.peer_of[call.rank];
  request.rank = call.rank;
  request.tag = call.tag;
  request.header = header_of(comm, call.tag, call.sends ? call.bytes : call.carried, false);
  note_state(request, RequestState::done);
  call.over = true;
}

/// Sends, from call number series.made on, as far as the block's first warp can do it alone: it,
/// whole. Returns over; or how far the next has come, which all of the block are to go on with.
GMPI_DEVICE Begun send_left(State &state, Series &series, Share &share) {
  std::uint32_t i = series.made;
  Begun begun = Begun::over;
  GMPI_NO_UNROLL
  for (; i < series.count(); ++i) {
    LeftCall &call = series.call[i];
    if (!call.sends || call.over)
      continue;
    if (is_long(call)) {
      begun = announce_quickly(state, *call.comm, call.rank, call.tag, call.data, call.bytes, share,
                               call.slot);
      break;
    }
    begun = send_short<Scope::grid, false>(call.comm->handle, call.rank, call.tag, call.data,
                                           call.count, call.datatype, 0, Begun::sent);
    if (begun == Begun::nothing)
      begun = send_quickly<Scope::grid>(state, *call.comm, call.rank, call.tag, call.data,
                                        call.bytes, call.datatype, true, false, share, call.slot);
    if (begun != Begun::sent && begun != Begun::over)
      break;
    begun = Begun::over;
    if (lane_index() == 0)
      note_made(state, call);
    __syncwarp(); // the route is as the next needs it
  }
  __syncwarp();
  if (lane_index() == 0)
    series.made = i;
  return begun;
}

/// Makes all calls that have been left, in the usual case: those that receive are posted, and those
/// that send have taken their places, and announced what is long. Returns over; or spanning, where
/// all of the block are to write series.to_carry; or nothing, and nothing has happened. The block's
/// first warp, whole; it calls no function.
template <bool with_long>
GMPI_DEVICE Begun make_left(State &state, Series &series, LaunchState &launch) {
  const std::uint32_t lane = lane_index(), count = series.count(), next = series.next;
  LeftCall &call = series.call[lane];
  const bool receives = lane < count && !call.sends && !call.over;
  PostRing &posts = state.posts;
  SlotReserve &reserve = launch.reserve;
  // All of this is under way together.
  const std::uint32_t kept = load_relaxed_device(&state.summary.kept);
  const std::uint32_t end = load_relaxed_device(&posts.next);
  const std::uint32_t begin = load_relaxed_device(&posts.first);
  const std::uint32_t reserved = reserve.count;
  const NewSlot spare = reserve.of[lane]; // which one, the count tells
  Places places;
  places.is_wide = false;
  bool usual = find_places<with_long>(series, is_to_send(series), places) && places.has_room;
  OwnOffer own;
  if (with_long && receives && is_long(call))
    usual = usual && own.find(state, call);
  // (Others may be posting, too; they are not so many.)
  usual = usual && (!receives || (kept == 0 && end - begin + 32 < PostRing::places));
  if (!__all_sync(whole_warp, usual))
    return Begun::nothing;
  const std::uint64_t order = places.sends ? load_relaxed_device(places.route.order) : 0;
  const unsigned receiving = __ballot_sync(whole_warp, receives);
  std::uint32_t number = 0;
  if (lane == 0 && receiving != 0) {
    increase_relaxed_device(&state.summary.posted, __popc(receiving));
    number = add_in_flight_device(&posts.next, __popc(receiving));
  }
  refill_ready(launch, reserve, reserved, spare, next, count);
  if (receives)
    describe_post(state, *call.comm, call.rank, wanted_from(*call.comm, call.rank, call.tag),
                  call.data, call.bytes, own.match, own.offset, {call.slot, call.serial});
  const bool carries = take_places<with_long>(state, series, places, order);
  const bool announces = with_long && places.sends && is_long(call);
  if (announces)
    count_active(state, call.slot);
  else if (places.sends)
    note_made(state, call);
  number = of_lane(number, 0) + static_cast<std::uint32_t>(__popc(receiving & ((1u << lane) - 1)));
  __syncwarp();
  release_device(); // who waits for what has been sent sees that, too, whenever it is told
  if (receives)
    show_post(posts, call.slot, number);
  if (announces) {
    atomicExch(&state.requests[call.slot].busy, 0u);
    announce_left(call);
  }
  if (lane == 0) {
    increase_relaxed_device(&state.left, count);
    series.end();
  }
  __syncwarp();
  return carries ? Begun::spanning : Begun::over;
}

/// The same, one message, by all of a block where some of its threads have left. Returns sending,
/// where it has to wait for slots, or sent; over, where there is none.
GMPI_DEVICE Begun send_left_together(BlockTeam team, Series &series, std::uint32_t count,
                                     const Share &share) {
  if (team.leads())
    while (series.made < count &&
           (!series.call[series.made].sends || series.call[series.made].over))
      ++series.made;
  team.sync();
  if (series.made == count)
    return Begun::over;
  const LeftCall &call = series.call[series.made];
  send(team, {Function::Isend, Scope::grid, {}}, *call.comm, call.rank, call.tag, call.data,
       call.bytes, true, false, call.slot);
  team.sync();
  return share.request == nothing ? Begun::sent : Begun::sending;
}

/// Begins the calls that have been left, one by one. It waits for nothing.
GMPI_NOINLINE void begin_one_by_one(BlockTeam team) {
  BlockState &block = BlockTeam::block();
  State &state = *context.peer;
  Series &series = block.series;
  Share &share = block.peer;
  const std::uint32_t count = series.count();
  if (team.leads())
    series.made = 0;
  team.sync();
  GMPI_NO_UNROLL
  for (std::uint32_t i = 0; i < count; ++i)
    if (const LeftCall &call = series.call[i]; !call.sends && !call.over) {
      if (team.leads())
        post_left(state, call, share);
      begin_to_receive(team, *call.comm, call.rank, call.tag, call.data, call.bytes, true, false);
      team.sync();
    }
  const bool by_warp = BlockTeam::has_warp();
  GMPI_NO_UNROLL
  for (;;) {
    Begun begun =
        by_warp ? tell_all(thread_index() < 32 ? send_left(state, series, share) : Begun::over)
                : send_left_together(team, series, count, share);
    if (begun == Begun::over)
      break;
    if (begun == Begun::spanning || begun == Begun::bundling) {
      begun == Begun::spanning ? write_span<Scope::grid, false>() : write_span<Scope::grid, true>();
      tell_of_span();
    } else if (begun == Begun::exchanging) {
      write_begun(share.step);
    }
    team.sync();
    if (team.leads()) {
      if (begun != Begun::sending)
        note_made(state, series.call[series.made]);
      ++series.made;
    }
    team.sync();
  }
}
/// Makes them so.
GMPI_DEVICE void make_one_by_one(BlockTeam team) {
  BlockState &block = BlockTeam::block();
  State &state = *context.peer;
  Series &series = block.series;
  const std::uint32_t count = series.count();
  begin_one_by_one(team);
  if (team.leads()) {
    refill_ready_alone(*block.launch, series);
    increase_relaxed_device(&state.left, count);
    series.end();
    release_device(); // who waits for what has been sent sees that, whenever it is told
  }
  team.sync();
}

template <bool with_long> GMPI_NOINLINE Begun make_left_as_warp() {
  BlockState &block = block_state();
  return make_left<with_long>(*context.peer, block.series, *block.launch);
}
GMPI_DEVICE Begun make_left_as_warp() {
  return has_long(block_state().series) ? make_left_as_warp<true>() : make_left_as_warp<false>();
}
GMPI_NOINLINE void find_routes_as_warp() {
  const Series &series = block_state().series;
  find_routes(*context.peer, series, is_to_send(series));
}

/// Makes the calls that have been left, for all blocks: they have met for the next one. All of the
/// block that makes that.
GMPI_NOINLINE void make_series(BlockTeam team) {
  if (BlockTeam::has_warp()) {
    Begun begun = Begun::over;
    if (thread_index() < 32) {
      begun = make_left_as_warp();
      if (begun == Begun::nothing) {
        find_routes_as_warp();
        begun = make_left_as_warp();
      }
    }
    begun = tell_all(begun);
    if (begun == Begun::spanning) {
      carry_all_left<false>();
      if (thread_index() == 0 && load_relaxed_device(&context.peer->summary.told) != 0)
        tell_progress(*context.peer);
    }
    if (begun != Begun::nothing)
      return;
  }
  make_one_by_one(team);
}

} // namespace gmpi::device::peer
