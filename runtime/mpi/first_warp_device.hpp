// What the first warp of a block, whole, does for a call whichever way its messages go: of a grid's
// call, it arrives and, where it makes the call, tells the other blocks of its end.
#pragma once

#include "../launch/participant_device.hpp"
#include "../queue/call_result.hpp"
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

/// How a call of scope S ends while its warp is still at it. Lane 0 calls these. `shows`: what this
/// block has stored for it is to be seen by the others.
template <Scope S> GMPI_DEVICE void prepare_end(bool shows = true) {
  BlockState &block = block_state();
  if constexpr (S == Scope::grid)
    prepare_command(block, arrivals(block), shows);
}
template <Scope S> GMPI_DEVICE void tell_end_of_call() {
  if constexpr (S == Scope::grid)
    give_command(block_state(), GridCommand::done);
}

/// The same of a nonblocking call, which returns that request: a grid's may end so before it has
/// been carried out. For what the others do then, its place in the order of calls has been taken;
/// and they make no other call of the grid's before this block has come there.
template <Scope S> GMPI_DEVICE void end_with_request(MPI_Request request) {
  prepare_end<S>(false);
  if constexpr (S == Scope::grid)
    give_command(block_state(), GridCommand::answer,
                 static_cast<std::int32_t>(number_of_request(request)));
}

/// The request slots that calls of scope S keep.
template <Scope S> GMPI_DEVICE SlotReserve &reserve_of() {
  BlockState &block = block_state();
  return S == Scope::grid && grid_blocks() > 1 ? block.launch->reserve : block.reserve;
}

/// Whether every thread is given something else than the call's error by it.
template <Function F> GMPI_DEVICE bool returns_something(const Arguments &a) {
  return kind_of(F) == Kind::nonblocking || kind_of(F) == Kind::completion || tells_flag(F) ||
         wants_status(a);
}

/// Whether a grid's call returns something into global memory. The block that makes the call writes
/// that, and the others find it there: so not where they are told before that the call is over.
template <Function F> GMPI_DEVICE bool returns_to_global(const Arguments &a) {
  const auto is_global = [](const void *to) { return !is_local(to) && !is_shared(to); };
  if (grid_blocks() == 1)
    return false;
  return (kind_of(F) == Kind::nonblocking && is_global(a.new_request)) ||
         (tells_flag(F) && is_global(a.result)) ||
         ((F == Function::Wait || F == Function::Test) && is_global(a.request)) ||
         (F == Function::Waitall && is_global(a.requests)) ||
         (wants_status(a) && is_global(a.status));
}

/// What a block needs of a grid's call that another block makes for it.
struct Needs {
  static constexpr std::uint32_t result = 1, ///< that the call returns, besides its error
      own = 2,                               ///< what is received, in each thread's own memory
      global = 4,                            ///< results in global memory: returns_to_global()
      status = 8;                            ///< of them, a status
  std::uint32_t bits;

  template <Function F> GMPI_DEVICE static Needs of(const Arguments &a) {
    void *out = buffers_of(F, a, [](int, MPI_Datatype) { return std::uint64_t(0); }).out;
    return {(returns_something<F>(a) ? result : 0) | (out != nullptr && is_local(out) ? own : 0) |
            (returns_to_global<F>(a) ? global : 0) | (wants_status(a) ? status : 0)};
  }
  GMPI_DEVICE bool end_alone() const { return bits == 0; }
};

/// What a nonblocking call returns that another block has made, and has answered so.
GMPI_DEVICE void note_answer(CallResult &result, const BlockState &block) {
  const auto number = static_cast<std::uint32_t>(block.result.error);
  result = nothing_received();
  result.request = request_of_number(number);
}

/// The same of what has come with the end of a call, and is in the block's memory.
GMPI_DEVICE void note_brought(BlockState &block) {
  block.peer.result.bytes = static_cast<std::uint32_t>(block.result.error);
  block.result.error = MPI_SUCCESS;
}

/// Whether something has been written for a block that is given that command. (What it is to read
/// of a channel, packets show.)
GMPI_DEVICE bool is_to_acquire(GridCommand command, const BlockState &block) {
  return command != GridCommand::answer &&
         !(command == GridCommand::carry && block.peer.span.reads);
}

