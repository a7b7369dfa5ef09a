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

  GMPI_DEVICE Section(std::uint32_t first_round, std::uint32_t section)
      : byte(std::uint64_t(section) * section_bytes), round(first_round + section / round_sections),
        first_packet(1 + section % round_sections * section_packets),
        mark(1 + section % round_sections) {}
  GMPI_DEVICE bool begins_round() const { return mark == 1; }
};

/// Tells the other ranks that this one has begun the round that begins with `section`, and how many
/// packets follow, for relays.
GMPI_DEVICE void begin_round(const Round &call, const Section &section) {
  const std::uint64_t left = call.length - section.byte;
  const std::uint32_t bytes = left < round_bytes ? static_cast<std::uint32_t>(left) : round_bytes;
  const std::uint32_t each = sends_data(call.root, call.rank) ? packet_bytes : section_bytes;
  GMPI_NO_UNROLL
  for (int to = 0; to < call.size; ++to)
    if (to != call.rank)
      store_packet(part_of_round(memory_of(call, to), section.round, call.size, call.rank),
                   (bytes + each - 1) / each, section.round);
}

/// A call as one of its carriers sees it, in registers: it carries every `step`-th section from
/// number `first` on.
struct CarriedCall {
  const Round &round;
  Carrier carrier;
  std::uint32_t first, step, sections;
  const unsigned char *in;
  unsigned char *out;
  std::uint64_t length;
  std::uint64_t *memory; ///< of this rank's rounds
  std::uint32_t number;
  int rank, size, root;
  bool sends; ///< data

  /// Its block is, where the call is shared, one of a grid's.
  GMPI_DEVICE CarriedCall(const Round &call, const Carrier &its)
      : round(call), carrier(its), in(call.in), out(call.out), length(call.length),
        memory(memory_of(call, call.rank)), number(call.number), rank(call.rank), size(call.size),
        root(call.root), sends(sends_data(call.root, call.rank)) {
    const std::uint32_t blocks = call.shared ? grid_blocks() : 1;
    first = (call.shared ? block_index() : 0) + its.number * blocks;
    step = its.count * blocks;
    sections = static_cast<std::uint32_t>((length + section_bytes - 1) / section_bytes);
  }
  /// Of the part that `from` has sent to this rank, and this one to another.
  GMPI_DEVICE const std::uint64_t *arrived(const Section &section, int from,
                                           std::uint32_t packet) const {
    return part_of_round(memory, section.round, size, from) + packet * packet_words;
  }
  GMPI_DEVICE std::uint64_t *place(const Section &section, int to, std::uint32_t packet) const {
    return part_of_round(memory_of(round, to), section.round, size, rank) + packet * packet_words;
  }
};

