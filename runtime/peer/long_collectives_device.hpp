// Collective calls of more than one round: all of a team, of a grid's call all of its blocks, carry
// the rounds one behind the other, and meet when the last is over.
//
// Invariant: packets are carried in sections, each by a warp or by one thread, which writes a
// section of round n + rounds_ahead when it has read that of round n from all ranks. They had
// written it when they had read that of round n - rounds_ahead, whose memory it takes. So a rank
// that has nothing to send writes one packet a section, and one that wants nothing reads one.
// Who begins a call has, of the last call's last round but one, read all, so all have read all of
// the round rounds_ahead before that one, and its first rounds_unasked rounds take the memory of
// none that is later. (Of the last round there may have been but some sections.)
#pragma once

#include "receive_device.hpp"
#include "reduce_device.hpp"

namespace gmpi::device::peer {

/// One of those in a block that carry sections, of `count`: a warp, or one thread.
struct Carrier {
  std::uint32_t number, count;
  std::uint32_t lane, lanes;
};

template <class Team> GMPI_DEVICE Carrier carrier_in(const Team &team) {
  if constexpr (Team::scope != Scope::thread)
    if (BlockTeam::has_warp() && block_threads() % 32 == 0)
      return {thread_index() / 32, block_threads() / 32, thread_index() % 32, 32};
  unsigned number = 0, count = 1;
  team.number(number, count);
  return {number, count, 0, 1};
}

/// Section number `section` of a call.
struct Section {
  std::uint64_t byte;         ///< of the data, its first
  std::uint32_t round;        ///< the round's number
  std::uint32_t first_packet; ///< of a part, where it is data
  std::uint32_t mark;         ///< of a part, where it is none: the section's only packet

  GMPI_DEVICE Section(const Round &call, std::uint32_t section)
      : byte(std::uint64_t(section) * section_bytes), round(call.number + section / round_sections),
        first_packet(1 + section % round_sections * section_packets),
        mark(1 + section % round_sections) {}
  GMPI_DEVICE bool begins_round() const { return mark == 1; }
};

GMPI_DEVICE std::uint64_t *packet_of(const Round &call, const Section &section, int to, int from,
                                     std::uint32_t packet) {
  return part_of_round(memory_of(call, to), section.round, call.size, from) + packet * packet_words;
}
GMPI_DEVICE bool sends_data(const Round &call, int rank) {
  return call.root < 0 || call.root == rank;
}

/// Tells the other ranks that this one has begun the round that begins with `section`, and how many
/// packets follow, for relays.
GMPI_DEVICE void begin_round(const Round &call, const Section &section) {
  const std::uint64_t left = call.length - section.byte;
  const std::uint32_t bytes = left < round_bytes ? static_cast<std::uint32_t>(left) : round_bytes;
  const std::uint32_t each = sends_data(call, call.rank) ? packet_bytes : section_bytes;
  GMPI_NO_UNROLL
  for (int to = 0; to < call.size; ++to)
    if (to != call.rank)
      store_packet(packet_of(call, section, to, call.rank, 0), (bytes + each - 1) / each,
                   section.round);
}

/// This rank's part, to all others.
GMPI_DEVICE void write_section(const Round &call, const Section &section, const Carrier &carrier) {
  if (section.begins_round() && carrier.lane == 0)
    begin_round(call, section);
  const bool data = sends_data(call, call.rank);
  const std::uint32_t first = data ? section.first_packet : section.mark;
  GMPI_NO_UNROLL
  for (std::uint32_t p = carrier.lane; p < (data ? section_packets : 1); p += carrier.lanes) {
    const std::uint64_t byte = section.byte + p * packet_bytes;
    if (byte >= call.length)
      break;
    const std::uint64_t value = data ? load_data(call.in + byte, call.length - byte) : 0;
    GMPI_NO_UNROLL
    for (int to = 0; to < call.size; ++to)
      if (to != call.rank)
        store_packet(packet_of(call, section, to, call.rank, first + p), value, section.round);
  }
}

/// One thread waits until `there()`, and tells of it when that is long.
template <class There> GMPI_DEVICE void await_and_tell(Wait &wait, There there) {
  State &state = *context.peer;
  wait.since = nanoseconds();
  wait.told = nothing;
  GMPI_NO_UNROLL
  for (unsigned turns = 0; !there(); ++turns) {
    tell_if_long(state, wait, turns);
    relax();
  }
  if (wait.told != nothing)
    tell_end(state, wait);
}

/// Waits for a packet; `wait`: of the thread that sees to what is told of the call, else null.
GMPI_OUT_OF_LINE std::uint64_t await_part(const std::uint64_t *from, std::uint32_t round,
                                          Wait *wait) {
  if (wait == nullptr)
    return await_packet(from, round);
  Packet packet;
  await_and_tell(*wait, [&] { return (packet = Packet::load(from)).shows(round); });
  return packet.data();
}

/// The others' parts, combined where this rank wants them.
template <class Combine>
GMPI_DEVICE void read_section(const Round &call, const Section &section, const Carrier &carrier,
                              Wait *wait, Combine combine) {
  constexpr int at_once = 2;
  const int first_rank = call.root < 0 ? 0 : call.root;
  const int last_rank = call.root < 0 ? call.size - 1 : call.root;
  if (carrier.lane == 0)
    GMPI_NO_UNROLL
  for (int from = 0; from < call.size; ++from) {
    const bool wanted = call.out != nullptr && first_rank <= from && from <= last_rank;
    if (from != call.rank && !wanted)
      await_part(packet_of(call, section, call.rank, from,
                           sends_data(call, from) ? section.first_packet : section.mark),
                 section.round, wait);
  }
  GMPI_NO_UNROLL
  for (std::uint32_t p = carrier.lane; p < section_packets; p += carrier.lanes) {
    const std::uint64_t byte = section.byte + p * packet_bytes, left = call.length - byte;
    if (call.out == nullptr || byte >= call.length)
      break;
    std::uint64_t value = 0;
    GMPI_NO_UNROLL
    for (int base = first_rank; base <= last_rank; base += at_once) {
      const std::uint64_t *places[at_once];
      Packet loaded[at_once];
      GMPI_UNROLL
      for (int i = 0; i < at_once; ++i) {
        const int from = base + i;
        if (from > last_rank || from == call.rank)
          continue;
        places[i] = packet_of(call, section, call.rank, from, section.first_packet + p);
        loaded[i] = Packet::load(places[i]);
      }
      GMPI_UNROLL
      for (int i = 0; i < at_once; ++i) {
        const int from = base + i;
        if (from > last_rank)
          break;
        const std::uint64_t part = from == call.rank ? load_data(call.in + byte, left)
                                   : loaded[i].shows(section.round)
                                       ? loaded[i].data()
                                       : await_part(places[i], section.round, wait);
        value = from == first_rank ? part : combine(value, part);
      }
    }
    store_data(call.out + byte, left, value);
  }
  if (carrier.lanes != 1)
    __syncwarp();
}

/// What one carrier has to do of a call: of the sections, every `step`-th from number `first` on.
struct Turns {
  std::uint32_t first, step, sections;

