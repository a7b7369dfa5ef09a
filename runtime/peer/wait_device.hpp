// Waiting, and working meanwhile.
#pragma once

#include "shared_transfers_device.hpp"

namespace gmpi::device::peer {

/// How long a thread, or a warp, waits alone before it is to be told of. Its clock starts late:
/// most come soon.
struct Patience {
  unsigned long long start = 0;
  /// Asked in every turn.
  GMPI_DEVICE bool ends(unsigned turns) {
    if (turns % 1024 != 1023)
      return false;
    unsigned long long now = nanoseconds();
    if (start == 0)
      start = now;
    return now - start >= long_wait;
  }
};

/// Until what is waited for has come, or there is work to do for the whole team. One thread.
GMPI_OUT_OF_LINE Work await(State &state, Wait &wait) {
  GMPI_NO_UNROLL
  for (unsigned turns = 0;; ++turns) {
    const Glance seen(state, wait.request);
    if (has_come(state, wait, seen)) {
      if (wait.told != nothing)
        tell_end(state, wait);
      return {WorkKind::over, 0};
    }
    Work work = look_for_work(state, wait.request, seen);
    if (work.kind != WorkKind::none)
      return work;
    tell_if_long(state, wait, turns);
    relax();
  }
}

/// The team waits for what the leader has put into shared().wait, and works meanwhile.
template <class Team> GMPI_NOINLINE void wait_for(Team team) {
  State &state = *context.peer;
  Share &shared = team.shared();
  if (team.leads()) {
    shared.wait.since = nanoseconds();
    shared.wait.told = nothing;
  }
  for (;;) {
    if (team.leads()) {
      shared.work = await(state, shared.wait);
      shared.shares = Team::scope == Scope::grid && shared.work.kind == WorkKind::carry_on &&
                      can_share(state.requests[shared.work.index]);
    }
    team.sync();
    bool over = shared.work.kind == WorkKind::over, shares = shared.shares;
    team.sync();
    if (over)
      return;
    if constexpr (Team::scope == Scope::grid) {
      if (shares) {
        share_transfers(team);
        continue;
      }
    }
    do_work(team);
  }
}

/// Reads a short message that has come for a request, which is held, or one that is to be kept. A
/// warp, whole. False where the request takes something else: it is held still.
GMPI_OUT_OF_LINE bool do_work_as_warp(State &state, const Work &work) {
  const std::uint32_t lane = lane_index();
  if (work.kind == WorkKind::carry_on)
    return carries_on_as_warp(state, work.index);
  const Kept &kept = state.kept[work.index];
  const Channel &channel = state.channels[kept.channel];
  const Transfer t{channel.in,        channel.in_freed, kept.first, kept_memory(state, work.index),
                   kept.header.bytes, kept.header};
  const unsigned long long slots = slots_of(t.header);
  read_share(t, 0, slots, lane, 32);
  __syncwarp();
  free_share(t.freed, t.first, t.first + slots, lane, 32);
  __syncwarp();
  if (lane == 0)
    end_keeping(state, work.index);
  return true;
}

/// What the first warp of a block leaves to all of it, shared.work, which it cannot do alone.
/// Returns working; or elsewhere where it is for all blocks: then it is done the general way.
template <Scope S> GMPI_DEVICE Begun leave_to_all(State &state, const Work &work, Share &share) {
  bool shares = false;
  if (lane_index() == 0) {
    Request &request = state.requests[work.index];
    shares = S == Scope::grid && can_share(request);
    if (shares)
      let_go(request);
    share.work = work;
  }
  return __any_sync(0xffffffffu, shares) ? Begun::elsewhere : Begun::working;
}

/// Waits for a request, and works meanwhile. A warp, whole. Returns over; working, where all of the
/// block are to do shared.work before it waits on; or elsewhere, where the general way is to go on.
template <Scope S>
GMPI_NOINLINE Begun wait_as_warp(State &state, std::uint32_t index, Share &share) {
  Patience patience;
  GMPI_NO_UNROLL
  for (unsigned turns = 0;; ++turns) {
    if (is_done_as_warp(state, index))
      return Begun::over;
    Work work{};
    if (lane_index() == 0) {
      work = look_for_work(state, index, Glance(state, index));
      if (work.kind == WorkKind::none && patience.ends(turns))
        work.kind = WorkKind::over;
    }
    work.kind =
        static_cast<WorkKind>(__shfl_sync(0xffffffffu, static_cast<std::uint32_t>(work.kind), 0));
    work.index = __shfl_sync(0xffffffffu, work.index, 0);
    if (work.kind == WorkKind::over)
      return Begun::elsewhere;
    if (work.kind != WorkKind::none && !do_work_as_warp(state, work))
      return leave_to_all<S>(state, work, share);
    relax();
  }
}

} // namespace gmpi::device::peer
