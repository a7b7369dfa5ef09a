// Probing: telling of a message without taking it.
//
// Invariant: what a probe tells of is what the same receive would get next. So no posted receive
// matches it, and it is the first such message that has been kept or, where no place was left for
// it, the next of its channel. It stays there; its sender hears nothing.
#pragma once

#include "../general/receive_device.hpp"

namespace gmpi::device::peer {

/// What a probe asks for.
struct Sought {
  const Comm &comm;
  Wanted wanted;

  GMPI_DEVICE bool matches(const Header &header, std::uint32_t channel) const {
    return header.kind != MessageKind::data && wanted.is(header, peer_of_channel(channel));
  }
  /// What the call returns that has found such a message.
  GMPI_DEVICE void note(const Header &header, std::uint32_t channel, Share &shared) const {
    note_message(shared, comm.rank_of[peer_of_channel(channel)], header, header.tag, header.bytes);
  }
};

/// Looks among the kept messages, under the lock.
GMPI_OUT_OF_LINE bool find_kept(State &state, const Sought &sought, Share &shared) {
  const std::uint32_t found = find_kept(state, sought.wanted).index;
  if (found != nothing)
    sought.note(state.kept[found].header, state.kept[found].channel, shared);
  return found != nothing;
}

/// Whether a posted receive is waiting for the message, under the lock.
GMPI_DEVICE bool is_awaited(State &state, const Header &header, std::uint32_t channel) {
  return find_posted(state, header, peer_of_channel(channel)).index != nothing;
}

/// Looks at what is next in the channels, under the lock: where places are left it has been kept,
/// or its channel is somebody's who takes it, or has just come and is looked at in the next turn.
GMPI_OUT_OF_LINE bool find_left(State &state, const Sought &sought, Share &shared) {
  if (state.free_small != nothing && state.free_large != nothing)
    return false;
  bool found = false;
  GMPI_NO_UNROLL
  for (std::uint32_t peer = 0; !found && peer < state.peers; ++peer) {
    const unsigned long long word = load_relaxed_device(&state.receiving[peer].next);
    if (!may_have_messages(state, peer, word) || !try_lock_channels(state, peer, word))
      continue;
    const Position at = position_of(state, peer, word);
    Header header;
    const std::uint32_t channel = find_next(state, peer, at, header);
    found = channel != max_channels && sought.matches(header, channel) &&
            !is_awaited(state, header, channel);
    if (found)
      sought.note(header, channel, shared);
    let_channels_go(state, peer, at);
  }
  return found;
}

/// One look for a message, whose result is left in `shared`. Work of kind keep: as
/// look_into_channels() says.
GMPI_OUT_OF_LINE Work look_for_message(State &state, const Sought &sought, Share &shared) {
  const bool arrived = has_messages(state);
  if (!arrived && look(state).kept == 0)
    return {};
  lock(state);
  list_posts(state); // those go first
  Work work{};
  if (find_kept(state, sought, shared)) {
    work.kind = WorkKind::over;
  } else if (arrived) {
    work = look_into_channels(state);
    if (work.kind == WorkKind::keep)
      return work;
    if (find_kept(state, sought, shared) || find_left(state, sought, shared))
      work.kind = WorkKind::over;
  }
  unlock(state);
  return work;
}

/// Until there is a message, or work to do for the whole team. One thread.
GMPI_OUT_OF_LINE Work await_message(State &state, const Sought &sought, Share &shared) {
  GMPI_NO_UNROLL
  for (unsigned turns = 0;; ++turns) {
    Work work = look_for_message(state, sought, shared);
    if (work.kind == WorkKind::none && look(state).active != 0)
      work = look_for_active(state, nothing);
    if (work.kind == WorkKind::over && shared.wait.told != nothing)
      tell_end(state, shared.wait);
    if (work.kind != WorkKind::none)
      return work;
    tell_if_long(state, shared.wait, turns);
    relax();
  }
}

/// The same, but once: all that has come is looked at, and a step is made for others where nothing
/// is found. `stepped`: it has been.
GMPI_OUT_OF_LINE Work look_once(State &state, const Sought &sought, bool &stepped, Share &shared) {
  Work work = look_for_message(state, sought, shared);
  if (work.kind == WorkKind::none && !stepped && look(state).active != 0) {
    work = look_for_active(state, nothing);
    stepped = work.kind != WorkKind::none;
  }
  if (work.kind == WorkKind::none) {
    work.kind = WorkKind::over;
    relax(); // a program asks again and again
  }
  return work;
}

/// Leaves what the call returns in shared().result: of a message, if there is one. Waits for it
/// where the call is MPI_Probe.
template <class Team>
GMPI_NOINLINE void probe(Team team, Call call, const Comm &comm, int source, int tag) {
  State &state = *context.peer;
  Share &shared = team.shared();
  const Sought sought{comm, wanted_from(comm, source, tag)};
  bool stepped = false;
  if (team.leads()) {
    shared.result = CallResult{};
    shared.wait = {Wait::message, call, &comm,         nullptr, nothing, 0, 0, 0,
                   source,        tag,  nanoseconds(), nothing};
  }
  for (;;) {
    if (team.leads())
      shared.work = call.function == Function::Probe ? await_message(state, sought, shared)
                                                     : look_once(state, sought, stepped, shared);
    team.sync();
    const bool over = shared.work.kind == WorkKind::over;
    team.sync();
    if (over)
      break;
    do_work(team);
  }
  if (team.leads() && shared.result.flag != 0 && look(state).told != 0)
    tell_progress(state);
}

} // namespace gmpi::device::peer
