// Collective calls of more than one round: all of a team, of a grid's call all of its blocks, carry
// them, in pieces or, across hosts, in sections, and meet when all is over.
//
// Invariant: a call takes numbers for its rounds, of which the first says, in each rank's memory,
// that it has been begun.
#pragma once

#include "pieces_device.hpp"
#include "sections_device.hpp"

namespace gmpi::device::peer {

/// Tells the other ranks that this one has begun a call, and how many packets its data would take:
/// all of it, or, in sections, its first round. One thread.
GMPI_DEVICE void begin_long(const Round &call) {
  call.near ? say_hello(call, call.number, packets_of_data(call.length))
            : begin_round(call, Section(call.number, 0));
}

/// A carrier's share of what nobody needs to be asked for, so that it can be written before the
/// other ranks have begun the call.
GMPI_DEVICE void carry_first(const Round &round, const Carrier &carrier) {
  if (round.near)
    send_first_parts_of(round, carrier);
  else
    write_unasked(CallInSections(round, carrier));
}
/// And of all that follows. As a function, for calls that go the general way.
GMPI_OUT_OF_LINE void carry_rest(const Round &round, const Carrier &carrier, Wait *wait) {
  if (round.near) {
    round.common ? carry_pieces_of<true>(round, carrier) : carry_pieces_of<false>(round, carrier);
  } else {
    const CallInSections call(round, carrier);
    round.common ? carry_on<true>(call, wait) : carry_on<false>(call, wait);
  }
}

/// What this block carries of a call that all blocks of its grid carry, but for the one that makes
/// it.
GMPI_OUT_OF_LINE void share_long(const Round &call, const BlockTeam &team) {
  const Carrier carrier = carrier_in(team);
  carry_first(call, carrier);
  carry_rest(call, carrier, nullptr);
}
/// The same of one that the grid's launch tells of.
GMPI_OUT_OF_LINE void help_long(const Round &call, BlockTeam team) {
  Round &near = team.shared().round;
  if (team.leads())
    near = call;
  team.sync();
  share_long(near, team);
}

/// The wait for the other ranks to begin the round.
GMPI_DEVICE Wait wait_for_begin(Call call, const Comm &comm, const Round &round) {
  const int root = round.root < 0 ? 0 : round.root;
  return {Wait::others, call, &comm, &round, nothing, 0, 0, 0, root, 0, 0, nothing};
}

/// Waits until the blocks of a grid have read what each reads by itself; `unread` are left at
/// first. (Before a call of the same grid none is.)
GMPI_DEVICE void await_readers(const Comm &comm, std::uint32_t unread) {
  GMPI_NO_UNROLL
  for (; unread != 0; unread = load_relaxed_device(&comm.unread))
    relax();
}

/// The numbers of a call's rounds: `number` is the first of them. One thread says so.
GMPI_DEVICE void note_number(Round &round, std::uint32_t number) {
  round.number = number;
  round.shared = round.met = false;
}
GMPI_DEVICE void begin_number(Comm &comm, Round &round) {
  const std::uint32_t last = load_relaxed_device(&comm.round.its.number);
  const std::uint32_t unread = load_relaxed_device(&comm.unread);
  await_readers(comm, unread);
  store_relaxed_device(&comm.round.its.number, last + rounds_of(round)); // others may look at it
  note_number(round, last + 1);
}

/// The same for a call that each block of a grid makes by itself: they have met for it. The first
/// of them is then what else the one is that makes the grid's call. Its leader, or another block's.
GMPI_DEVICE void begin_met_rounds(BlockState &block) {
  Round &round = block.peer.round;
  Comm &comm = *round.comm;
  const std::uint32_t launch = block.launch_index + 1, its = rounds_of(round);
  LastRound last{};
  last.both = load_relaxed_device(&comm.round.both);
  const std::uint32_t unread = load_relaxed_device(&comm.unread);
  const bool taken = last.its.launch == launch; // by the first block
  round.number = last.its.number + 1 - (taken ? its : 0);
  round.shared = round.met = true;
  const bool leads = block_index() == 0;
  block.command = leads ? GridCommand::lead : GridCommand::done;
  if (!leads)
    return;
  await_readers(comm, unread);
  block.living_blocks = grid_blocks();
  block.first_round = false;
  block.last_part.bytes = 0;
  last.its = {last.its.number + its, launch};
  store_relaxed_device(&comm.round.both, last.both);
}
/// Behind the meeting that ends it: all blocks know the numbers.
GMPI_DEVICE void end_met_rounds(BlockState &block) {
  const Round &round = block.peer.round;
  if (round.met && block.command == GridCommand::lead) // (another launch may have begun one since)
    cas_relaxed_device(&round.comm->round.its.launch, block.launch_index + 1, 0);
}

/// Meets the other blocks where that ends a call which they carry, too.
GMPI_DEVICE void leave_helpers(const GridTeam &team) {
  team.leave_helpers();
  if (team.leads())
    end_met_rounds(BlockTeam::block());
}

/// What team.shared().round says of a call, or of some of its pieces; all the team's buffers can be
/// read by all. `begun`: the rounds have their numbers, and all has been written that nobody need
/// be asked for.
template <class Team>
GMPI_NOINLINE void exchange_rounds(Team team, Call call, Comm &comm, bool begun) {
  Share &shared = team.shared();
  Round &round = shared.round;
  if (team.leads()) {
    if (!begun && round.low == 0) {
      begin_number(comm, round);
      begin_long(round);
    } else if (!begun) { // later pieces of the same call
      note_number(round, round.number);
    }
    shared.carried = 0;
    shared.wait = wait_for_begin(call, comm, round);
  }
  if constexpr (Team::scope == Scope::grid) {
    team.sync();
    round.shared ? wait_for(BlockTeam{team.leader}) : wait_for(team); // others carry it already
    if (team.leads() && !begun) {
      BlockState &block = BlockTeam::block();
      round.shared = grid_blocks() > 1 && block.living_blocks == grid_blocks();
      if (round.shared) {
        block.launch->round = round;
        GridTeam::command_helpers({0, 0, 0, GridTask::exchange_rounds}, GridCommand::copy);
      }
    }
  } else {
    wait_for(team);
  }
  if (team.leads())
    round.soon = !begins_of(round).differs;
  team.sync();
  if (!round.soon)
    refuse(team, call, comm.handle, differing_bytes);
  const Carrier carrier = carrier_in(team);
  if (!begun)
    carry_first(round, carrier);
  carry_rest(round, carrier, team.leads() ? &shared.wait : nullptr);
  if constexpr (Team::scope != Scope::thread)
    end_share(shared, carrier, team.leads());
  team.sync();
  if constexpr (Team::scope == Scope::grid)
    if (round.shared)
      begun ? leave_helpers(team) : team.join_helpers();
}

} // namespace gmpi::device::peer