/// How far a grid's call has come for a block that another makes it for. Lane 0, which has
/// acquired what there is; the same for all of the warp.
template <Function F>
GMPI_DEVICE Begun begun_by_another(GridCommand command, BlockState &block, Needs needs) {
  const bool is_done = command == GridCommand::done && block.result.error == MPI_SUCCESS;
  if (is_done && needs.end_alone())
    return Begun::over;
  if (kind_of(F) == Kind::nonblocking && command == GridCommand::answer) {
    note_answer(block.peer.result, block);
    return Begun::answered;
  }
  if (kind_of(F) == Kind::completion && !tells_flag(F) && is_done &&
      (needs.bits & (Needs::global | Needs::status)) == 0)
    return Begun::answered;
  if (command == GridCommand::bring) {
    note_brought(block);
    return Begun::answered;
  }
  if (command == GridCommand::carry)
    return Begun::sharing;
  if (command != GridCommand::copy)
    // (All the rest of a call that has been made lies in the launch's state: what has come for each
    // thread's own memory, and what the call returns.)
    return (kind_of(F) == Kind::blocking || kind_of(F) == Kind::collective) && is_done &&
                   (needs.bits & Needs::global) == 0
               ? Begun::made
               : Begun::led;
  note_task(block);
  return block.task.copies() ? Begun::helping : Begun::led;
}

/// Whether the block that makes a grid's call makes those first that have been left to it
/// (../peer/series/series_device.hpp).
template <Function F>
constexpr bool ends_series =
    F == Function::Isend || F == Function::Irecv || F == Function::Wait || F == Function::Waitall;

/// The rest of a block's arrival where the next command is not only to go on: what that is, or
/// those that come. Returns how far the call has come then; unmet, where it is to go on with it.
/// `seen`: see await_command(). Lane 0.
template <Function F>
GMPI_NOINLINE Begun await_command_for(std::uint32_t needs, std::uint64_t seen) {
  BlockState &block = block_state();
  const bool brings = kind_of(F) == Kind::blocking && (needs & Needs::own) != 0;
  const GridCommand command = await_others(block, brings, seen);
  if (command == GridCommand::lead)
    return Begun::unmet;
  if constexpr (ends_series<F>)
    block.series.end(); // who makes the call has made those
  if (is_to_acquire(command, block))
    acquire_device();
  if (kind_of(F) == Kind::collective && command == GridCommand::await)
    return Begun::unmet;
  return begun_by_another<F>(command, block, {needs});
}

/// Arrives at a grid's call, for the block. Returns whether the block is to make it, or to wait for
/// its round; else `begun` says how far it has come. `repeat` arrives at a collective call, and may
/// carry it out. `meanwhile` needs nothing of the other blocks. (What most calls do of this is part
/// of the kernel, and short: where functions are called, their registers are saved, and a fence
/// waits for that; and a call waits for all that is in flight.)
template <Function F, Scope S, class Repeat, class Meanwhile>
GMPI_DEVICE bool arrives_to_lead(const Arguments &a, Begun &begun, Repeat repeat,
                                 Meanwhile meanwhile) {
  if constexpr (S != Scope::grid) {
    meanwhile();
    return true;
  } else {
    BlockState &block = block_state();
    unsigned long long arrived = 0;
    if constexpr (kind_of(F) == Kind::collective) {
      begun = repeat();
      if (thread_index() == 0) {
        if (begun == Begun::unmet)
          arrived = block.arrived;
        else if (block.command != GridCommand::lead)
          acquire_device();
      }
      if (begun != Begun::unmet)
        return false;
    } else if (thread_index() == 0) {
      arrived = begin_to_arrive(block);
    }
    meanwhile();
    auto now = Begun::unmet; // it goes on
    if (thread_index() == 0) {
      // What most calls do comes first, and the rest is a function: the way is short.
      if (is_last(arrived)) {
        lead(block, arrived + 1);
      } else {
        const Needs needs = Needs::of<F>(a);
        std::uint64_t seen = unseen_command(block);
        if (needs.end_alone() && await_end(block, seen)) {
          acquire_device();
          now = Begun::over;
        } else {
          now = await_command_for<F>(needs.bits, seen);
        }
      }
    }
    now = static_cast<Begun>(of_lane(static_cast<std::uint32_t>(now), 0));
    __syncwarp(); // what lane 0 has noted is there for all
    if (now == Begun::unmet)
      return true;
    begun = now;
    return false;
  }
}

} // namespace gmpi::device
