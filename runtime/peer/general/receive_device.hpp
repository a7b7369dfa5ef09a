// Receiving.
#pragma once

#include "../../queue/call_result.hpp"
#include "../channel/wide_device.hpp"
#include "send_device.hpp"

namespace gmpi::device::peer {

/// team.receive(), or its part in a copy to where others read it; apart, so that whoever calls
/// needs no more registers for it.
template <class Team>
GMPI_NOINLINE void receive_from(Team team, void *to, unsigned long long offset, const void *from,
                                unsigned long long bytes, bool last) {
  team.receive(to, offset, from, bytes, last);
}
template <class Team>
GMPI_NOINLINE void send_to(Team team, void *to, const void *from, unsigned long long bytes) {
  team.send(to, from, bytes);
}

/// The result of a receive whose message is known. The leader calls it.
GMPI_DEVICE void note_message(Share &shared, int source, const Header &header, int tag,
                              unsigned long long room) {
  shared.result = nothing_received();
  shared.result.source = source;
  shared.result.tag = tag;
  shared.result.bytes = header.bytes < room ? header.bytes : room;
  shared.truncated = header.bytes > room;
}

/// Whether the message is for a receive that goes before all others.
GMPI_DEVICE bool is_for(const Header &header, const Comm &comm, int tag) {
  return header.context == comm.context && (tag == MPI_ANY_TAG || tag == header.tag);
}
/// Whether others of this rank have something to say, so that it may not.
GMPI_DEVICE bool is_contended(const Summary &summary) {
  return (summary.posted | summary.kept | summary.active | summary.told) != 0;
}

/// Takes the next message of a channel, which the caller holds, and gives that back.
GMPI_DEVICE void take_found(State &state, std::uint32_t channel, Position at,
                            const Header &header) {
  const std::uint32_t peer = peer_of_channel(channel);
  const unsigned long long first = at.in(channel);
  at.move(channel, first + slots_of(header));
  let_channels_go(state, peer, at); // the message is no one else's
  take_placed(state, channel, first, header);
  tell_matched(state, peer, header);
}

/// Says what the call returns, and what is yet to be read. `whole`: nothing.
GMPI_DEVICE void note_found(State &state, std::uint32_t channel, int source, unsigned char *data,
                            unsigned long long room, unsigned long long next, const Header &header,
                            bool whole, Share &shared) {
  const Origin origin = origin_of(header, channel, next);
  const Channel &its = state.channels[origin.channel];
  note_message(shared, source, header, header.tag, room);
  shared.step = {whole ? Step::over : Step::read,
                 false,
                 0,
                 slots_of(header),
                 {its.in, its.in_freed, origin.first, data, room, header},
                 nullptr};
}

/// The same of a call of scope S that all of a block end. `answers`: it returns what it has
/// received, also, if it `tells` that, from the launch's state.
template <Scope S>
GMPI_DEVICE void note_found_for(State &state, std::uint32_t channel, int source,
                                unsigned char *data, unsigned long long room,
                                unsigned long long next, const Header &header, bool whole,
                                bool answers, bool tells, Share &share) {
  note_found(state, channel, source, data, room, next, header, whole, share);
  share.answers = answers;
  if (S == Scope::grid && tells)
    block_state().launch->result = share.result;
}

/// The same for a receive.
GMPI_DEVICE void begin_receiving(State &state, std::uint64_t *acks, std::uint32_t index,
                                 std::uint32_t serial, const Comm &comm, int source,
                                 const Wanted &wanted, void *data, unsigned long long room) {
  begin_use(state, index, serial, false, comm, wanted.context, data, room);
  Request &request = state.requests[index];
  request.peer = wanted.peer;
  request.rank = source;
  request.tag = wanted.tag;
  store_packet(landed_at(acks, index), 0, 0);
}
GMPI_DEVICE void begin_receiving(State &state, std::uint32_t index, std::uint32_t serial,
                                 const Comm &comm, int source, int tag, void *data,
                                 unsigned long long room) {
  begin_receiving(state, state.acks, index, serial, comm, source, wanted_from(comm, source, tag),
                  data, room);
}

/// Looks for where a long receive's data can be stored; nobody else looks at the request yet.
GMPI_DEVICE void prepare_long(State &state, std::uint32_t index) {
  Request &request = state.requests[index];
  if (!request.own)
    request.offer = find_or_ask_for_offer(state, request.data, request.room, request.offset);
}

/// Gives a receive, whose request has been begun and says where the data can be stored, the next
/// message of a channel, which is announced; the caller holds the channels, which are given back.
GMPI_DEVICE void take_announced(State &state, std::uint32_t index, std::uint32_t channel,
                                Position at, const Header &header, const Match &match,
                                unsigned long long offset) {
  const std::uint32_t peer = peer_of_channel(channel);
  Request &request = state.requests[index];
  request.channel = channel;
  request.header = header;
  const unsigned long long next = at.in(channel);
  note_state(request, RequestState::awaiting_data);
  atomicAdd(&state.summary.posted, 1u);
  release_device(); // whoever finds the data comes after
  acknowledge(state, peer, header, match, offset);
  at.move(channel, next + 1);
  let_channels_go(state, peer, at);
  free_share(state.channels[channel].in_freed, next, next + 1, 0, 1);
}

/// The same from the beginning. The receive waits for shared.request then; that is `nothing` where
/// there is no slot for it: nobody waits for one while he holds channels.
GMPI_OUT_OF_LINE void match_announced(State &state, const Comm &comm, int source, int tag,
                                      void *data, unsigned long long room, std::uint32_t channel,
                                      Position at, const Header &header, Share &shared) {
  const std::uint32_t index = try_acquire_slot(context);
  shared.request = index == no_slot ? nothing : index;
  if (index == no_slot)
    return let_channels_go(state, peer_of_channel(channel), at);
  begin_receiving(state, index, next_use(state, index, false), comm, source, tag, data, room);
  if (header.bytes <= room)
    prepare_long(state, index);
  const Request &request = state.requests[index];
  take_announced(state, index, channel, at, header, match_of(request, index, header),
                 request.offset);
}

/// A message that is there before its receive has been posted, or comes while one thread looks for
/// it alone. Fails where others have something to say. One that is announced is then waited for, as
/// shared.request.
GMPI_OUT_OF_LINE void receive_at_once(State &state, const Comm &comm, int source, int tag,
                                      unsigned char *data, unsigned long long room, Share &shared) {
  const std::uint32_t peer = comm.peer_of[source];
  shared.step.kind = Step::none;
  shared.request = nothing;
  if (is_contended(look(state)))
    return;
  unsigned long long word = load_relaxed_device(&state.receiving[peer].next);
  if (!try_lock_channels(state, peer, word))
    return;
  const Position at = position_of(state, peer, word);
  Patience patience;
  GMPI_NO_UNROLL
  for (unsigned turns = 0;; ++turns) {
    Summary summary = look(state);
    Header header;
    std::uint32_t channel = find_next(state, peer, at, header);
    if (is_contended(summary) || patience.ends(turns))
      break;
    if (channel == max_channels) {
      relax();
      continue;
    }
    const bool ours = is_for(header, comm, tag);
    if (ours && header.kind == MessageKind::announced && !is_local(data))
      return match_announced(state, comm, source, tag, data, room, channel, at, header, shared);
    if (!ours || !has_data(header))
      break;
    const Channel &its = state.channels[channel];
    const unsigned long long next = at.in(channel);
    bool whole = header.bytes <= packet_bytes; // it need not be looked for again
    if (whole && header.bytes != 0)
      store_data(data, header.bytes < room ? header.bytes : room,
                 await_packet(packet_at(its.in, next, header_packets), lap_of(next)));
    take_found(state, channel, at, header);
    note_found(state, channel, source, data, room, next, header, whole, shared);
    if (whole)
      free_share(its.in_freed, next, next + 1, 0, 1);
    return;
  }
  let_channels_go(state, peer, at);
}

/// Finds a receive's message among those kept: the receive needs no request then. One thread, which
/// says what the call returns.
GMPI_OUT_OF_LINE bool receive_kept(State &state, const Comm &comm, int source, int tag,
                                   unsigned long long room, Share &shared) {
  const Wanted wanted = wanted_from(comm, source, tag);
  if (has_kept_none(state, wanted))
    return false;
  lock(state);
  list_posts(state); // those go first
  const std::uint32_t place = take_kept(state, wanted, true);
  if (place != nothing) {
    const Kept &kept = state.kept[place];
    const std::uint32_t from = peer_of_channel(kept.channel);
    atomicSub(&state.summary.kept, 1u);
    note_message(shared, comm.rank_of[from], kept.header, kept.header.tag, room);
    if (kept.header.kind == MessageKind::synchronous)
      acknowledge(state, from, kept.header);
    shared.request = nothing;
    shared.place = place;
  }
  unlock(state);
  return place != nothing;
}

/// Finds the message of shared.request, which has been begun, among those kept, or posts it. Under
/// the lock, which it gives back.
GMPI_OUT_OF_LINE void match_or_post(State &state, Share &shared) {
  const std::uint32_t index = shared.request;
  list_posts(state); // those go first
  note_state(state.requests[index], RequestState::posted);
  atomicAdd(&state.summary.posted, 1u);
  if (!match_kept(state, index, shared.place))
    append_posted(state, index);
  else if (shared.place != nothing)
    note_state(state.requests[index], RequestState::done);
  unlock(state);
}

/// Makes room in the ring for entry `number`. (Whoever awaits such an entry has made room for it.)
GMPI_OUT_OF_LINE void await_post_room(State &state, std::uint32_t number) {
  atomicAdd(&state.wanted, 1u);
  GMPI_NO_UNROLL
  while (number - load_relaxed_device(&state.posts.first) >= PostRing::places) {
    if (take_lock(state)) {
      list_posts(state, number + 1 - PostRing::places);
      unlock(state);
    } else {
      pause();
    }
  }
  atomicSub(&state.wanted, 1u);
}

/// A receive's place among those that are posted.
struct PostNumber {
  std::uint32_t number, first; ///< and of the ring's first entry
  std::uint32_t posted, state; ///< how many there were; what its request has been

