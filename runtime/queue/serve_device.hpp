// What the other blocks do for the one that makes a grid's call; and how the threads get what a
// call returns, and go on.
//
// Invariant: a result in global memory is written once, by the block that has made the call, before
// the others go on.
#pragma once

#include "../mpi/buffers.hpp"
#include "../mpi/datatypes_device.hpp"
#include "../peer/general/call_device.hpp"
#include "../peer/series/series_wait_device.hpp"
#include "alone_device.hpp"
#include "quick_device.hpp"
#include "team_device.hpp"

namespace gmpi::device {

/// Writes one of a call's results where the user wants it: to every thread's own memory, once a
/// block to shared memory, once in all to global memory.
template <class T> GMPI_DEVICE void put(T *to, const T &value, bool block_leader, bool leader) {
  if (is_local(to) || (is_shared(to) ? block_leader : leader))
    *to = value;
}

/// Gives this thread what the call returned. `leader`: the one thread that writes global memory.
template <Function F>
GMPI_DEVICE int deliver_result(const Arguments &a, const CallResult &result, bool block_leader,
                               bool leader) {
  if constexpr (kind_of(F) == Kind::nonblocking)
    put(a.new_request, result.request, block_leader, leader);
  if constexpr (tells_flag(F))
    put(a.result, int(result.flag), block_leader, leader);
  if constexpr (F == Function::Wait || F == Function::Test)
    if (result.flag)
      put(a.request, MPI_Request(MPI_REQUEST_NULL), block_leader, leader);
  if constexpr (F == Function::Waitall)
    for (int i = 0; i < a.count; ++i)
      put(a.requests + i, MPI_Request(MPI_REQUEST_NULL), block_leader, leader);
  if (wants_status(a) && result.flag)
    put(a.status, make_status(result), block_leader, leader);
  return result.error;
}

/// What a block does for the one that makes the grid's call, until that is done.
GMPI_OUT_OF_LINE void help(bool leader, void *out) {
  BlockState &block = block_state();
  BlockTeam team{leader};
  LaunchState &launch = *block.launch;
  while (block.command != GridCommand::done) {
    if (block.command == GridCommand::carry) { // a stream
      if (peer::carry_stream() != Begun::sent)
        return; // the call is over
      if (leader) {
        block.command = await_command(block);
        acquire_device();
      }
      __syncthreads();
      continue;
    }
    if (leader)
      note_task(block);
    __syncthreads();
    const GridTask::What what = block.task.what;
    if (block.command != GridCommand::copy)
      team.receive(out, block.task.offset, launch.broadcast, block.task.bytes);
    else if (what == GridTask::carry_transfers)
      peer::help_transfers(team);
    else if (what == GridTask::exchange_round)
      peer::share_round(launch.round, team);
    else if (what == GridTask::exchange_rounds)
      peer::help_long(launch.round, team);
    else if (what == GridTask::carry_spans)
      peer::help_spans();
    else
      help_copy(team);
    __syncthreads();
    if (leader)
      arrive_again(block);
    __syncthreads();
  }
}

/// Each thread's own copy of the last part that was received.
GMPI_OUT_OF_LINE void take_last_part(bool leader, void *out) {
  LaunchState &launch = *block_state().launch;
  if (launch.task.bytes != 0)
    BlockTeam{leader}.receive(out, launch.task.offset, launch.broadcast, launch.task.bytes);
}

/// The part of a block that does not make the grid's call: ends with its result in block.result,
/// all of it where the block `wants_result`, else only the error.
GMPI_DEVICE void serve(bool leader, void *out, bool wants_result) {
  BlockState &block = block_state();
  if (block.command != GridCommand::done)
    help(leader, out); // (ends with carry, too)
  if (is_local(out))
    take_last_part(leader, out);
  if (wants_result) {
    if (leader)
      block.result = block.launch->result;
    __syncthreads();
  }
}

/// Gives all threads what the call has returned, and lets them go on.
template <Function F>
GMPI_DEVICE int end_call(BlockTeam team, const Arguments &a, const CallResult &result) {
  int error = deliver_result<F>(a, result, team.leads(), team.leads());
  __syncthreads();
  return error;
}
template <Function F>
GMPI_DEVICE int end_call(GridTeam team, const Arguments &a, const CallResult &result) {
  int error = deliver_result<F>(a, result, team.leads(), team.leads());
  team.finish(result);
  return error;
}

/// The other blocks' part in a call of grid scope.
template <Function F> GMPI_DEVICE int serve_call(const BlockTeam &team, const Arguments &a) {
  constexpr bool more = kind_of(F) == Kind::nonblocking || tells_flag(F);
  const bool wants_result = more || wants_status(a);
  void *out = buffers_of(F, a, [](int, MPI_Datatype) { return std::uint64_t(0); }).out;
  if (kind_of(F) == Kind::nonblocking && block_state().command == GridCommand::answer) {
    if (team.leads())
      note_answer(block_state().result, block_state());
    __syncthreads();
  } else {
    serve(team.leads(), out, wants_result);
  }
  CallResult result = block_state().result;
  if (!wants_result)
    result.flag = 1;
  int error = deliver_result<F>(a, result, team.leads(), false);
  __syncthreads();
  return error;
}

/// Takes what has come for each thread's own memory to this thread's, `from` where all find it.
GMPI_DEVICE void take_own(void *to, const void *from, std::uint32_t bytes) {
  const auto *const words = static_cast<const std::uint64_t *>(from);
  if (bytes == 8 && is_in_eights(to)) { // as most are
    *static_cast<std::uint64_t *>(to) = words[0];
    return;
  }
  GMPI_NO_UNROLL
  for (std::uint32_t at = 0; at < bytes; at += 8)
    peer::store_data(static_cast<unsigned char *>(to) + at, bytes - at, words[at / 8]);
}

/// The rest of a call that is over: most have none.
template <Function F> GMPI_DEVICE int end_quickly(const BlockTeam &team, const Arguments &a) {
  BlockState &block = block_state();
  void *out = buffers_of(F, a, [](int, MPI_Datatype) { return std::uint64_t(0); }).out;
  if (is_local(out))
    take_own(out, block.small, static_cast<std::uint32_t>(block.peer.result.bytes));
  if (returns_something<F>(a))
    return end_call<F>(team, a, block.peer.result);
  return MPI_SUCCESS;
}

/// The same of a grid's call that another block has made: Begun::made.
template <Function F> GMPI_DEVICE int take_result(const Arguments &a) {
  const LaunchState &launch = *block_state().launch;
  void *out = buffers_of(F, a, [](int, MPI_Datatype) { return std::uint64_t(0); }).out;
  if (is_local(out))
    take_own(static_cast<unsigned char *>(out) + launch.task.offset, launch.broadcast,
             static_cast<std::uint32_t>(launch.task.bytes));
  if (!returns_something<F>(a))
    return MPI_SUCCESS;
  const int error = deliver_result<F>(a, launch.result, thread_index() == 0, false);
  __syncthreads();
  return error;
}

/// The same of a nonblocking call: its request. (It calls no function. Of a grid's call of several
/// blocks, that does not lie in global memory: returns_to_global().)
GMPI_DEVICE int give_request(MPI_Request *to, MPI_Request request) {
  const bool leader = thread_index() == 0;
  put(to, request, leader, leader);
  if (!is_local(to))
    __syncthreads();
  return MPI_SUCCESS;
}
GMPI_DEVICE int give_request(MPI_Request *to) {
  const CallResult &result = block_state().peer.result;
  const int error = result.error;
  give_request(to, result.request);
  return error;
}
/// The same of MPI_Wait and MPI_Waitall, where nothing is said of what has been received.
template <Function F> GMPI_DEVICE int give_null_requests(const Arguments &a) {
  const bool leader = thread_index() == 0;
  if constexpr (F == Function::Wait)
    put(a.request, MPI_Request(MPI_REQUEST_NULL), leader, leader);
  else
    for (int i = 0; i < a.count; ++i)
      put(a.requests + i, MPI_Request(MPI_REQUEST_NULL), leader, leader);
  __syncthreads();
  return MPI_SUCCESS;
}

} // namespace gmpi::device
