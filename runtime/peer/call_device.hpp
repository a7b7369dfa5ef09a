// Point-to-point calls on communicators whose messages kernels carry themselves.
//
// Invariant: whoever waits carries on whatever this rank has to do, its own and others'; so a rank that
// waits never keeps another from ending. What goes in one step of a call holds no lock but for a copy of
// at most eager_bytes.
#pragma once

#include "../mpi/datatypes_device.hpp"
#include "../queue/call_result.hpp"
#include "../queue/team_device.hpp"
#include "matching_device.hpp"
#include "reduce_device.hpp"

namespace gmpi::device::peer {

/// The communicator's entry, where kernels carry its messages; null where MPI does.
GMPI_DEVICE Comm *find_comm(MPI_Comm comm) {
  State *state = context.peer;
  if (state == nullptr)
    return nullptr;
  if (comm == context.world)
    return context.peer_world;
  GMPI_NO_UNROLL
  for (std::uint32_t i = 0; i < state->comms_used; ++i)
    if (state->comms[i].handle == comm && state->comms[i].context != 0)
      return &state->comms[i];
  return nullptr;
}

/// Whose call it is.
struct Call {
  Function function;
  Scope scope;
  Site site;
};

// --- the proxy's knowledge ---

/// What is waited for: a request's end, slots of the channel to `peer`, or the others of a collective
/// call.
struct Wait {
  enum For : std::uint32_t { request_done, slots, others } what;
  Call call;
  const Comm *comm;
  std::uint32_t request; ///< or `nothing`
  std::uint32_t peer;
  unsigned long long until; ///< a slot number, or a collective call's round
  int rank, tag;            ///< for reports; of a collective call, its root
  unsigned long long since;
  std::uint32_t told; ///< the request slot under which the proxy knows of it, or `nothing`
};

/// Tells the proxy of a wait, once it is long: for its reports.
GMPI_OUT_OF_LINE void tell_of(State &state, Wait &wait) {
  Attribute attribute{};
  attribute.function = wait.call.function;
  attribute.scope = wait.call.scope;
  attribute.site = wait.call.site;
  attribute.launch = block_state().launch_index;
  attribute.peer = true;
  attribute.slot = wait.told = wait.request != nothing ? wait.request : acquire_slot(context);
  attribute.arguments.comm = wait.comm->handle;
  attribute.arguments.dest = attribute.arguments.source = attribute.arguments.root = wait.rank;
  attribute.arguments.send_tag = attribute.arguments.recv_tag = wait.tag;
  atomicAdd(&state.summary.told, 1u);
  post(context, attribute);
}
GMPI_OUT_OF_LINE void tell_end(State &state, Wait &wait) {
  tell(Function::carried, wait.call.scope, wait.call.site, wait.told);
  atomicSub(&state.summary.told, 1u);
  if (wait.told != wait.request)
    release_slot(context, wait.told);
}

/// While others of this rank have been waiting for long, the proxy hears now and then that the rank
/// goes on.
GMPI_OUT_OF_LINE void tell_progress(State &state) {
  constexpr unsigned long long between = 100000000;
  unsigned long long now = nanoseconds(), last = load_relaxed_device(&state.last_told);
  if (now - last > between && atomicCAS(&state.last_told, last, now) == last)
    tell(Function::progress, Scope::thread, {0, 0}, 0);
}

// --- waiting ---

/// Where rank `from` puts its packets of a round, in rank `to`'s memory.
GMPI_DEVICE std::uint64_t *round_of(const Comm &comm, std::uint32_t round, int to, int from) {
  std::uint32_t half = round % 2;
  return comm.rounds[to] +
         (std::size_t(half) * comm.size + from) * round_packets * packet_words;
}

/// Whether all other ranks have begun the round.
GMPI_DEVICE bool all_have_begun(const Comm &comm, std::uint32_t round) {
  bool all = true;
  GMPI_NO_UNROLL
  for (int rank = 0; rank < comm.size; ++rank)
    if (rank != comm.rank)
      all = all && Packet::load(round_of(comm, round, comm.rank, rank)).shows(round);
  return all;
}

GMPI_DEVICE bool has_come(State &state, const Wait &wait) {
  switch (wait.what) {
  case Wait::request_done:
    return state_of(state.requests[wait.request]) == RequestState::done;
  case Wait::slots:
    return look_for_free(state, wait.peer, wait.until) >= wait.until;
  default:
    return all_have_begun(*wait.comm, static_cast<std::uint32_t>(wait.until));
  }
}

/// Until what is waited for has come, or there is work to do for the whole team. One thread.
GMPI_OUT_OF_LINE Work await(State &state, Wait &wait) {
  GMPI_NO_UNROLL
  for (unsigned turns = 0;; ++turns) {
    if (has_come(state, wait)) {
      if (wait.told != nothing)
        tell_end(state, wait);
      return {WorkKind::over, 0};
    }
    Work work = look_for_work(state, wait.request);
    if (work.kind != WorkKind::none)
      return work;
    if (turns % 1024 == 1023 && wait.told == nothing && nanoseconds() - wait.since >= long_wait)
      tell_of(state, wait);
    relax();
  }
}

/// What is to be done next for a request that the caller holds.
GMPI_OUT_OF_LINE Step begin_step(State &state, std::uint32_t index) {
  constexpr unsigned long long at_most = 64;
  Request &request = state.requests[index];
  Step step{};
  step.transfer.first = request.first;
  step.transfer.data = request.data;
  step.transfer.room = request.room;
  step.transfer.header = request.header;
  const Peer &peer = state.peer[request.peer];
  unsigned long long all = slots_of(request.header);
  switch (state_of(request)) {
  case RequestState::queued:
    if (look_for_free(state, request.peer, request.first + all) < request.first + all)
      return step;
    step.high = all;
    step.kind = Step::write;
    break;
  case RequestState::awaiting_match: {
    Packet match = Packet::load(state.acks + index * packet_words);
    if (!match.shows(lap_of_serial(request.header.serial)))
      return step;
    if (request.header.kind == MessageKind::synchronous) {
      deactivate(state, index);
      set_state(request, RequestState::done);
      return step;
    }
    request.header.kind = MessageKind::data;
    request.header.tag = static_cast<std::int32_t>(match.data());
    request.first = take_slots(state, request.peer, slots_for(request.header.bytes));
    set_state(request, RequestState::sending);
    return step;
  }
  case RequestState::sending: {
    step.low = request.moved;
    step.high = all - step.low < at_most ? all : step.low + at_most;
    unsigned long long until = look_for_free(state, request.peer, request.first + step.high);
    if (until <= request.first + step.low)
      return step;
    if (until - request.first < step.high)
      step.high = until - request.first;
    step.kind = Step::write;
    break;
  }
  case RequestState::receiving:
    // As much as is known to be on its way: the sender writes a message's slots in order.
    step.low = request.moved;
    for (unsigned long long some = at_most; some != 0; some /= 8) {
      step.high = all - step.low < some ? all : step.low + some;
      if (has_message(state, request.peer, request.first + step.high - 1)) {
        step.kind = Step::read;
        break;
      }
    }
    break;
  default:
    return step;
  }
  step.transfer.ring = step.kind == Step::read ? peer.in : peer.out;
  step.transfer.freed = peer.in_freed;
  return step;
}

GMPI_OUT_OF_LINE void end_step(State &state, std::uint32_t index, Step::Kind kind,
                               unsigned long long moved) {
  Request &request = state.requests[index];
  if (kind == Step::none)
    return let_go(request);
  bool sent_whole = state_of(request) == RequestState::queued;
  request.moved = moved;
  if (sent_whole && request.header.kind != MessageKind::eager) {
    request.moved = 0;
    set_state(request, RequestState::awaiting_match);
  } else if (moved == slots_of(request.header)) {
    deactivate(state, index);
    set_state(request, RequestState::done);
  }
  let_go(request);
}

/// Writes or reads what `step` says, as a team, and gives back what was read. Ends with the team's
/// barrier.
template <class Team> GMPI_NOINLINE void do_step(Team team, const Step &step) {
  unsigned rank = 0, size = 1;
  const Transfer &t = step.transfer;
  bool alone = is_local(t.data) && Team::scope != Scope::thread;
  if (!alone)
    team.number(rank, size);
  if (step.kind == Step::write) {
    if (!alone || team.leads())
      write_share(t, step.low, step.high, rank, size);
    team.sync();
    return;
  }
  read_share(t, step.low, step.high, rank, size);
  team.sync();
  free_share(t.freed, t.first + step.low, t.first + step.high, rank, size);
}

/// Does what one member has found.
template <class Team> GMPI_NOINLINE void do_work(Team team, Work work) {
  State &state = *context.peer;
  Step step{};
  if (team.leads()) {
    if (work.kind == WorkKind::keep) {
      const Kept &kept = state.kept[work.index];
      const Peer &peer = state.peer[kept.peer];
      step = {Step::read, 0, slots_of(kept.header),
              {peer.in, peer.in_freed, kept.first, kept_memory(state, work.index),
               kept.header.bytes, kept.header}};
    } else {
      step = begin_step(state, work.index);
    }
  }
  team.share(step, &BlockState::peer_step);
  if (step.kind != Step::none)
    do_step(team, step);
  team.sync();
  if (!team.leads())
    return;
  if (work.kind == WorkKind::keep)
    end_keeping(state, work.index);
  else
    end_step(state, work.index, step.kind, step.high);
}

/// The team waits, and works meanwhile. `wait` is the leader's.
template <class Team> GMPI_NOINLINE void wait_for(Team team, Wait wait) {
  if (team.leads())
    wait.since = nanoseconds();
  for (;;) {
    Work work{};
    if (team.leads())
      work = await(*context.peer, wait);
    team.share(work, &BlockState::peer_work);
    if (work.kind == WorkKind::over)
      return;
    do_work(team, work);
  }
}

// --- beginning ---

/// A new request of this rank's; the caller fills it.
GMPI_DEVICE std::uint32_t new_request(State &state, bool sends, const Comm &comm, void *data,
                                      unsigned long long room) {
  std::uint32_t index = acquire_slot(context);
  Request &request = state.requests[index];
  request.busy = 0;
  request.comm = &comm;
  request.sends = sends;
  request.own = is_local(data) || is_shared(data);
  request.staging = nothing;
  request.data = static_cast<unsigned char *>(data);
  request.room = room;
  request.moved = 0;
  context.records[index].peer = true;
  return index;
}

/// One thread takes the message's slots and says what its team does at once.
GMPI_OUT_OF_LINE Begun begin_send(State &state, const Comm &comm, std::uint32_t peer, int tag,
                                  const void *data, unsigned long long bytes, bool synchronous,
                                  bool nonblocking) {
  Begun begun{};
  begun.request = begun.place = nothing;
  Transfer &t = begun.step.transfer;
  t.ring = state.peer[peer].out;
  t.data = static_cast<unsigned char *>(const_cast<void *>(data));
  t.room = bytes;
  t.header.kind = bytes > eager_bytes ? MessageKind::announced
                  : synchronous       ? MessageKind::synchronous
                                      : MessageKind::eager;
  t.header.context = static_cast<std::uint16_t>(comm.context);
  t.header.tag = tag;
  t.header.bytes = bytes;
  unsigned long long slots = slots_of(t.header);
  std::uint32_t told = load_relaxed_device(&state.summary.told);
  unsigned long long free_until = load_relaxed_device(&state.sending[peer].free_until);
  t.first = take_slots(state, peer, slots);
  begun.step.high = slots;
  bool free = t.first + slots <= free_until ||
              look_for_free(state, peer, t.first + slots) >= t.first + slots;
  if (free)
    begun.step.kind = Step::write;
  if (told != 0)
    tell_progress(state);
  // What lies in local memory is sent, or at least on its way, when the call returns.
  if (t.header.kind == MessageKind::eager && (free || !nonblocking || is_local(data))) {
    begun.until = free ? 0 : t.first + slots;
    return begun;
  }
  begun.request = new_request(state, true, comm, t.data, bytes);
  Request &request = state.requests[begun.request];
  t.header.request = static_cast<std::uint16_t>(begun.request);
  t.header.serial = static_cast<std::uint16_t>(context.records[begun.request].serial);
  store_packet(state.acks + begun.request * packet_words, 0, 0);
  fence_device(); // whoever acknowledges comes after
  request.peer = peer;
  request.header = t.header;
  request.first = t.first;
  set_state(request, free ? RequestState::awaiting_match : RequestState::queued);
  activate(state, begun.request);
  return begun;
}

/// Sends, or begins to. Returns the request that is left, or `nothing`.
template <class Team>
GMPI_NOINLINE std::uint32_t send(Team team, Call call, const Comm &comm, int dest, int tag,
                                 const void *data, unsigned long long bytes, bool nonblocking) {
  State &state = *context.peer;
  Begun begun{};
  std::uint32_t peer = comm.peer_of[dest];
  if (team.leads()) {
    begun = begin_send(state, comm, peer, tag, data, bytes, call.function == Function::Ssend,
                       nonblocking);
    atomicAdd(&state.calls, 1ull);
    atomicAdd(&state.bytes, bytes);
  }
  team.share(begun, &BlockState::peer_begun);
  if (begun.until != 0) {
    wait_for(team, {Wait::slots, call, &comm, nothing, peer, begun.until, dest, tag, 0, nothing});
    begun.step.kind = Step::write;
  }
  if (begun.step.kind == Step::write)
    do_step(team, begun.step);
  return begun.request;
}

/// A message that is there before its receive has been posted, or comes while one thread looks for it
/// alone. Fails where others have something to say.
GMPI_OUT_OF_LINE bool receive_at_once(State &state, const Comm &comm, std::uint32_t peer, int tag,
                                      Step &step) {
  Line &line = state.receiving[peer];
  unsigned long long next = load_relaxed_device(&line.next);
  if (!try_lock_channel(state, peer, next))
    return false;
  const std::uint64_t *from = packet_at(state.peer[peer].in, next, 0);
  std::uint32_t lap = lap_of(next);
  Packet packets[header_packets];
  unsigned long long start = nanoseconds();
  GMPI_NO_UNROLL
  for (unsigned turns = 0;; ++turns) {
    Summary summary = look(state);
    packets[0] = Packet::load(from);
    packets[1] = Packet::load(from + packet_words);
    bool alone = (summary.posted | summary.kept | summary.active | summary.told) == 0;
    if (!alone || (turns % 1024 == 1023 && nanoseconds() - start >= long_wait))
      break;
    if (packets[0].shows(lap) && packets[1].shows(lap)) {
      Header header = unpack_header(packets[0].data(), packets[1].data());
      bool ours = header.context == comm.context && (tag == MPI_ANY_TAG || tag == header.tag) &&
                  (header.kind == MessageKind::eager || header.kind == MessageKind::synchronous);
      if (!ours)
        break;
      unsigned long long slots = slots_of(header);
      store_relaxed_device(&line.next, next + slots);
      if (header.kind == MessageKind::synchronous)
        acknowledge(state, peer, header, 0);
      step.kind = Step::read;
      step.low = 0;
      step.high = slots;
      step.transfer.ring = state.peer[peer].in;
      step.transfer.freed = state.peer[peer].in_freed;
      step.transfer.first = next;
      step.transfer.header = header;
      return true;
    }
    relax();
  }
  store_relaxed_device(&line.next, next);
  return false;
}

/// Posts a receive, or finds its message among those kept. One thread. `room` bytes at `data`.
GMPI_OUT_OF_LINE Begun begin_receive(State &state, const Comm &comm, std::uint32_t peer, int tag,
                                     void *data, unsigned long long room, bool needs_staging) {
  Begun begun{};
  begun.place = nothing;
  begun.request = new_request(state, false, comm, data, room);
  Request &request = state.requests[begun.request];
  request.peer = peer;
  request.tag = tag;
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
    lock(state);
  }
  std::uint32_t place = state.first_kept == nothing ? nothing : take_kept(state, request);
  if (place == nothing) {
    set_state(request, RequestState::posted);
    atomicAdd(&state.summary.posted, 1u);
    append_posted(state, begun.request);
    unlock(state);
    return begun;
  }
  Kept kept = state.kept[place];
  atomicSub(&state.summary.kept, 1u);
  if (kept.header.kind == MessageKind::announced) {
    give_place(state, place);
    atomicAdd(&state.summary.posted, 1u);
    give_message(state, begun.request, kept.header, kept.peer, kept.first);
  } else {
    request.peer = kept.peer;
    request.header = kept.header;
    set_state(request, RequestState::done);
    if (kept.header.kind == MessageKind::synchronous)
      acknowledge(state, kept.peer, kept.header, begun.request);
    begun.place = place;
  }
  unlock(state);
  return begun;
}

