// MPI's calls on communicators whose messages kernels carry themselves: the general way.
#pragma once

#include "../matching/probe_device.hpp"
#include "../quick/lanes_device.hpp"

namespace gmpi::device::peer {

/// Whether the request is a receive whose record may not be complete: the call that has made it may
/// be over, and its thread still writing that.
GMPI_DEVICE bool is_being_posted(const State &state, std::uint32_t index) {
  return load_relaxed_device(&state.requests[index].state) <=
         static_cast<std::uint32_t>(RequestState::posted);
}
/// All receives that have been posted are whole then. One thread.
GMPI_OUT_OF_LINE void await_posts(State &state) {
  lock(state);
  list_posts(state);
  unlock(state);
}

/// Waits for a request that a kernel has made on such a communicator, of a call that is left and
/// waits, too, or by MPI_Test looks at it once: then shared().result.flag tells whether it is done.
template <class Team> GMPI_NOINLINE void complete(Team team, Call call, std::uint32_t index) {
  State &state = *context.peer;
  Share &shared = team.shared();
  const Request &request = state.requests[index];
  if (call.function == Function::Test) {
    if (team.leads()) {
      const Glance seen(state, index);
      if (is_done(state, index, seen))
        shared.work.kind = WorkKind::over;
      else
        shared.work = look_for_work(state, index, seen);
    }
    team.sync();
    WorkKind found = shared.work.kind;
    team.sync();
    if (found != WorkKind::over) {
      if (found != WorkKind::none)
        do_work(team);
      if (team.leads())
        shared.result = CallResult{};
      relax(); // a program asks again and again
      team.sync();
      return;
    }
  }
  if (team.leads() && is_being_posted(state, index))
    await_posts(state);
  team.sync();
  acquire_device();
  const Comm &comm = *request.comm;
  int rank = request.rank, tag = request.tag;
  void *data = request.data;
  if (call.function != Function::Send && call.function != Function::Recv)
    call.function = request.sends ? Function::Isend : Function::Irecv;
  team.sync();
  finish_request(team, call, comm, index, rank, tag, data);
}

/// What a block that lacks threads does of a call for which its grid's blocks have met. Returns
/// over, or sending where it is the first, which goes on in the general way.
GMPI_DEVICE Begun carry_met_rounds(const BlockTeam &team) {
  BlockState &block = BlockTeam::block();
  Round &round = block.peer.round;
  const bool one = !is_long(round);
  if (block.command == GridCommand::lead) {
    if (team.leads()) {
      one ? write_hello(round) : begin_long(round);
      round.soon = false;
      count_call(*context.peer, round.in != nullptr ? round.length : 0);
    }
    one ? share_writing(round, team) : carry_first(round, carrier_in(team));
    return Begun::sending;
  }
  one ? share_round(round, team) : share_long(round, team);
  __syncthreads();
  if (team.leads())
    meet_blocks(block);
  __syncthreads();
  return Begun::over;
}

/// The team as it is here.
GMPI_DEVICE Alone in_peer(const ThreadTeam &, Share *own) { return Alone(own); }
GMPI_DEVICE BlockTeam in_peer(const BlockTeam &team, Share *) { return {team.leader}; }
GMPI_DEVICE GridTeam in_peer(const GridTeam &team, Share *) { return team; }
GMPI_DEVICE ThreadTeam in_queue(const Alone &) { return {}; }
GMPI_DEVICE BlockTeam in_queue(const BlockTeam &team) { return {team.leader}; }
GMPI_DEVICE GridTeam in_queue(const GridTeam &team) { return team; }
template <class Team> struct OwnShare {
  GMPI_DEVICE Share *get() { return nullptr; }
};
template <> struct OwnShare<ThreadTeam> {
  Share share;
  GMPI_DEVICE Share *get() { return &share; }
};

/// Waits for a send that has only begun, if it has.
template <class Team>
GMPI_NOINLINE void finish_send(Team team, Call call, const Comm &comm, int dest, int tag) {
  team.sync();
  std::uint32_t sending = team.shared().request;
  team.sync();
  if (sending != nothing)
    finish_request(team, call, comm, sending, dest, tag, nullptr);
}

/// MPI_Sendrecv of a grid that may be told to stream what it sends: whoever tells it so reads that,
/// and may do nothing else. So that is what it waits for first. Its message has been announced;
/// what it receives is to be posted, or `is_matched`.
GMPI_OUT_OF_LINE void send_and_receive(GridTeam team, Call call, const Comm &comm,
                                       const Arguments &a, const Buffers &buffers,
                                       std::uint32_t sending, bool is_matched) {
  Share &shared = team.shared();
  if (!is_matched)
    begin_to_receive(team, comm, a.source, a.recv_tag, buffers.out, buffers.out_bytes, false, true);
  team.sync();
  const std::uint32_t receiving = shared.request;
  const CallResult result = shared.result;
  const bool truncated = shared.truncated;
  team.sync();
  finish_request(team, call, comm, sending, a.dest, a.send_tag, nullptr);
  team.sync();
  if (receiving != nothing)
    return finish_request(team, call, comm, receiving, a.source, a.recv_tag, buffers.out);
  if (team.leads())
    shared.result = result;
  team.sync();
  if (truncated)
    judge_length(team, call, comm.handle);
}

/// MPI_Sendrecv of which both halves are real.
template <class Team>
GMPI_NOINLINE void exchange_messages(Team team, Call call, const Comm &comm, const Arguments &a,
                                     const Buffers &buffers, Begun begun) {
  Share &shared = team.shared();
  std::uint32_t sending = nothing;
  if constexpr (Team::scope == Scope::grid) {
    const std::uint32_t its = begun == Begun::matched   ? shared.sending
                              : begun == Begun::sending ? shared.request
                                                        : nothing;
    team.sync();
    if (its != nothing && context.peer->requests[its].header.streams)
      return send_and_receive(team, call, comm, a, buffers, its, begun == Begun::matched);
  }
  if (Team::scope == Scope::grid && begun == Begun::received) {
    sending = shared.sending;
    team.sync();
  } else if (begun != Begun::receiving && begun != Begun::matched) {
    send(team, call, comm, a.dest, a.send_tag, buffers.in, buffers.in_bytes, true,
         begun == Begun::sending);
    team.sync();
    sending = shared.request;
    team.sync();
  } else if (Team::scope != Scope::thread && begun == Begun::matched) { // (no thread's is)
    sending = shared.sending;
    team.sync();
  }
  if (Team::scope != Scope::grid || begun != Begun::received)
    receive(team, call, comm, a.source, a.recv_tag, buffers.out, buffers.out_bytes, begun);
  if (sending == nothing)
    return;
  team.sync();
  CallResult result = shared.result;
  team.sync();
  finish_request(team, call, comm, sending, a.dest, a.send_tag, nullptr);
  team.sync();
  if (team.leads())
    shared.result = result;
  team.sync();
}

/// Carries out a call of which takes() is true, from where it has come.
template <Function F, class CallerTeam>
GMPI_DEVICE CallResult communicate(const CallerTeam &caller, Site site, const Arguments &a,
                                   const Buffers &buffers, Begun begun) {
  OwnShare<CallerTeam> own;
  const auto team = in_peer(caller, own.get());
  using Team = std::remove_const_t<decltype(team)>;
  const Call call{F, Team::scope, site};
  Comm &comm = *find_comm(a.comm);
  const bool sending = begun == Begun::sending;
  if constexpr (kind_of(F) == Kind::collective) {
    constexpr bool rooted = F == Function::Bcast || F == Function::Reduce;
    constexpr bool reduces = F == Function::Reduce || F == Function::Allreduce;
    Reduction reduction = Reduction::none;
    Number datatype = Number::none;
    if constexpr (reduces) {
      reduction = reduction_of(a.op);
      datatype = look_up(a.datatype).number;
    }
    collective(team, call, comm, buffers.in, buffers.out, buffers.in_bytes, rooted ? a.root : -1,
               reduction, datatype, sending);
    return nothing_received();
  } else if constexpr (F == Function::Recv) {
    receive(team, call, comm, a.source, a.recv_tag, buffers.out, buffers.out_bytes, begun);
    return team.shared().result;
  } else if constexpr (probes(F)) {
    probe(team, call, comm, a.source, a.recv_tag);
    return team.shared().result;
  } else if constexpr (F == Function::Irecv) {
    begin_to_receive(team, comm, a.source, a.recv_tag, buffers.out, buffers.out_bytes,
                     begun == Begun::receiving, false);
    CallResult result{};
    result.request = request_for(team.shared().request);
    return result;
  } else if constexpr (F == Function::Sendrecv) {
    if (a.dest != MPI_PROC_NULL && a.source != MPI_PROC_NULL) {
      exchange_messages(team, call, comm, a, buffers, begun);
      return team.shared().result;
    }
    if (a.source != MPI_PROC_NULL) {
      receive(team, call, comm, a.source, a.recv_tag, buffers.out, buffers.out_bytes,
              Begun::nothing);
      return team.shared().result;
    }
    if (a.dest != MPI_PROC_NULL) {
      send(team, call, comm, a.dest, a.send_tag, buffers.in, buffers.in_bytes, false, false);
      finish_send(team, call, comm, a.dest, a.send_tag);
    }
    return nothing_received();
  } else {
    constexpr bool nonblocking = F == Function::Isend;
    send(team, call, comm, a.dest, a.send_tag, buffers.in, buffers.in_bytes, nonblocking, sending);
    if constexpr (F == Function::Send && Team::scope == Scope::thread)
      if (buffers.in_bytes <= slot_bytes)
        find_route_alone(comm, a.dest, a.send_datatype);
    CallResult result = nothing_received();
    std::uint32_t request = team.shared().request;
    if (!nonblocking || is_local(buffers.in)) {
      finish_send(team, call, comm, a.dest, a.send_tag);
      request = nothing;
    }
    if constexpr (nonblocking)
      result.request = request_for(request);
    return result;
  }
}

} // namespace gmpi::device::peer
