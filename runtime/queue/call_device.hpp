// The general way of an MPI call by way of the proxy: hand the data and an Attribute over, serve
// the copies that are asked for, and give every thread what the call returns. Threads alone go it
// from the beginning, and blocks some of whose threads have left; others from where
// quick_device.hpp leaves a call.
//
// A call of grid scope: all blocks arrive; the block that completes the rendezvous makes the call
// as a BlockTeam would, and the others wait in serve(), helping with large copies.
//
// The function is known where a call is compiled, and there is one piece of code for each function
// and scope that a program uses (../mpi/calls_device.hpp). What they share is out of line and takes
// few values: structs that go from function to function go by way of memory.
#pragma once

#include "left_device.hpp"
#include "serve_device.hpp"

namespace gmpi::device {

/// How many ranks a message on `comm` may go to; 0: not known here. The same for all members,
/// though the host may be changing what it says.
template <class Team> GMPI_DEVICE std::uint32_t destinations(Team &team, MPI_Comm comm) {
  std::uint32_t ranks = known_size(comm, 0);
  if (ranks == 0) {
    if (team.leads())
      ranks = known_size_alone(comm);
    if (team.leads() && ranks == 0)
      ranks = ask_size(comm);
    team.share(ranks, &BlockState::size);
  }
  return ranks;
}

/// Puts data beside Attribute `ticket` that is too long for words with a generation.
template <class Team>
GMPI_NOINLINE void send_beside(Team team, unsigned long long ticket, const void *from,
                               std::uint64_t bytes) {
  team.share(ticket, &BlockState::ticket);
  team.send(ring_payload(context, ticket), from, bytes);
  if (team.leads())
    release_system();
}

/// Whether data goes beside an Attribute in words with its generation.
template <class Team> GMPI_DEVICE bool is_tagged(std::uint64_t bytes) {
  return bytes <= (Team::scope == Scope::thread ? tagged_bytes_alone : tagged_bytes);
}

/// Hands the call to the proxy, with the data that fits beside the Attribute. The leader has packed
/// that, and asked for the ticket.
template <class Team>
GMPI_DEVICE void hand_over(Team &team, const Buffers &buffers, NextTicket next) {
  unsigned long long ticket = 0;
  if (team.leads())
    ticket = await_room(context, next);
  if (buffers.in_bytes != 0 && buffers.in_bytes <= inline_bytes) {
    if (is_tagged<Team>(buffers.in_bytes))
      team.write_data(ticket, buffers.in, static_cast<std::uint32_t>(buffers.in_bytes));
    else
      send_beside(team, ticket, buffers.in, buffers.in_bytes);
  }
  team.write_attribute(ticket);
}

/// Whether a message may go to the rank that sends it. The same for all members, though the host
/// may be changing what it says.
template <class Team> GMPI_DEVICE bool may_go_to_itself(Team &team, MPI_Comm comm, int dest) {
  if (comm == context.world || comm == context.self)
    return dest == (comm == context.world ? context.world_rank : 0);
  std::uint32_t may = 0;
  if (team.leads())
    may = may_be_own_rank(comm, dest);
  team.share(may, &BlockState::size);
  return may != 0;
}

/// Communication: everything but the completion of requests.
/// The leader has packed the call itself (pack_call). `numbered`: block.ticket is its Attribute's.
template <Function F, class Team>
GMPI_DEVICE CallResult communicate(Team &team, Site site, const Arguments &a, Buffers buffers,
                                   bool numbered = false) {
  constexpr bool nonblocking = kind_of(F) == Kind::nonblocking;
  if (goes_nowhere(F, a))
    return with_nobody<F>();
  bool unknown = buffers.in_bytes == unknown_bytes || buffers.out_bytes == unknown_bytes;
  if (unknown) // the proxy will refuse it
    buffers.in_bytes = buffers.out_bytes = 0;
  bool inline_in = buffers.in_bytes <= inline_bytes;
  bool direct_in = is_direct<F>(buffers.in, buffers.in_bytes);
  if constexpr (kind_of(F) != Kind::collective)
    if (direct_in && !context.own_direct)
      direct_in = !may_go_to_itself(team, a.comm, a.dest);
  // A small standard send is done once its data lies beside its Attribute. One that MPI may refuse
  // is not: its caller gets the error.
  bool detached =
      F == Function::Send && inline_in && !unknown && sends_in_range(a, destinations(team, a.comm));

  Waiting waiting{};
  waiting.want_status = wants_status(a);
  waiting.expected = expected_beside(buffers.out, buffers.out_bytes);
  waiting.site = site;
  MPI_Request request = MPI_REQUEST_NULL;
  NextTicket next{};
  if (team.leads()) {
    if (!detached)
      waiting.slot = take_slot<Team::scope>(nonblocking);
    if (numbered)
      next = {block_state().ticket, block_state().ticket};
    else
      next = next_ticket(context);
    Attribute attribute = make_attribute(F, Team::scope, site);
    attribute.inline_in = inline_in;
    attribute.tagged = buffers.in_bytes != 0 && is_tagged<Team>(buffers.in_bytes);
    attribute.detached = detached;
    attribute.in_bytes = unknown ? unknown_bytes : buffers.in_bytes;
    attribute.beside = Team::scope == Scope::thread ? 0 : most_beside(buffers.out);
    attribute.direct_in = direct_in;
    attribute.direct_out = is_direct<F>(buffers.out, buffers.out_bytes);
    if (direct_in || attribute.direct_out)
      release_system(); // MPI finds what these threads have stored, and stores after them
    if (!detached) {
      waiting.turn = use_slot(attribute, waiting.slot);
      if (nonblocking) {
        RequestRecord &record = context.records[waiting.slot];
        record.out = buffers.out;
        record.expected = waiting.expected;
        request = encode_request({waiting.slot, context.device, record.serial});
      }
    }
    pack_head(attribute, team.contents());
  }
  hand_over(team, buffers, next);
  if (detached)
    return result_of(Reply{});
  CallResult result = result_of(Reply{});
  if (!nonblocking || !(inline_in || direct_in)) {
    if constexpr (Team::scope == Scope::thread)
      let_pass(before_first_look);
    result = drain(team, waiting, buffers.in, buffers.out);
    if (!nonblocking || result.flag != 0) {
      if (team.leads())
        give_slot<Team::scope>(waiting.slot);
      request = MPI_REQUEST_NULL;
    }
  }
  if (nonblocking) {
    result.request = request;
    team.share(result.request, &BlockState::request);
  }
  return result;
}

/// What is left of a call whose first Reply a block's first warp has found.
template <class Team> GMPI_DEVICE CallResult end_replied(Team &team, const Buffers &buffers) {
  CallResult result = drain_rest(team, buffers.in, buffers.out, true);
  if (team.leads())
    give_slot<Team::scope>(block_state().waiting.slot);
  return result;
}

/// The same of complete() for a request whose message goes from kernel to kernel. `function`: Wait
/// or Test, or Send or Recv, where the request is a left one's.
template <class CallerTeam>
GMPI_DEVICE CallResult complete_peer(const CallerTeam &caller, std::uint32_t index,
                                     MPI_Request request, Function function, Site site) {
  peer::OwnShare<CallerTeam> own;
  const auto team = peer::in_peer(caller, own.get());
  using Team = std::remove_const_t<decltype(team)>;
  peer::complete(team, peer::Call{function, Team::scope, site}, index);
  CallResult result = team.shared().result;
  if (result.flag == 0)
    result.request = request;
  return result;
}

/// What is left of a wait for a request of this device's; its first Reply is there.
template <class Team> GMPI_NOINLINE CallResult complete_replied(Team team) {
  const std::uint32_t slot = block_state().waiting.slot;
  void *out = context.records[slot].out;
  CallResult result = drain_rest(team, nullptr, out, true);
  team.sync();
  if (team.leads())
    give_slot<Team::scope>(slot);
  result.request = MPI_REQUEST_NULL;
  return result;
}

/// Waits for (or, where `wait` is false, asks about) one request; it is null afterwards if done.
template <class Team>
GMPI_NOINLINE CallResult complete(Team team, MPI_Request request, bool wait, bool want_status,
                                  Site site) {
  if (request == MPI_REQUEST_NULL) {
    CallResult result = nothing_received();
    result.source = MPI_ANY_SOURCE;
    return result;
  }
  if (request == null_peer_request())
    return nothing_received();
  // The host's own requests, and kernels' requests that are no longer any, are the proxy's to
  // judge.
  Waiting waiting{};
  waiting.slot = decode_request(request).slot;
  waiting.want_status = want_status;
  waiting.announce = true;
  waiting.site = site;
  const std::uint32_t device = is_kernel_request(request) ? decode_request(request).device : 0;
  bool ours =
      is_kernel_request(request) && (device == context.device || device == peer_device) &&
      (context.records[waiting.slot].serial & serial_mask) == decode_request(request).serial;
  if (ours && device == peer_device)
    return complete_peer(team, waiting.slot, request, wait ? Function::Wait : Function::Test, site);
  void *out = nullptr;
  if (ours) {
    const RequestRecord &record = context.records[waiting.slot];
    out = record.out;
    waiting.expected = record.expected;
    waiting.turn = record.turn;
    team.sync(); // all have read the record
    if (!wait && !team.replied(waiting)) {
      CallResult result{};
      result.request = request;
      return result;
    }
  } else if (team.leads()) {
    waiting.slot = acquire_slot(context);
    waiting.announce = false;
    Attribute attribute = make_attribute(wait ? Function::Wait : Function::Test, Team::scope, site);
    waiting.turn = use_slot(attribute, waiting.slot);
    attribute.in_bytes =
        is_kernel_request(request) ? unknown_bytes : to_word(request) & content_mask;
    post(context, attribute);
  }
  CallResult result = drain(team, waiting, nullptr, out);
  result.request = result.flag == 0 ? request : MPI_REQUEST_NULL; // 0: the host's, tested
  team.sync();
  if (team.leads())
    release_slot(context, waiting.slot);
  return result;
}

/// See its declaration.
template <class PeerTeam>
GMPI_NOINLINE int peer::refuse(PeerTeam peer_team, Call call, MPI_Comm comm, std::uint64_t why) {
  auto team = peer::in_queue(peer_team);
  using Team = decltype(team);
  Waiting waiting{};
  waiting.site = call.site;
  if (team.leads()) {
    Attribute attribute = make_attribute(call.function, Team::scope, call.site);
    attribute.in_bytes = why;
    waiting.slot = acquire_slot(context);
    waiting.turn = use_slot(attribute, waiting.slot);
    attribute.arguments.comm = comm;
    post(context, attribute);
  }
  CallResult result = drain(team, waiting, nullptr, nullptr);
  team.sync();
  if (team.leads())
    release_slot(context, waiting.slot);
  return result.error;
}

/// Waits for all from number `i` on, where the caller wants no statuses. A status each: the caller
/// waits one by one. `error`: of those before.
template <class Team>
GMPI_NOINLINE CallResult complete_all(Team team, int i, int count, const MPI_Request *requests,
                                      int error, Site site) {
  CallResult result = nothing_received();
  result.error = error;
  for (; i < count; ++i) {
    CallResult one = complete(team, requests[i], true, false, site);
    if (one.error != MPI_SUCCESS)
      result.error = one.error;
  }
  return result;
}

/// From where the call has come.
template <Function F, class Team>
GMPI_DEVICE CallResult perform(Team &team, Site site, const Arguments &a, const Buffers &buffers,
                               Begun begun) {
  bool want_status = wants_status(a);
  if constexpr (F == Function::Waitall) {
    int first = 0, error = MPI_SUCCESS;
    if constexpr (Team::scope != Scope::thread) {
      if (begun != Begun::unmet)
        first = static_cast<int>(block_state().completed);
      if (begun == Begun::replied) {
        error = complete_replied(team).error;
        ++first;
      }
    }
    return complete_all(team, first, a.count, a.requests, error, site);
  } else if constexpr (F == Function::Wait || F == Function::Test) {
    if constexpr (Team::scope != Scope::thread)
      if (begun == Begun::replied)
        return complete_replied(team);
    return complete(team, *a.request, F == Function::Wait, want_status, site);
  } else {
    if constexpr (Team::scope != Scope::thread && kind_of(F) != Kind::nonblocking)
      if (begun == Begun::replied)
        return end_replied(team, buffers);
    return communicate<F>(team, site, a, buffers, begun == Begun::numbered);
  }
}

/// What is left of a thread's call that has been asked.
template <Function F> GMPI_DEVICE int end_alone(Site site, const Arguments &a, const Alone &alone) {
  const Buffers buffers =
      buffers_of(F, a, [](int, MPI_Datatype) { return std::uint64_t(0); }); // where they are
  const Waiting waiting{alone.slot, alone.turn, 0, wants_status(a), false, site, nullptr, nullptr};
  const CallResult result = drain_alone(waiting, alone.head, buffers.in, buffers.out);
  give_slot<Scope::thread>(alone.slot);
  return deliver_result<F>(a, result, true, true);
}

/// How far a grid's call has come for a block that has arrived, block.command: led, where another
/// makes it, and what has been left to it; behind, where this one makes that first; or unmet. One
/// thread.
template <Scope S, Function F> GMPI_DEVICE Begun begun_by_arriving(BlockState &block) {
  constexpr bool ends = S == Scope::grid && ends_series<F>;
  if (block.command == GridCommand::lead)
    return ends && peer::is_behind_others() ? Begun::behind : Begun::unmet;
  if (ends)
    block.series.end();
  return Begun::led;
}

/// Makes the calls that have been left, for all blocks, and waits for those whose wait has been
/// left. All of the block that makes the next one.
template <class = void> GMPI_NOINLINE void make_what_was_left(BlockTeam team, Site site) {
  const gmpi::peer::Series &series = block_state().series;
  if (peer::are_queued(series))
    return hand_over_left(team);
  const std::uint32_t waited = peer::waited_calls();
  peer::make_series(team);
  GridTeam grid{team};
  GMPI_NO_UNROLL
  for (std::uint32_t those = waited; those != 0; those &= those - 1) {
    const std::uint32_t place = __ffs(static_cast<int>(those)) - 1;
    const gmpi::peer::LeftCall &call = series.call[place];
    const Site own = series.site[place];
    const bool waits_itself = own.line != 0;
    const Function function = !waits_itself ? Function::Wait
                              : call.sends  ? Function::Send
                                            : Function::Recv;
    const std::uint32_t slot = call.slot;
    team.sync(); // all have read it
    complete_peer(grid, slot, {}, function, waits_itself ? own : site);
    team.sync();
  }
}

/// Carries a call out for the threads of scope S, by way of the proxy, from where it has come.
template <Scope S, Function F>
GMPI_DEVICE int carry_out(Site site, const Arguments &a, Begun begun) {
  // What is needed of the arguments is taken out of them early: they are many registers.
  constexpr bool communicates = kind_of(F) != Kind::completion;
  Buffers buffers{};
  if constexpr (S == Scope::thread) {
    ThreadTeam team;
    if constexpr (communicates) {
      pack_call(F, site, a, team.contents());
      buffers = buffers_of(F, a, message_bytes);
    }
    return deliver_result<F>(a, perform<F>(team, site, a, buffers, begun), true, true);
  } else {
    if (begun == Begun::answered)
      return end_quickly<F>(BlockTeam{thread_index() == 0}, a);
    if (begun == Begun::led || begun == Begun::helping)
      return serve_call<F>(BlockTeam{thread_index() == 0}, a);
    BlockTeam team = BlockTeam::meet();
    BlockState &block = block_state();
    if constexpr (communicates) {
      if (team.leads())
        pack_call(F, site, a, BlockTeam::contents());
      buffers = buffers_of(F, a, message_bytes);
    }
    if constexpr (S == Scope::block)
      return end_call<F>(team, a, perform<F>(team, site, a, buffers, begun));
    if (begun == Begun::unmet) {
      if (team.leads()) {
        block.command = arrive(block);
        block.begun = begun_by_arriving<S, F>(block);
      }
      __syncthreads();
      begun = block.begun;
      if (begun == Begun::led)
        return serve_call<F>(team, a);
      if (ends_series<F> && begun == Begun::behind)
        make_what_was_left(team, site);
      begun = Begun::unmet;
    }
    GridTeam grid{team};
    return end_call<F>(grid, a, perform<F>(grid, site, a, buffers, begun));
  }
}

} // namespace gmpi::device