  /// Its block is, where the call is shared, one of a grid's.
  GMPI_DEVICE Turns(const Round &call, const Carrier &carrier) {
    const std::uint32_t blocks = call.shared ? grid_blocks() : 1;
    first = (call.shared ? block_index() : 0) + carrier.number * blocks;
    step = carrier.count * blocks;
    sections = static_cast<std::uint32_t>((call.length + section_bytes - 1) / section_bytes);
  }
};

/// Writes this carrier's sections of the call's first rounds, as many as nobody needs to be asked
/// for.
GMPI_OUT_OF_LINE void write_unasked(const Round &call, const Carrier &carrier) {
  const Turns turns(call, carrier);
  GMPI_NO_UNROLL
  for (std::uint32_t s = turns.first; s < rounds_unasked * round_sections && s < turns.sections;
       s += turns.step)
    write_section(call, Section(call, s), carrier);
}

/// Waits until all other ranks have begun the call; `wait`: as above. One thread.
GMPI_DEVICE void await_begun(const Round &call, Wait *wait) {
  const auto begun = [&] {
    return all_have_begun(memory_of(call, call.rank), call.number, call.rank, call.size);
  };
  if (wait != nullptr)
    await_and_tell(*wait, begun);
  else
    while (!begun())
      relax();
}

/// Waits until all other ranks have begun the call, and writes this carrier's sections of the other
/// rounds that may be ahead of what is read.
GMPI_OUT_OF_LINE void write_ahead(const Round &call, const Carrier &carrier, Wait *wait) {
  const Turns turns(call, carrier);
  bool begun = false;
  GMPI_NO_UNROLL
  for (std::uint32_t s = turns.first; s < rounds_ahead * round_sections && s < turns.sections;
       s += turns.step) {
    if (s < rounds_unasked * round_sections)
      continue;
    if (!begun && carrier.lane == 0)
      await_begun(call, wait);
    if (carrier.lanes != 1)
      __syncwarp();
    begun = true;
    write_section(call, Section(call, s), carrier);
  }
}

/// Reads this carrier's sections, and writes those of later rounds, in turn.
template <class Combine>
GMPI_DEVICE void read_and_write_on(const Round &call, const Carrier &carrier, Wait *wait,
                                   Combine combine) {
  const Turns turns(call, carrier);
  constexpr std::uint32_t ahead = rounds_ahead * round_sections;
  GMPI_NO_UNROLL
  for (std::uint32_t base = 0; base < turns.sections; base += ahead)
    GMPI_NO_UNROLL
  for (std::uint32_t s = base + turns.first; s < base + ahead && s < turns.sections;
       s += turns.step) {
    read_section(call, Section(call, s), carrier, wait, combine);
    if (turns.sections - s > ahead)
      write_section(call, Section(call, s + ahead), carrier);
  }
}
GMPI_OUT_OF_LINE void carry_sections(const Round &call, const Carrier &carrier, Wait *wait) {
  const Reduction reduction = call.reduction;
  const Number number = call.datatype;
  read_and_write_on(call, carrier, wait, [=](std::uint64_t a, std::uint64_t b) {
    return reduce(reduction, number, a, b);
  });
}
GMPI_OUT_OF_LINE void carry_common_sections(const Round &call, const Carrier &carrier, Wait *wait) {
  const Number number = call.datatype;
  read_and_write_on(call, carrier, wait,
                    [=](std::uint64_t a, std::uint64_t b) { return reduce_common(number, a, b); });
}

/// All that follows write_unasked().
GMPI_DEVICE void carry_on_long(const Round &call, const Carrier &carrier, Wait *wait) {
  write_ahead(call, carrier, wait);
  if (call.common)
    carry_common_sections(call, carrier, wait);
  else
    carry_sections(call, carrier, wait);
}

/// What this block carries of a call that all blocks of its grid carry, but for the one that makes
/// it.
GMPI_OUT_OF_LINE void share_long(const Round &call, const BlockTeam &team) {
  const Carrier carrier = carrier_in(team);
  write_unasked(call, carrier);
  carry_on_long(call, carrier, nullptr);
}
/// The same of one that the grid's launch tells of.
GMPI_OUT_OF_LINE void help_long(const Round &call, BlockTeam team) {
  Round &near = team.shared().round;
  if (team.leads())
    near = call;
  team.sync();
  share_long(near, team);
}

/// Waits until `carried` says that so many of the block's carriers have done their share. One
/// thread, which sees to what is told.
GMPI_OUT_OF_LINE void await_carriers(const std::uint32_t &carried, std::uint32_t count,
                                     Wait &wait) {
  await_and_tell(wait, [&] { return load_block(&carried) == count; });
}

/// What the team that makes the call carries of it, behind a barrier: shared().wait says what it
/// waits for, and shared().carried is 0. One thread returns when all of the team have done their
/// share.
template <class Team> GMPI_DEVICE void lead_long(const Team &team, const Carrier &carrier) {
  Share &shared = team.shared();
  carry_on_long(shared.round, carrier, team.leads() ? &shared.wait : nullptr);
  if constexpr (Team::scope != Scope::thread) {
    if (carrier.lane == 0)
      atomicAdd(&shared.carried, 1u);
    if (team.leads())
      await_carriers(shared.carried, carrier.count, shared.wait);
  }
}

/// The wait for the other ranks to begin the round.
GMPI_DEVICE Wait wait_for_begin(Call call, const Comm &comm, const Round &round) {
  const int root = round.root < 0 ? 0 : round.root;
  return {Wait::others, call, &comm, nothing, 0, 0, round.number, root, 0, 0, nothing};
}

/// The numbers of a call's rounds: `number` is the first of them. One thread says so.
GMPI_DEVICE void note_number(Round &round, std::uint32_t number) {
  round.number = number;
  round.shared = false;
}
GMPI_DEVICE void begin_number(Comm &comm, Round &round) {
  const std::uint32_t last = load_relaxed_device(&comm.round);
  comm.round = last + rounds_of(round);
  note_number(round, last + 1);
}

/// What team.shared().round says of a call; all the team's buffers can be read by all. `begun`: the
/// rounds have their numbers, and all has been written that nobody need be asked for.
template <class Team>
GMPI_NOINLINE void exchange_rounds(Team team, Call call, Comm &comm, bool begun) {
  Share &shared = team.shared();
  Round &round = shared.round;
  if (team.leads()) {
    if (!begun) {
      begin_number(comm, round);
      begin_round(round, Section(round, 0));
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
  team.sync();
  const Carrier carrier = carrier_in(team);
  if (!begun)
    write_unasked(round, carrier);
  lead_long(team, carrier);
  team.sync();
  if constexpr (Team::scope == Scope::grid)
    if (round.shared)
      begun ? team.leave_helpers() : team.join_helpers();
}

} // namespace gmpi::device::peer