  /// True; but who branches on it has waited until all that has been written.
  GMPI_DEVICE bool is_taken() const { return (((number - first) | posted | state) >> 31) == 0; }
};
/// Takes one, for a request that has just been made. What needs its record waits for that then.
/// One thread.
GMPI_DEVICE PostNumber take_post_number(State &state, std::uint32_t index) {
  // All of this is under way together.
  PostNumber taken;
  taken.state = atomicExch(&state.requests[index].state, std::uint32_t(RequestState::idle));
  taken.posted = add_in_flight_device(&state.summary.posted, 1);
  taken.number = add_in_flight_device(&state.posts.next, 1);
  taken.first = load_relaxed_device(&state.posts.first);
  return taken;
}
/// The record of a receive that is to be posted into the ring: a call's of its own, into memory
/// that the rank's others can reach. Its data may be stored where `offer` and `offset` say, if
/// anywhere.
GMPI_DEVICE void describe_post(State &state, const Comm &comm, int source, const Wanted &wanted,
                               void *data, unsigned long long room, const Match &offer,
                               unsigned long long offset, const NewSlot &slot) {
  begin_receiving(state, state.acks, slot.slot, slot.serial & 0xffff, comm, source, wanted, data,
                  room);
  Request &request = state.requests[slot.slot];
  request.offer = offer;
  request.offset = offset;
  note_state(request, RequestState::posted);
}
/// Shows it to others, as number `number`: its record is there for whoever sees that.
GMPI_DEVICE void show_post(PostRing &posts, std::uint32_t index, std::uint32_t number) {
  store_relaxed_device(&posts.entry[number % PostRing::places],
                       index | static_cast<unsigned long long>(number + 1) << 32);
}
/// Posts it: waits for nothing but what has been written, and leaves it to others to look whether
/// its message is there. One thread.
GMPI_DEVICE void post_into_ring(State &state, std::uint32_t index, const PostNumber &taken) {
  release_device();
  if (taken.number - taken.first >= PostRing::places)
    await_post_room(state, taken.number);
  show_post(state.posts, index, taken.number);
}

/// Posts a receive whose request's slot is `index`, or finds its message among those kept. One
/// thread. `room` bytes at `data`.
GMPI_OUT_OF_LINE void begin_receive_in(State &state, const Comm &comm, int source, int tag,
                                       void *data, unsigned long long room, bool needs_staging,
                                       std::uint32_t index, Share &shared) {
  shared.request = index;
  begin_receiving(state, index, next_use(state, index, false), comm, source, tag, data, room);
  shared.place = nothing;
  Request &request = state.requests[index];
  if (needs_staging) {
    request.own = 0;
    GMPI_NO_UNROLL
    for (;;) { // those that are in use are other calls', which end
      lock(state);
      request.staging = take_place(state, eager_bytes);
      if (request.staging != nothing)
        break;
      unlock(state);
      pause();
    }
    request.data = kept_memory(state, request.staging);
  } else {
    if (room > eager_bytes)
      prepare_long(state, index);
    lock(state);
  }
  match_or_post(state, shared);
}

/// The same in a slot that it takes. `blocking`: shared.request may be `nothing` behind it, see
/// receive_kept().
GMPI_OUT_OF_LINE void begin_receive(State &state, const Comm &comm, int source, int tag, void *data,
                                    unsigned long long room, bool needs_staging, bool blocking,
                                    Share &shared) {
  std::uint32_t index = no_slot;
  GMPI_NO_UNROLL
  while ((index = try_acquire_slot(context)) == no_slot) {
    // Those who have them may wait for what cannot come before others have taken what is kept.
    if (blocking && receive_kept(state, comm, source, tag, room, shared))
      return;
    collect_host_releases(context);
    rest();
  }
  begin_receive_in(state, comm, source, tag, data, room, needs_staging, index, shared);
}

/// Begins a receive, and leaves its request in shared().request. A message that had been kept is
/// copied now. `begun`: it has been found. `blocking`: as begin_receive() says.
template <class Team>
GMPI_NOINLINE void begin_to_receive(Team team, const Comm &comm, int source, int tag, void *data,
                                    unsigned long long room, bool begun, bool blocking) {
  State &state = *context.peer;
  Share &shared = team.shared();
  bool staged = Team::scope != Scope::thread && is_local(data);
  if (team.leads() && !begun)
    begin_receive(state, comm, source, tag, data, room, staged, blocking, shared);
  team.sync();
  if (shared.place == nothing)
    return;
  unsigned long long bytes = state.kept[shared.place].header.bytes;
  receive_from(team, data, 0, kept_memory(state, shared.place), bytes < room ? bytes : room, true);
  team.sync();
  if (team.leads()) {
    lock(state);
    give_place(state, shared.place);
    if (staged && shared.request != nothing) { // nothing lies there
      Request &request = state.requests[shared.request];
      give_place(state, request.staging);
      request.staging = nothing;
    }
    unlock(state);
  }
}

/// The proxy refuses the call, `why`: truncated_bytes, of which the communicator's error handler
/// decides, or differing_bytes, which ends the job.
template <class Team>
GMPI_NOINLINE int refuse(Team team, Call call, MPI_Comm comm, std::uint64_t why);

template <class Team> GMPI_NOINLINE void judge_length(Team team, Call call, MPI_Comm comm) {
  int error = refuse(team, call, comm, truncated_bytes);
  team.sync();
  if (team.leads())
    team.shared().result.error = error;
  team.sync();
}

/// Has all blocks stream the message of a request that their grid has waited for, if it has been
/// answered so. `then`: over, or sent.
GMPI_OUT_OF_LINE void stream_if_answered(BlockTeam team, std::uint32_t index, Begun then) {
  State &state = *context.peer;
  const Request &request = state.requests[index];
  if (!request.sends || !request.header.streams ||
      state_of(request) != RequestState::awaiting_match)
    return;
  __syncthreads();
  if (team.leads()) {
    while (cas_acquire_device(&state.requests[index].busy, 0, 1) != 0)
      relax(); // somebody has just looked at it
    const unsigned long long first = await_packet(
        ack_of(state, index, request.serial) + packet_words, lap_of_serial(request.serial));
    deactivate(state, index);
    note_state(state.requests[index], RequestState::done);
    begin_to_stream(state, request.peer, request.data, request.header.bytes, first, then);
  }
  __syncthreads();
  carry_stream();
}

/// What the end of a request means, and gives the request back. The team has waited for it.
template <class Team>
GMPI_NOINLINE void end_request(Team team, Call call, std::uint32_t index, void *data) {
  State &state = *context.peer;
  Share &shared = team.shared();
  Request &request = state.requests[index];
  if constexpr (Team::scope == Scope::grid)
    stream_if_answered(BlockTeam{team.leader}, index,
                       call.function == Function::Sendrecv ? Begun::sent : Begun::over);
  if (team.leads()) {
    acquire_device();
    shared.place = nothing;
    shared.truncated = false;
    if (request.sends) {
      shared.result = nothing_received();
    } else {
      note_message(shared, request.comm->rank_of[request.peer], request.header, request.header.tag,
                   request.room);
      shared.place = request.staging;
    }
  }
  team.sync();
  if (shared.place != nothing)
    receive_from(team, data, 0, kept_memory(state, shared.place), shared.result.bytes, true);
  MPI_Comm comm = request.comm->handle;
  team.sync();
  if (team.leads()) {
    if (shared.place != nothing) {
      lock(state);
      give_place(state, shared.place);
      unlock(state);
    }
    give_request_back(index);
    if (look(state).told != 0)
      tell_progress(state);
  }
  if (shared.truncated)
    judge_length(team, call, comm);
}

/// Whether the request is done already, or can be at once.
template <class Team> GMPI_DEVICE bool is_done_already(std::uint32_t index) {
  if constexpr (Team::scope == Scope::thread) {
    return false;
  } else {
    if (!BlockTeam::has_warp())
      return false;
    return !__syncthreads_or(thread_index() < 32 && !is_done_as_warp(*context.peer, index));
  }
}

/// Until the request is done.
template <class Team>
GMPI_NOINLINE void finish_request(Team team, Call call, const Comm &comm, std::uint32_t index,
                                  int rank, int tag, void *data) {
  if (is_done_already<Team>(index))
    return end_request(team, call, index, data);
  if (team.leads())
    team.shared().wait = {
        Wait::request_done, call, &comm, nullptr, index, 0, 0, 0, rank, tag, 0, nothing};
  wait_for(team);
  end_request(team, call, index, data);
}

/// Posts a receive, and waits for it.
template <class Team>
GMPI_NOINLINE void post_and_wait(Team team, Call call, const Comm &comm, int source, int tag,
                                 void *data, unsigned long long room) {
  team.sync();
  begin_to_receive(team, comm, source, tag, data, room, false, true);
  std::uint32_t index = team.shared().request;
  team.sync();
  if (index == nothing) {
    if (team.shared().truncated)
      judge_length(team, call, comm.handle);
    return;
  }
  finish_request(team, call, comm, index, source, tag, data);
}

/// Leaves what the call returns in shared().result. `begun`: how far it has come.
template <class Team>
GMPI_NOINLINE void receive(Team team, Call call, const Comm &comm, int source, int tag, void *data,
                           unsigned long long room, Begun begun) {
  Share &shared = team.shared();
  const bool found = begun == Begun::receiving;
  // In a block's shared memory there is room for so much that goes to each thread's local memory.
  bool local = Team::scope != Scope::thread && is_local(data);
  bool at_once = found || (source != MPI_ANY_SOURCE && (!local || room <= block_keeps));
  if (at_once && !found && begun != Begun::matched) {
    auto *to = local ? block_state().small : static_cast<unsigned char *>(data);
    if (team.leads())
      receive_at_once(*context.peer, comm, source, tag, to, room, shared);
    team.sync();
    if (shared.request != nothing)
      begun = Begun::matched;
  }
  if (begun == Begun::matched) {
    const std::uint32_t index = shared.request;
    team.sync();
    return finish_request(team, call, comm, index, source, tag, data);
  }
  if (!at_once || shared.step.kind == Step::none)
    return post_and_wait(team, call, comm, source, tag, data, room);
  if (shared.step.kind == Step::read)
    do_step(team);
  if (local)
    receive_from(team, data, 0, block_state().small, shared.result.bytes, true);
  if (shared.truncated)
    judge_length(team, call, comm.handle);
}

} // namespace gmpi::device::peer