/// Begins a receive: its request is left. A message that had been kept is copied now.
template <class Team>
GMPI_NOINLINE std::uint32_t begin_to_receive(Team team, const Comm &comm, int source, int tag,
                                             void *data, unsigned long long room) {
  State &state = *context.peer;
  Begun begun{};
  bool staged = Team::scope != Scope::thread && is_local(data);
  if (team.leads())
    begun = begin_receive(state, comm,
                          source == MPI_ANY_SOURCE ? any_source : comm.peer_of[source], tag, data,
                          room, staged);
  team.share(begun, &BlockState::peer_begun);
  if (begun.place != nothing) {
    const Kept &kept = state.kept[begun.place];
    unsigned long long bytes = kept.header.bytes < room ? kept.header.bytes : room;
    team.receive(data, 0, kept_memory(state, begun.place), bytes, true);
    team.sync();
    if (team.leads()) {
      lock(state);
      give_place(state, begun.place);
      if (staged) { // nothing lies there
        give_place(state, state.requests[begun.request].staging);
        state.requests[begun.request].staging = nothing;
      }
      unlock(state);
    }
  }
  return begun.request;
}

/// The communicator's error handler decides on a message that is longer than the receive's buffer.
template <class Team> GMPI_NOINLINE int refuse_truncated(Team team, Call call, MPI_Comm comm);

