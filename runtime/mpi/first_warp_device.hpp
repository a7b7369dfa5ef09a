// What the first warp of a block, whole, does for a call whichever way its messages go: of a grid's
// call, it arrives and, where it makes the call, tells the other blocks of its end.
#pragma once

#include "../launch/participant_device.hpp"
#include "buffers.hpp"

namespace gmpi::device {

constexpr unsigned whole_warp = 0xffffffffu;

/// The same value in every lane of a warp that lane `from` has.
template <class T> GMPI_DEVICE T of_lane(T value, std::uint32_t from) {
  return __shfl_sync(whole_warp, value, static_cast<int>(from));
}

/// Tells all of a block, behind its barrier, how far its first warp has come `now`.
GMPI_DEVICE Begun tell_all(Begun now) {
  // The barrier itself tells most: what lies in shared memory takes its time.
  if (now != Begun::over && thread_index() == 0)
    block_state().begun = now;
  return __syncthreads_or(now != Begun::over) ? block_state().begun : Begun::over;
}

/// How a call of scope S ends while its warp is still at it. Lane 0 calls these.
template <Scope S> GMPI_DEVICE void prepare_end() {
  BlockState &block = block_state();
  if constexpr (S == Scope::grid)
    prepare_command(block, block.living_blocks - !block.first_round);
}
template <Scope S> GMPI_DEVICE void tell_end_of_call() {
  if constexpr (S == Scope::grid)
    give_command(block_state(), GridCommand::done);
}

/// Whether every thread is given something else than the call's error by it.
template <Function F> GMPI_DEVICE bool returns_something(const Arguments &a) {
  return kind_of(F) == Kind::nonblocking || kind_of(F) == Kind::completion || tells_flag(F) ||
         wants_status(a);
}

/// Whether a block that another has made the grid's call for needs no more of it.
template <Function F> GMPI_DEVICE bool has_all(const BlockState &block, const Arguments &a) {
  void *out = buffers_of(F, a, [](int, MPI_Datatype) { return std::uint64_t(0); }).out;
  return block.command == GridCommand::done && block.result.error == MPI_SUCCESS &&
         !returns_something<F>(a) && !is_local(out);
}

/// How far a grid's call has come for a block that another makes it for, as block.command says;
/// lane 0 has acquired.
template <Function F> GMPI_DEVICE Begun begun_by_another(BlockState &block, const Arguments &a) {
  if (has_all<F>(block, a))
    return Begun::over;
  if (block.command != GridCommand::copy)
    return Begun::led;
  if (lane_index() == 0)
    note_task(block);
  __syncwarp();
  return block.task.what == GridTask::copy ? Begun::helping : Begun::led;
}

/// Of a grid's call, whether this block is to make it; else `begun` says how far it has come.
template <Function F, Scope S> GMPI_DEVICE bool arrives_to_lead(const Arguments &a, Begun &begun) {
  if (S != Scope::grid || grid_blocks() == 1)
    return true;
  BlockState &block = block_state();
  if (thread_index() == 0) {
    block.command = have_arrived(block, begin_to_arrive(block));
    if (block.command == GridCommand::copy)
      acquire_device();
  }
  __syncwarp();
  if (block.command == GridCommand::lead)
    return true;
  begun = begun_by_another<F>(block, a);
  return false;
}

/// What is left of arriving where a grid's only block makes its call.
template <Scope S> GMPI_DEVICE void arrive_alone() {
  if (S == Scope::grid && grid_blocks() == 1 && thread_index() == 0)
    block_state().command = arrive(block_state());
}

} // namespace gmpi::device
