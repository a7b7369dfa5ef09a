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
                      will_share(state, shared.work.index);
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

} // namespace gmpi::device::peer