/// What a request's end means, and gives the request back. The team waits for it first.
template <class Team>
GMPI_NOINLINE CallResult end_request(Team team, Call call, std::uint32_t index, void *data) {
  State &state = *context.peer;
  Request request{};
  if (team.leads()) {
    acquire_device();
    request = state.requests[index];
  }
  team.share(request, &BlockState::peer_request);
  CallResult result = nothing_received();
  if (request.sends) {
    if (team.leads())
      release_slot(context, index);
    return result;
  }
  unsigned long long bytes = request.header.bytes < request.room ? request.header.bytes : request.room;
  if (request.staging != nothing) {
    team.receive(data, 0, request.data, bytes, true);
    team.sync();
  }
  if (team.leads()) {
    if (request.staging != nothing) {
      lock(state);
      give_place(state, request.staging);
      unlock(state);
    }
    release_slot(context, index);
    if (look(state).told != 0)
      tell_progress(state);
  }
  result.source = request.comm->rank_of[request.peer];
  result.tag = request.header.tag;
  result.bytes = bytes;
  if (request.header.bytes > request.room)
    result.error = refuse_truncated(team, call, request.comm->handle);
  return result;
}

// --- MPI's calls ---

/// Until the request is done.
template <class Team>
GMPI_NOINLINE CallResult finish_request(Team team, Call call, const Comm &comm,
                                        std::uint32_t index, int rank, int tag, void *data) {
  wait_for(team, {Wait::request_done, call, &comm, index, 0, 0, rank, tag, 0, nothing});
  return end_request(team, call, index, data);
}