/// This rank's part, to all others.
GMPI_DEVICE void write_section(const CarriedCall &call, const Section &section) {
  const Carrier &carrier = call.carrier;
  if (section.begins_round() && carrier.lane == 0)
    begin_round(call.round, section);
  const std::uint32_t first = call.sends ? section.first_packet : section.mark;
  const std::uint32_t packets = call.sends ? section_packets : 1;
  GMPI_NO_UNROLL
  for (std::uint32_t p = carrier.lane; p < packets; p += carrier.lanes) {
    const std::uint64_t byte = section.byte + p * packet_bytes;
    if (byte >= call.length)
      break;
    const std::uint64_t value =
        call.sends ? load_data(call.in + byte, call.length - byte) : std::uint64_t(0);
    GMPI_NO_UNROLL
    for (int to = 0; to < call.size; ++to)
      if (to != call.rank)
        store_packet(call.place(section, to, first + p), value, section.round);
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
/// The same for a packet.
GMPI_OUT_OF_LINE void await_part_and_tell(const std::uint64_t *from, std::uint32_t round,
                                          Wait &wait) {
  await_and_tell(wait, [&] { return Packet::load(from).shows(round); });
}

/// Waits for a packet; `wait`: of the thread that sees to what is told of the call, else null.
GMPI_DEVICE std::uint64_t await_part(const std::uint64_t *from, std::uint32_t round, Wait *wait) {
  constexpr unsigned soon = 4096; // turns that nobody is told of
  GMPI_NO_UNROLL
  for (unsigned turns = 1;; ++turns) {
    const Packet packet = Packet::load(from);
    if (packet.shows(round))
      return packet.data();
    if (turns == soon && wait != nullptr)
      await_part_and_tell(from, round, *wait);
    relax();
  }
}

/// The others' parts, combined where this rank wants them.
template <bool common>
GMPI_DEVICE void read_section(const CarriedCall &call, const Section &section, Wait *wait,
                              Combine<common> combine) {
  const Carrier &carrier = call.carrier;
  const int first_rank = call.root < 0 ? 0 : call.root;
  const int last_rank = call.root < 0 ? call.size - 1 : call.root;
  if (carrier.lane == 0 && (call.out == nullptr || call.root >= 0))
    GMPI_NO_UNROLL
  for (int from = 0; from < call.size; ++from) {
    const bool wanted = call.out != nullptr && from == call.root;
    if (from != call.rank && !wanted) {
      const bool data = sends_data(call.root, from);
      const std::uint64_t *place =
          call.arrived(section, from, data ? section.first_packet : section.mark);
      await_part(place, section.round, wait);
    }
  }
  GMPI_NO_UNROLL
  for (std::uint32_t p = carrier.lane; p < section_packets; p += carrier.lanes) {
    const std::uint64_t byte = section.byte + p * packet_bytes, left = call.length - byte;
    if (call.out == nullptr || byte >= call.length)
      break;
    const std::uint64_t own = call.root < 0 ? load_data(call.in + byte, left) : std::uint64_t(0);
    std::uint64_t value = 0;
    GMPI_NO_UNROLL
    for (int from = first_rank; from <= last_rank; ++from) {
      std::uint64_t part = own;
      if (from != call.rank)
        part =
            await_part(call.arrived(section, from, section.first_packet + p), section.round, wait);
      value = from == first_rank ? part : combine(value, part);
    }
    store_data(call.out + byte, left, value);
  }
  if (carrier.lanes != 1)
    __syncwarp();
}

/// Sections that follow each other in a round, `each` of them from number `first` on: what a
/// carrier takes at a time. Where few carry a call, so many packets of each lane are under way
/// together.
template <std::uint32_t each> struct Group {
  static_assert(round_sections % each == 0);
  const CarriedCall &call;
  std::uint32_t first;
  bool whole; ///< carried together, by a warp: all of it, at addresses for eight bytes

  GMPI_DEVICE Group(const CarriedCall &its, std::uint32_t section)
      : call(its), first(section),
        whole(
            each != 1 && its.carrier.lanes == 32 && its.sends && its.out != nullptr &&
            its.root < 0 && section + each < its.sections &&
            ((reinterpret_cast<std::uint64_t>(its.in) | reinterpret_cast<std::uint64_t>(its.out)) &
             7) == 0) {}
  GMPI_DEVICE Section section(std::uint32_t i) const { return {call.number, first + i}; }

  GMPI_DEVICE void load(std::uint64_t (&values)[each]) const {
    auto *from = reinterpret_cast<const unsigned long long *>(call.in) +
                 std::size_t(first) * section_packets + call.carrier.lane;
    GMPI_UNROLL
    for (std::uint32_t i = 0; i < each; ++i)
      values[i] = from[i * section_packets];
  }
  GMPI_DEVICE void write() const {
    if (!whole) {
      GMPI_NO_UNROLL
      for (std::uint32_t i = 0; i < each && first + i < call.sections; ++i)
        write_section(call, section(i));
      return;
    }
    const Section its = section(0);
    if (its.begins_round() && call.carrier.lane == 0)
      begin_round(call.round, its);
    std::uint64_t values[each];
    load(values);
    GMPI_NO_UNROLL
    for (int to = 0; to < call.size; ++to) {
      if (to == call.rank)
        continue;
      std::uint64_t *place = call.place(its, to, its.first_packet + call.carrier.lane);
      GMPI_UNROLL
      for (std::uint32_t i = 0; i < each; ++i)
        store_packet(place + i * section_packets * packet_words, values[i], its.round);
    }
  }
  template <bool common> GMPI_DEVICE void read(Wait *wait, Combine<common> combine) const {
    if (!whole) {
      GMPI_NO_UNROLL
      for (std::uint32_t i = 0; i < each && first + i < call.sections; ++i)
        read_section(call, section(i), wait, combine);
      return;
    }
    const Section its = section(0);
    std::uint64_t values[each] = {};
    GMPI_NO_UNROLL
    for (int from = 0; from < call.size; ++from) {
      std::uint64_t parts[each];
      if (from == call.rank) {
        load(parts);
      } else {
        const std::uint64_t *place = call.arrived(its, from, its.first_packet + call.carrier.lane);
        await_part(place + (each - 1) * section_packets * packet_words, its.round, wait);
        bool there;
        GMPI_NO_UNROLL
        do {
          there = true;
          Packet loaded[each];
          GMPI_UNROLL
          for (std::uint32_t i = 0; i < each; ++i)
            loaded[i] = Packet::load(place + i * section_packets * packet_words);
          GMPI_UNROLL
          for (std::uint32_t i = 0; i < each; ++i) {
            there = there & loaded[i].shows(its.round);
            parts[i] = loaded[i].data();
          }
        } while (!there && (relax(), true));
      }
      GMPI_UNROLL
      for (std::uint32_t i = 0; i < each; ++i)
        values[i] = from == 0 ? parts[i] : combine(values[i], parts[i]);
    }
    auto *to = reinterpret_cast<unsigned long long *>(call.out) +
               std::size_t(first) * section_packets + call.carrier.lane;
    GMPI_UNROLL
    for (std::uint32_t i = 0; i < each; ++i)
      to[i * section_packets] = values[i];
    __syncwarp();
  }
};

/// Writes this carrier's sections of the call's first rounds, as many as nobody needs to be asked
/// for.
template <std::uint32_t each> GMPI_DEVICE void write_unasked(const CarriedCall &call) {
  GMPI_NO_UNROLL
  for (std::uint32_t s = call.first * each;
       s < rounds_unasked * round_sections && s < call.sections; s += call.step * each)
    Group<each>(call, s).write();
}

/// Waits until all other ranks have begun the call, and writes this carrier's sections of the other
/// rounds that may be ahead of what is read.
template <std::uint32_t each> GMPI_DEVICE void write_ahead(const CarriedCall &call) {
  bool begun = false;
  GMPI_NO_UNROLL
  for (std::uint32_t s = call.first * each; s < rounds_ahead * round_sections && s < call.sections;
       s += call.step * each) {
    if (s < rounds_unasked * round_sections)
      continue;
    while (!begun) {
      begun = all_have_begun(call.round);
      relax();
    }
    Group<each>(call, s).write();
  }
}

/// All that follows write_unasked(): this carrier reads its sections, and writes those of later
/// rounds, in turn.
template <std::uint32_t each, bool common>
GMPI_DEVICE void carry_on(const CarriedCall &call, Wait *wait) {
  const Combine<common> combine{call.round.reduction, call.round.datatype};
  constexpr std::uint32_t ahead = rounds_ahead * round_sections;
  write_ahead<each>(call);
  GMPI_NO_UNROLL
  for (std::uint32_t base = 0; base < call.sections; base += ahead)
    GMPI_NO_UNROLL
  for (std::uint32_t s = base + call.first * each; s < base + ahead && s < call.sections;
       s += call.step * each) {
    Group<each>(call, s).read(wait, combine);
    if (call.sections - s > ahead)
      Group<each>(call, s + ahead).write();
  }
}
/// Sections that a carrier takes at a time of a call that one block carries.
constexpr std::uint32_t block_group = 4;

/// A carrier's share of a call; `begun`: what is unasked has been written. As a function, for calls
/// that go the general way.
GMPI_OUT_OF_LINE void carry_sections(const Round &round, const Carrier &carrier, bool begun,
                                     Wait *wait) {
  const CarriedCall call(round, carrier);
  if (!begun)
    write_unasked<1>(call);
  round.common ? carry_on<1, true>(call, wait) : carry_on<1, false>(call, wait);
}

/// What this block carries of a call that all blocks of its grid carry, but for the one that makes
/// it.
GMPI_DEVICE void share_long(const Round &call, const BlockTeam &team) {
  carry_sections(call, carrier_in(team), false, nullptr);
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
/// The end of a carrier's share, in the team that makes the call, whose shared().carried was 0. One
/// thread returns when all have come so far.
GMPI_DEVICE void end_share(Share &shared, const Carrier &carrier, bool leads) {
  if (carrier.lane == 0)
    atomicAdd(&shared.carried, 1u);
  if (leads && load_block(&shared.carried) != carrier.count)
    await_carriers(shared.carried, carrier.count, shared.wait);
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
  comm.round.its.number = last + rounds_of(round);
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

/// What team.shared().round says of a call; all the team's buffers can be read by all. `begun`: the
/// rounds have their numbers, and all has been written that nobody need be asked for.
template <class Team>
GMPI_NOINLINE void exchange_rounds(Team team, Call call, Comm &comm, bool begun) {
  Share &shared = team.shared();
  Round &round = shared.round;
  if (team.leads()) {
    if (!begun) {
      begin_number(comm, round);
      begin_round(round, Section(round.number, 0));
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
  carry_sections(round, carrier, begun, team.leads() ? &shared.wait : nullptr);
  if constexpr (Team::scope != Scope::thread)
    end_share(shared, carrier, team.leads());
  team.sync();
  if constexpr (Team::scope == Scope::grid)
    if (round.shared)
      begun ? leave_helpers(team) : team.join_helpers();
}

} // namespace gmpi::device::peer
