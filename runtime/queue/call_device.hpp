// One MPI call from a kernel, from the first barrier to the last: hand the data and an Attribute to
// the proxy, serve the copies it asks for, and give every thread what the call returns.
//
// A call of grid scope: all blocks arrive; the block that completes the rendezvous makes the call
// as a BlockTeam would, and the others wait in serve(), helping with large copies.
#pragma once

#include "../mpi/buffers.hpp"
#include "../mpi/datatypes_device.hpp"
#include "call_result.hpp"
#include "team_device.hpp"

namespace gmpi::device {

/// A wait for a nonblocking call's request is announced to the proxy when it lasts (nanoseconds), so
/// that a report of blocked calls can tell it from a request that nobody waits for.
constexpr unsigned long long long_wait = 1000000000;

GMPI_DEVICE Attribute make_attribute(Function function, Scope scope, Site site) {
  Attribute attribute{};
  attribute.function = function;
  attribute.scope = scope;
  attribute.site = site;
  attribute.launch = block_state().launch_index;
  return attribute;
}

/// How a call waits for its Replies.
struct Waiting {
  std::uint32_t slot;
  std::uint32_t turn; ///< of the last Reply seen; the leader's
  bool want_status;
  bool announce; ///< the wait, once it is long
};

/// Waits for the next Reply.
GMPI_OUT_OF_LINE Reply await_reply(Waiting &waiting, Scope scope, Site site) {
  Reply reply;
  unsigned long long start = nanoseconds();
  for (unsigned turns = 0;
       !try_reply(context, waiting.slot, waiting.turn, waiting.want_status, reply); ++turns) {
    if (waiting.announce && turns % 1024 == 0 && nanoseconds() - start >= long_wait) {
      Attribute announcement = make_attribute(Function::waiting, scope, site);
      announcement.slot = waiting.slot;
      post(context, announcement);
      waiting.announce = false;
    }
    relax();
  }
  ++waiting.turn;
  waiting.announce = false;
  return reply;
}

GMPI_DEVICE void say_copied(std::uint32_t slot, Scope scope) {
  fence_system();
  Attribute copied = make_attribute(Function::copied, scope, {0, 0});
  copied.slot = slot;
  post(context, copied);
}

GMPI_DEVICE CallResult result_of(const Reply &reply) {
  CallResult result{};
  result.error = reply.error;
  result.flag = 1;
  result.source = reply.source;
  result.tag = reply.tag;
  result.bytes = reply.bytes;
  return result;
}

/// Carries a call through to its last Reply. `reply` is its next one (kind none: not there yet).
template <class Team>
GMPI_NOINLINE CallResult drain(Team &team, Waiting waiting, const Buffers &buffers, Site site,
                             Reply reply = Reply{}) {
  for (;;) {
    if (reply.kind == ReplyKind::none && team.leads())
      reply = await_reply(waiting, Team::scope, site);
    team.share(reply, &BlockState::reply);
    CallResult result = result_of(reply);
    switch (reply.kind) {
    case ReplyKind::copy_in:
    case ReplyKind::copy_in_last:
      team.send(reply.address, static_cast<const unsigned char *>(buffers.in) + reply.offset,
                reply.bytes);
      break;
    case ReplyKind::copy_out:
    case ReplyKind::copy_out_last:
      team.receive(buffers.out, reply.offset, reply.address, reply.bytes);
      result.bytes = reply.message_bytes;
      break;
    case ReplyKind::done:
      if (reply.bytes != 0)
        team.receive(buffers.out, 0, context.payload + std::size_t(waiting.slot) * inline_bytes,
                     reply.bytes);
      result.bytes = reply.message_bytes;
      return result;
    case ReplyKind::answer:
      return result;
    default: // accepted
      result.flag = 0;
      return result;
    }
    if (team.leads())
      say_copied(waiting.slot, Team::scope);
    if (reply.kind == ReplyKind::copy_out_last)
      return result;
    if (reply.kind == ReplyKind::copy_in_last) {
      result.flag = 0;
      return result;
    }
    reply.kind = ReplyKind::none;
  }
}

/// What the proxy has said of a communicator's size; 0: nothing yet. From host memory: one thread asks.
GMPI_OUT_OF_LINE std::uint32_t size_told(MPI_Comm comm) {
  std::uint64_t word = load_system(context.comm_sizes + comm_hash(comm));
  return content_of(word) == content_of(to_word(comm)) ? generation_of(word) : 0;
}

/// How many ranks a message on `comm` may go to; 0: not known here. The same for all members, though
/// the host may be changing what it says.
template <class Team> GMPI_DEVICE std::uint32_t destinations(Team &team, MPI_Comm comm) {
  if (comm == context.world)
    return static_cast<std::uint32_t>(context.world_size);
  if (comm == context.self)
    return 1;
  std::uint32_t ranks = 0;
  if (team.leads())
    ranks = size_told(comm);
  team.share(ranks, &BlockState::slot);
  return ranks;
}

/// Whether MPI is known to take a send's arguments.
template <class Team> GMPI_DEVICE bool sends_in_range(Team &team, const Arguments &a) {
  return a.send_count >= 0 && a.send_tag >= 0 && a.send_tag <= context.tag_upper_bound &&
         a.dest >= 0 && static_cast<std::uint32_t>(a.dest) < destinations(team, a.comm);
}

/// The slot in which a blocking call gets its Replies. A grid-scope call has its launch's own.
template <class Team> GMPI_DEVICE std::uint32_t take_slot(Team &team, bool nonblocking) {
  if (Team::scope == Scope::grid && !nonblocking) {
    std::uint32_t own = block_state().launch_index;
    if (own < launch_slots)
      return own;
  }
  (void)team;
  return acquire_slot(context);
}

template <class Team> GMPI_DEVICE void give_slot(Team &team, std::uint32_t slot) {
  if (team.leads() && slot >= launch_slots)
    release_slot(context, slot);
}

/// Hands the call to the proxy, with the data that fits beside the Attribute. `attribute` is the
/// leader's.
template <class Team>
GMPI_DEVICE void hand_over(Team &team, const Attribute &attribute, const Buffers &buffers) {
  bool with_data = buffers.in_bytes != 0 && buffers.in_bytes <= inline_bytes;
  unsigned long long ticket = 0;
  if (team.leads())
    ticket = take_ticket(context);
  if (with_data) {
    team.share(ticket, &BlockState::ticket);
    team.send(ring_payload(context, ticket), buffers.in, buffers.in_bytes);
  }
  if (team.leads()) {
    if (with_data)
      fence_system();
    write_attribute(context, ticket, attribute);
  }
}

/// Communication: everything but the completion of requests.
template <class Team>
GMPI_NOINLINE CallResult communicate(Team &team, Function function, Site site, const Arguments &a) {
  bool nonblocking = kind_of(function) == Kind::nonblocking;
  if (goes_nowhere(function, a)) {
    CallResult result = nothing_received();
    if (nonblocking)
      result.request = null_peer_request();
    return result;
  }
  Buffers buffers = buffers_of(function, a, message_bytes);
  bool unknown = buffers.in_bytes == unknown_bytes || buffers.out_bytes == unknown_bytes;
  if (unknown) // the proxy will refuse it
    buffers.in_bytes = buffers.out_bytes = 0;
  bool inline_in = buffers.in_bytes <= inline_bytes;
  // A small standard send is done once its data lies beside its Attribute. One that MPI may refuse
  // is not: its caller gets the error.
  bool detached = function == Function::Send && inline_in && !unknown && sends_in_range(team, a);

  Waiting waiting{0, 0, a.status != nullptr && a.status != MPI_STATUS_IGNORE, false};
  CallResult result{};
  Attribute attribute{};
  if (team.leads()) {
    attribute = make_attribute(function, Team::scope, site);
    attribute.inline_in = inline_in;
    attribute.detached = detached;
    attribute.in_bytes = unknown ? unknown_bytes : buffers.in_bytes;
    attribute.arguments = a;
    if (!detached) {
      waiting.slot = take_slot(team, nonblocking);
      RequestRecord &record = context.records[waiting.slot];
      waiting.turn = record.turn;
      attribute.slot = waiting.slot;
      attribute.turn = waiting.turn;
      attribute.serial = record.serial;
      if (nonblocking) {
        record.out = buffers.out;
        result.request = encode_request({waiting.slot, context.device, record.serial});
      }
    }
  }
  hand_over(team, attribute, buffers);
  if (detached)
    return result_of(Reply{});
  if (nonblocking && inline_in) {
    team.share(result, &BlockState::result);
    return result;
  }
  team.share(waiting.slot, &BlockState::slot);
  MPI_Request request = result.request;
  result = drain(team, waiting, buffers, site);
  bool unfinished = nonblocking && result.flag == 0;
  result.request = unfinished ? request : MPI_Request(MPI_REQUEST_NULL);
  if (!unfinished)
    give_slot(team, waiting.slot);
  team.share(result, &BlockState::result);
  return result;
}

/// Waits for (or, where `wait` is false, asks about) one request; it is null afterwards if done.
template <class Team>
GMPI_NOINLINE CallResult complete(Team &team, MPI_Request request, bool wait, bool want_status,
                                Site site) {
  if (request == MPI_REQUEST_NULL) {
    CallResult result = nothing_received();
    result.source = MPI_ANY_SOURCE;
    return result;
  }
  if (request == null_peer_request())
    return nothing_received();
  // The host's own requests, and kernels' requests that are no longer any, are the proxy's to judge.
  Waiting waiting{decode_request(request).slot, 0, want_status, false};
  bool ours = is_kernel_request(request) && decode_request(request).device == context.device &&
              (context.records[waiting.slot].serial & serial_mask) == decode_request(request).serial;
  Reply reply{};
  Buffers buffers{};
  if (ours) {
    const RequestRecord &record = context.records[waiting.slot];
    buffers.out = record.out;
    waiting.turn = record.turn;
    waiting.announce = true;
    team.sync(); // all have read the record
    if (!wait && team.leads() && try_reply(context, waiting.slot, waiting.turn, want_status, reply))
      ++waiting.turn;
  } else if (team.leads()) {
    waiting.slot = acquire_slot(context);
    Attribute attribute = make_attribute(wait ? Function::Wait : Function::Test, Team::scope, site);
    attribute.slot = waiting.slot;
    attribute.turn = waiting.turn = context.records[waiting.slot].turn;
    attribute.serial = context.records[waiting.slot].serial;
    attribute.in_bytes =
        is_kernel_request(request) ? unknown_bytes : to_word(request) & content_mask;
    post(context, attribute);
  }
  team.share(waiting.slot, &BlockState::slot);
  team.share(reply, &BlockState::reply);
  CallResult result{};
  result.request = request;
  if (ours && !wait && reply.kind == ReplyKind::none)
    return result;
  result = drain(team, waiting, buffers, site, reply);
  if (result.flag == 0) // the host's request, tested: not done
    result.request = request;
  else
    result.request = MPI_REQUEST_NULL;
  team.sync();
  give_slot(team, waiting.slot);
  return result;
}

/// Waits for all; where the caller wants no statuses. A status each: the caller waits one by one.
template <class Team>
GMPI_DEVICE CallResult complete_all(Team &team, const Arguments &a, Site site) {
  CallResult result = nothing_received();
  for (int i = 0; i < a.count; ++i) {
    CallResult one = complete(team, a.requests[i], true, false, site);
    if (one.error != MPI_SUCCESS)
      result.error = one.error;
  }
  return result;
}

template <class Team>
GMPI_DEVICE CallResult perform(Team &team, Function function, Site site, const Arguments &a) {
  bool want_status = a.status != nullptr && a.status != MPI_STATUS_IGNORE;
  switch (function) {
  case Function::Wait:
    return complete(team, *a.request, true, want_status, site);
  case Function::Test:
    return complete(team, *a.request, false, want_status, site);
  case Function::Waitall:
    return complete_all(team, a, site);
  default:
    return communicate(team, function, site, a);
  }
}

/// Writes one of a call's results where the user wants it: to every thread's own memory, once a
/// block to shared memory, once in all to global memory.
template <class T>
GMPI_DEVICE void put(T *to, const T &value, bool block_leader, bool leader) {
  if (is_local(to) || (is_shared(to) ? block_leader : leader))
    *to = value;
}

/// Gives this thread what the call returned. `leader`: the one thread that writes global memory.
GMPI_OUT_OF_LINE int deliver_result(Function function, const Arguments &a, const CallResult &result,
                               bool block_leader, bool leader) {
  switch (function) {
  case Function::Isend:
  case Function::Irecv:
    put(a.new_request, result.request, block_leader, leader);
    break;
  case Function::Test:
    put(a.result, int(result.flag), block_leader, leader);
    [[fallthrough]];
  case Function::Wait:
    if (result.flag)
      put(a.request, MPI_Request(MPI_REQUEST_NULL), block_leader, leader);
    break;
  case Function::Waitall:
    for (int i = 0; i < a.count; ++i)
      put(a.requests + i, MPI_Request(MPI_REQUEST_NULL), block_leader, leader);
    break;
  default:
    break;
  }
  if (a.status != nullptr && a.status != MPI_STATUS_IGNORE && result.flag)
    put(a.status, make_status(result), block_leader, leader);
  return result.error;
}

/// The part of a block that does not make the grid's call.
GMPI_OUT_OF_LINE CallResult serve(const BlockTeam &team, const Arguments &a, Function function) {
  BlockState &block = team.block;
  LaunchState &launch = *block.launch;
  while (block.command != GridCommand::done) {
    if (block.command == GridCommand::copy)
      help_copy(team);
    else
      team.receive(buffers_of(function, a, message_bytes).out, launch.task.offset,
                   launch.broadcast, launch.task.bytes);
    __syncthreads();
    if (team.leads()) {
      fence_system();
      add_device(&launch.membership, 1);
      block.command = await_command(block);
    }
    __syncthreads();
  }
  CallResult result{};
  if (team.leads())
    result = launch.result;
  team.share(result, &BlockState::result);
  return result;
}

GMPI_OUT_OF_LINE int grid_call(Function function, Site site, Arguments a) {
  BlockTeam team(block_state());
  BlockState &block = team.block;
  if (team.leads())
    block.command = arrive(block);
  __syncthreads();
  bool leading = block.command == GridCommand::lead;
  CallResult result;
  if (leading) {
    GridTeam grid(team);
    result = perform(grid, function, site, a);
    grid.share(result, &BlockState::result);
    int error = deliver_result(function, a, result, team.leads(), team.leads());
    __syncthreads();
    grid.finish(result);
    return error;
  }
  result = serve(team, a, function);
  int error = deliver_result(function, a, result, team.leads(), false);
  __syncthreads();
  return error;
}

GMPI_OUT_OF_LINE int block_call(Function function, Site site, Arguments a) {
  BlockTeam team(block_state());
  CallResult result = perform(team, function, site, a);
  team.share(result, &BlockState::result);
  int error = deliver_result(function, a, result, team.leads(), team.leads());
  __syncthreads();
  return error;
}

GMPI_OUT_OF_LINE int thread_call(Function function, Site site, Arguments a) {
  ThreadTeam team;
  CallResult result = perform(team, function, site, a);
  return deliver_result(function, a, result, true, true);
}

} // namespace gmpi::device