template <class Team>
GMPI_NOINLINE CallResult receive(Team team, Call call, const Comm &comm, int source, int tag,
                                 void *data, unsigned long long room) {
  constexpr bool alone = Team::scope == Scope::thread;
  // In a block's shared memory there is room for so much that goes to each thread's local memory.
  bool local = !alone && is_local(data);
  bool at_once = source != MPI_ANY_SOURCE && (!local || room <= reply_data_bytes);
  if (at_once) {
    Step step{};
    if (team.leads())
      receive_at_once(*context.peer, comm, comm.peer_of[source], tag, step);
    team.share(step, &BlockState::peer_step);
    if (step.kind == Step::read) {
      const Header &header = step.transfer.header;
      step.transfer.data = local ? block_state().small : static_cast<unsigned char *>(data);
      step.transfer.room = room;
      do_step(team, step);
      CallResult result = nothing_received();
      result.source = source;
      result.tag = header.tag;
      result.bytes = header.bytes < room ? header.bytes : room;
      if (local)
        team.receive(data, 0, block_state().small, result.bytes, true);
      if (header.bytes > room)
        result.error = refuse_truncated(team, call, comm.handle);
      return result;
    }
  }
  std::uint32_t index = begin_to_receive(team, comm, source, tag, data, room);
  return finish_request(team, call, comm, index, source, tag, data);
}

