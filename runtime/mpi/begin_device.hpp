// How a call of a block or a grid begins, and how it goes on, whichever way its messages take: what
// all of the block do between the steps of its first warp.
//
// Invariant: all threads of a block find alike how far a call has come, by its barriers; those of
// other blocks, by what they are told.
#pragma once

#include "../queue/call_device.hpp"

namespace gmpi::device {

namespace quick {
/// All of a block carry what their first warp has begun.
template <Scope S> GMPI_NOINLINE Begun carry_step() { return peer::carry_last_step<S>(); }
template <Scope S, bool dense> GMPI_NOINLINE Begun write_span() {
  return peer::write_span<S, dense>();
}
template <Scope S, bool dense> GMPI_NOINLINE Begun read_span() {
  return peer::read_span<S, dense>();
}
template <Scope S> GMPI_NOINLINE Begun write_together() { return device::write_together<S>(); }
template <Scope S> GMPI_NOINLINE Begun read_together() { return device::read_together<S>(); }
template <Scope S, bool shared, bool common> GMPI_NOINLINE Begun carry_round() {
  return peer::carry_round<S, shared, common>();
}
template <Scope S, bool shared, bool common> GMPI_NOINLINE Begun carry_rounds() {
  return peer::carry_rounds<S, shared, common>();
}
template <Function F, Scope S> GMPI_DEVICE Begun carry() {
  if constexpr (kind_of(F) == Kind::collective) {
    const gmpi::peer::Round &round = block_state().peer.round;
    const bool one = !is_long(round);
    if constexpr (S == Scope::grid) {
      if (round.shared && one)
        return round.common ? carry_round<S, true, true>() : carry_round<S, true, false>();
      if (round.shared)
        return round.common ? carry_rounds<S, true, true>() : carry_rounds<S, true, false>();
    }
    if (one)
      return round.common ? carry_round<S, false, true>() : carry_round<S, false, false>();
    return round.common ? carry_rounds<S, false, true>() : carry_rounds<S, false, false>();
  } else {
    return carry_step<S>();
  }
}
} // namespace quick

/// Whether a wait may be for all that has been left to it, from kernel to kernel.
template <Function F> GMPI_DEVICE bool may_wait_for_left(const Arguments &a) {
  constexpr bool one = F == Function::Wait;
  return !returns_to_global<F>(a) && !(one && wants_status(a)) &&
         !peer::are_queued(block_state().series) &&
         (one || a.count != 0 || peer::waited_calls() != 0); // make_left() waits for nothing
}
/// Makes it, and waits for it, if that is all that this waits for, by `exchange(count, requests,
/// tells)`: see peer::exchange_left(). Returns how far it has come then; else behind.
template <Function F, class Exchange>
GMPI_DEVICE Begun exchange_left(Site site, const Arguments &a, Exchange exchange) {
  constexpr bool one = F == Function::Wait;
  if (!may_wait_for_left<F>(a))
    return Begun::behind;
  if (thread_index() == 0)
    block_state().series.waits_at = site;
  return exchange(one ? 1 : a.count, one ? a.request : a.requests,
                  !one && a.statuses != MPI_STATUSES_IGNORE);
}
/// The first warp, where it can do so by itself.
template <Function F> GMPI_DEVICE Begun exchange_short(Site site, const Arguments &a) {
  const gmpi::peer::Series &series = block_state().series;
  if (peer::are_queued(series) || !peer::may_carry_alone(series))
    return Begun::behind;
  return exchange_left<F>(site, a, [](int count, const MPI_Request *requests, bool tells) {
    return peer::exchange_short_as_warp(count, requests, tells);
  });
}
/// All of the block, from where that has come. Returns whether it is done: then nothing is left of
/// the call but its results.
template <Function F> GMPI_DEVICE bool exchange_left(Site site, const Arguments &a, Begun now) {
  return now != Begun::singly &&
         exchange_left<F>(site, a, [=](int count, const MPI_Request *requests, bool tells) {
           return peer::exchange_left(now, count, requests, tells);
         }) == Begun::answered;
}

/// Whether a wait may be for calls that have been left, and made: see
/// peer/series/series_posted_device.hpp.
template <Function F> GMPI_DEVICE bool may_wait_for_posted(const Arguments &a) {
  constexpr bool one = F == Function::Wait;
  return peer::has_made() && !returns_to_global<F>(a) && (one || a.count <= 32) &&
         !(one ? wants_status(a) : a.statuses != MPI_STATUSES_IGNORE);
}
/// Waits for them, if that is all that this waits for. Returns as exchange_left().
template <Function F> GMPI_DEVICE bool wait_for_posted(const Arguments &a) {
  constexpr bool one = F == Function::Wait;
  return peer::wait_for_posted(one ? 1 : a.count, one ? a.request : a.requests) == Begun::answered;
}

/// Has a block's first warp begin a call and await what short calls wait for, between two barriers
/// of its threads; of a grid's call, the block that makes it. Returns how far the call has come:
/// most short ones are over. `before` is done before this block is there for the others, and
/// `meanwhile` before all of these have come; `repeat`: see arrives_to_lead(). `meet`: whether they
/// have met for a call that each of them then carries.
template <Function F, Scope S, class Before, class Meet, class Repeat, class Meanwhile, class Begin>
GMPI_DEVICE Begun begin_together(Site site, const Arguments &a, Before before, Meet meet,
                                 Repeat repeat, Meanwhile meanwhile, Begin begin) {
  constexpr bool ends = S == Scope::grid && ends_series<F>;
  const std::uint32_t threads = block_threads();
  if (__syncthreads_count(1) != static_cast<int>(threads) || threads < 32)
    return Begun::unmet;
  bool leads = false;
  Begun now = Begun::over;
  do {
    if constexpr (S == Scope::grid && completes_quickly<F>)
      if (leads && (now == Begun::posted ? wait_for_posted<F>(a) : exchange_left<F>(site, a, now)))
        return Begun::answered;
    if (leads && now != Begun::posted)
      make_what_was_left(BlockTeam{thread_index() == 0}, site);
    now = Begun::over;
    if (thread_index() < 32) {
      if (!leads)
        before();
      if (!leads && meet()) {
        now = Begun::carrying;
      } else if (leads || arrives_to_lead<F, S>(a, now, repeat, meanwhile)) {
        now = Begun::unmet;
        if (ends && peer::is_behind_others())
          now = Begun::behind;
        if constexpr (S == Scope::grid && completes_quickly<F>) {
          if (now == Begun::behind)
            now = exchange_short<F>(site, a);
          else if (!leads && may_wait_for_posted<F>(a))
            now = Begun::posted;
        }
        if (now == Begun::unmet)
          now = begin();
        leads = ends;
        if (now == Begun::asked)
          now = await_answer<S>();
      }
    }
    now = tell_all(now);
    leads = ends && (now == Begun::behind || now == Begun::singly || now == Begun::posted ||
                     (completes_quickly<F> && peer::is_span(now)));
  } while (leads);
  return now;
}

using peer::is_span;
/// All of a block carry a span. Return how far the call has come then.
template <Scope S> GMPI_DEVICE Begun write_span(Begun begun) {
  begun = begun == Begun::spanning ? quick::write_span<S, false>() : quick::write_span<S, true>();
  peer::tell_of_span();
  return begun;
}
template <Scope S> GMPI_DEVICE Begun read_span(Begun begun) {
  return begun == Begun::spanning ? quick::read_span<S, false>() : quick::read_span<S, true>();
}

/// All of a block carry what all of its grid's do. Returns how far the call has come then.
GMPI_DEVICE Begun carry_wide() {
  const bool sends = !block_state().peer.span.reads && block_state().command == GridCommand::lead;
  const Begun begun = peer::carry_with_grid();
  if (sends)
    peer::tell_of_span();
  return begun;
}

/// Whether a call that receives has not come to its message yet.
GMPI_DEVICE bool is_left(Begun begun) {
  return begun == Begun::nothing || begun == Begun::found || begun == Begun::sent;
}

/// How a grid's call goes on for a block that has carried its part of what is sent in it, while
/// another makes it: when it is told of what is received, or of the end. All of the block.
template <Function F> GMPI_DEVICE Begun await_after_carrying(const Arguments &a) {
  BlockState &block = block_state();
  Begun now;
  do {
    now = Begun::over;
    if (thread_index() == 0) {
      block.command = await_command(block);
      if (is_to_acquire(block.command, block))
        acquire_device();
      now = begun_by_another<F>(block.command, block, Needs::of<F>(a));
    }
    now = tell_all(now);
    if (F == Function::Sendrecv && now == Begun::sharing)
      now = peer::carry_with_grid();
  } while (F == Function::Sendrecv && now == Begun::sent);
  return now;
}

/// Has all of a block help with the copies of a grid's call that another makes. Returns how far the
/// call has come then.
template <Function F> GMPI_DEVICE Begun help_together(const Arguments &a) {
  Begun now;
  do {
    help_copy(BlockTeam{thread_index() == 0});
    now = Begun::over;
    if (thread_index() == 0) {
      BlockState &block = block_state();
      arrive_again(block);
      now = begun_by_another<F>(block.command, block, Needs::of<F>(a));
    }
    now = tell_all(now);
  } while (now == Begun::helping);
  if (now == Begun::sharing)
    now = peer::carry_with_grid();
  return F == Function::Sendrecv && now == Begun::sent ? await_after_carrying<F>(a) : now;
}

/// Has all of a block write what goes to the proxy, once its first warp has begun, and read what
/// comes from it. Returns how far the call has come.
template <Scope S> GMPI_DEVICE Begun move_together(Begun begun) {
  while (begun == Begun::writing) {
    begun = quick::write_together<S>();
    if (begun == Begun::asked)
      begun = tell_all(thread_index() < 32 ? await_answer<S>() : Begun::over);
  }
  return begun == Begun::reading ? quick::read_together<S>() : begun;
}

/// Has all of a block do the work that its first warp has found while it waits, and the warp go on
/// waiting. Returns how far the call has come then.
template <Function F, Scope S> GMPI_DEVICE Begun work_together(Site site, const Arguments &a) {
  using Team = std::conditional_t<S == Scope::grid, GridTeam, BlockTeam>;
  const Team team{BlockTeam{thread_index() == 0}};
  const gmpi::peer::WorkKind kind = block_state().peer.work.kind;
  const auto completed = static_cast<int>(block_state().completed);
  if (kind == gmpi::peer::WorkKind::copies)
    peer::make_copies(team);
  else if (kind == gmpi::peer::WorkKind::replies)
    read_replies<S>();
  else
    peer::do_work(team);
  Begun begun = Begun::over;
  if (thread_index() < 32) {
    if (kind == gmpi::peer::WorkKind::copies)
      peer::end_copies(*context.peer);
    begun = go_on_completing<F, S>(site, a, completed);
  }
  return tell_all(begun);
}

/// How a call goes on of which nothing has happened yet, in the general way.
template <Function F> GMPI_DEVICE Begun begin_generally(const Arguments &a) {
  return context.peer != nullptr && peer::takes<F>(a) ? Begun::nothing : Begun::elsewhere;
}

/// Begins a call that no warp has begun: some of its block's threads are missing. All that are
/// there have met. Returns how far it has come.
template <Scope S, Function F>
GMPI_DEVICE Begun begin_call(const BlockTeam &team, Site site, const Arguments &a) {
  constexpr bool ends = S == Scope::grid && ends_series<F>;
  BlockState &block = block_state();
  if (team.leads()) {
    bool met = false;
    if constexpr (S == Scope::grid && kind_of(F) == Kind::collective)
      met = context.peer != nullptr && peer::meet_alone<F, S>(block, a);
    if (!met)
      block.command = S == Scope::grid ? arrive(block) : GridCommand::lead;
    block.begun = met ? Begun::carrying : begun_by_arriving<S, F>(block);
    if (block.begun == Begun::unmet)
      block.begun = begin_generally<F>(a);
    if constexpr (S == Scope::grid && kind_of(F) == Kind::collective)
      if (!met && block.command == GridCommand::await)
        block.begun = peer::await_round<F>(0, 1);
    if (S == Scope::grid && !met && block.command == GridCommand::bring) {
      note_brought(block);
      block.begun = Begun::answered;
    }
  }
  __syncthreads();
  const Begun begun = block.begun;
  if (!ends || begun != Begun::behind)
    return begun;
  make_what_was_left(team, site);
  return begin_generally<F>(a);
}

/// Goes on with a call that has come as far as `begun`, on a device that may have two ways; its
/// threads have met. What takes long is apart: `write_and_receive` of MPI_Sendrecv; `by_queue` and
/// `between_kernels`, what is left then. Of a grid's call, this block is to make it there.
template <Scope S, Function F, class WriteAndReceive, class ByQueue, class BetweenKernels>
GMPI_DEVICE int carry_out_either_way(Site site, const Arguments &a, Begun begun,
                                     WriteAndReceive write_and_receive, ByQueue by_queue,
                                     BetweenKernels between_kernels) {
  if constexpr (S == Scope::thread) {
    return peer::takes<F>(a) ? between_kernels(Begun::nothing) : by_queue(begun);
  } else {
    BlockTeam team{thread_index() == 0};
    if (begun == Begun::unmet) {
      team.leader = elect(block_state());
      begun = begin_call<S, F>(team, site, a);
      if constexpr (S == Scope::grid && kind_of(F) == Kind::collective)
        if (begun == Begun::carrying)
          begun = peer::carry_met_rounds(team);
    }
    if (S == Scope::grid && begun == Begun::led)
      return serve_call<F>(team, a);
    if constexpr (F == Function::Sendrecv)
      if (begun == Begun::exchanging)
        begun = write_and_receive();
    if (begun == Begun::over || begun == Begun::answered)
      return end_quickly<F>(team, a);
    if (begun == Begun::elsewhere || begun == Begun::numbered || begun == Begun::replied)
      return by_queue(begun);
    return between_kernels(begun);
  }
}

/// Goes on with a call between kernels: of a grid, the block that makes it.
template <Scope S, Function F>
GMPI_DEVICE int carry_on_between_kernels(Site site, const Arguments &a, Begun begun) {
  const Buffers buffers = buffers_of(F, a, message_bytes);
  if constexpr (S == Scope::thread) {
    ThreadTeam team;
    return deliver_result<F>(a, peer::communicate<F>(team, site, a, buffers, begun), true, true);
  } else {
    std::conditional_t<S == Scope::grid, GridTeam, BlockTeam> team{BlockTeam::meet()};
    CallResult result = peer::communicate<F>(team, site, a, buffers, begun);
    if (kind_of(F) == Kind::nonblocking)
      team.share(result.request, &BlockState::request);
    return end_call<F>(team, a, result);
  }
}

} // namespace gmpi::device