/// Waits for, or asks about, a request that a kernel has made on such a communicator.
template <class Team>
GMPI_NOINLINE CallResult complete(Team team, Call call, MPI_Request handle, bool wait) {
  State &state = *context.peer;
  const std::uint32_t index = decode_request(handle).slot;
  const Request &request = state.requests[index];
  bool done = false;
  if (!wait) { // one look
    Work work{};
    if (team.leads()) {
      work = look_for_work(state, index);
      if (work.kind == WorkKind::none && state_of(request) == RequestState::done)
        work.kind = WorkKind::over;
    }
    team.share(work, &BlockState::peer_work);
    done = work.kind == WorkKind::over;
    if (!done && work.kind != WorkKind::none)
      do_work(team, work);
    if (!done) {
      CallResult result{};
      result.request = handle;
      return result;
    }
  }
  acquire_device();
  const Comm &comm = *request.comm;
  bool from_any = !request.sends && request.peer == any_source;
  int rank = from_any ? MPI_ANY_SOURCE : comm.rank_of[request.peer];
  int tag = request.sends ? request.header.tag : request.tag;
  call.function = request.sends ? Function::Isend : Function::Irecv;
  team.sync();
  return finish_request(team, call, comm, index, rank, tag, request.data);
}

/// Whether the arguments are such that no error of MPI's is to be expected; the proxy's way finds the
/// others.
GMPI_DEVICE bool sends_well(const Comm &comm, const Arguments &a) {
  return a.send_count >= 0 && a.send_tag >= 0 && a.send_tag <= context.tag_upper_bound &&
         a.dest >= 0 && a.dest < comm.size;
}
GMPI_DEVICE bool receives_well(const Comm &comm, const Arguments &a) {
  return a.recv_count >= 0 && (a.recv_tag >= 0 || a.recv_tag == MPI_ANY_TAG) &&
         ((a.source >= 0 && a.source < comm.size) || a.source == MPI_ANY_SOURCE);
}

/// Whether kernels carry this call out themselves. The same on all ranks, but for wrong arguments.
template <Function F> GMPI_DEVICE bool takes(const Comm &comm, const Arguments &a) {
  if constexpr (F == Function::Send || F == Function::Ssend || F == Function::Isend)
    return sends_well(comm, a);
  else if constexpr (F == Function::Recv || F == Function::Irecv)
    return receives_well(comm, a);
  else if constexpr (F == Function::Sendrecv)
    return (a.dest == MPI_PROC_NULL || sends_well(comm, a)) &&
           (a.source == MPI_PROC_NULL || receives_well(comm, a));
  else if constexpr (F == Function::Barrier)
    return true;
  else if constexpr (F == Function::Bcast)
    return a.count >= 0 && a.root >= 0 && a.root < comm.size;
  else if constexpr (F == Function::Reduce)
    return a.count >= 0 && a.root >= 0 && a.root < comm.size && can_reduce(a.op, a.datatype);
  else if constexpr (F == Function::Allreduce)
    return a.count >= 0 && can_reduce(a.op, a.datatype);
  else
    return false;
}

template <Function F, class Team>
GMPI_NOINLINE CallResult carry_out_collective(Team team, Call call, const Arguments &a,
                                              const Buffers &buffers, Comm &comm);

/// Carries a call out of which takes() is true.
template <Function F, class Team>
GMPI_NOINLINE CallResult communicate(Team team, Site site, const Arguments &a,
                                     const Buffers &buffers, Comm &comm) {
  const Call call{F, Team::scope, site};
  if constexpr (kind_of(F) == Kind::collective) {
    return carry_out_collective<F>(team, call, a, buffers, comm);
  } else if constexpr (F == Function::Recv) {
    return receive(team, call, comm, a.source, a.recv_tag, buffers.out, buffers.out_bytes);
  } else if constexpr (F == Function::Irecv) {
    CallResult result{};
    std::uint32_t index =
        begin_to_receive(team, comm, a.source, a.recv_tag, buffers.out, buffers.out_bytes);
    result.request = encode_request({index, context.device, context.records[index].serial});
    return result;
  } else {
    constexpr bool nonblocking = F == Function::Isend;
    CallResult result = nothing_received();
    std::uint32_t index = nothing;
    if (F != Function::Sendrecv || a.dest != MPI_PROC_NULL)
      index = send(team, call, comm, a.dest, a.send_tag, buffers.in, buffers.in_bytes,
                   nonblocking || F == Function::Sendrecv);
    if (nonblocking && (index == nothing || !is_local(buffers.in))) {
      result.request = index == nothing ? null_peer_request()
                                        : encode_request({index, context.device,
                                                          context.records[index].serial});
      return result;
    }
    if (F == Function::Sendrecv && a.source != MPI_PROC_NULL)
      result = receive(team, call, comm, a.source, a.recv_tag, buffers.out, buffers.out_bytes);
    if (index != nothing)
      finish_request(team, call, comm, index, a.dest, a.send_tag, nullptr);
    if (nonblocking)
      result.request = null_peer_request();
    return result;
  }
}

} // namespace gmpi::device::peer
