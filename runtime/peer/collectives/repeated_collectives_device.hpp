// Collective calls that a block has made shortly before, which most are: what their round is, it
// remembers, and begins it while it arrives. See quick_collectives_device.hpp.
//
// Invariant: a call is one that a block remembers where all that it is made from is the same; else
// it is described anew.
#pragma once

#include "quick_collectives_device.hpp"

namespace gmpi::device::peer {

/// What call a block's round is made from.
template <Function F, Scope S> GMPI_DEVICE Round::Of origin_of(const Arguments &a) {
  const Buffers places = places_of<F>(a);
  return {a.comm,     a.datatype,
          a.op,       places.in,
          places.out, a.count,
          a.root,     static_cast<std::uint32_t>(F) | static_cast<std::uint32_t>(S) << 16};
}
/// Whether that is the same, be it with another root. (All of it is looked at: each branch would
/// wait for its own.)
GMPI_DEVICE bool is_same(const Round::Of &last, const Round::Of &of) {
  return (last.comm == of.comm) & (last.datatype == of.datatype) & (last.op == of.op) &
         (last.in == of.in) & (last.out == of.out) & (last.count == of.count) &
         (last.function == of.function);
}
/// Where the block remembers that call; none of recent_rounds where it does not. A warp, whole.
GMPI_DEVICE std::uint32_t find_recent(Round::Of of) {
  const BlockState &block = block_state();
  const std::uint32_t lane = lane_index();
  // Each thread's own memory may lie elsewhere: the first lane says.
  of.in = reinterpret_cast<const void *>(of_lane(reinterpret_cast<std::uint64_t>(of.in), 0));
  of.out = reinterpret_cast<void *>(of_lane(reinterpret_cast<std::uint64_t>(of.out), 0));
  const bool is = is_same(block.recent[lane % BlockState::recent_rounds].of, of);
  const std::uint32_t found = __ballot_sync(whole_warp, is & (lane < BlockState::recent_rounds));
  return found != 0 ? static_cast<std::uint32_t>(__ffs(static_cast<int>(found))) - 1
                    : BlockState::recent_rounds;
}
GMPI_DEVICE void copy_round(Round &to, const Round &from) {
  constexpr std::uint32_t words = sizeof(Round) / sizeof(std::uint64_t);
  static_assert(sizeof(Round) % sizeof(std::uint64_t) == 0 && words <= 64);
  const auto *const in = reinterpret_cast<const std::uint64_t *>(&from);
  auto *const out = reinterpret_cast<std::uint64_t *>(&to);
  __syncwarp(); // all have looked
  GMPI_UNROLL
  for (std::uint32_t i = lane_index(); i < 64; i += 32)
    if (i < words)
      out[i] = in[i];
  __syncwarp();
}

/// Whether the block has just made the same call, or one before it: then it is described. A warp,
/// whole.
template <Function F, Scope S> GMPI_DEVICE bool is_described(const Arguments &a) {
  Round &round = block_state().peer.round;
  const Round::Of of = origin_of<F, S>(a);
  if (of_lane(std::uint32_t(is_same(round.of, of)), 0) == 0) { // (as the first lane has it)
    const std::uint32_t place = find_recent(of);
    if (place == BlockState::recent_rounds)
      return false;
    copy_round(round, block_state().recent[place]);
  }
  if constexpr (F == Function::Bcast || F == Function::Reduce) {
    if (of_lane(std::uint32_t(a.root != round.of.root), 0) != 0) {
      if (a.root < 0 || a.root >= round.size || round.way == Way::elsewhere)
        return false;
      if (lane_index() == 0) {
        turn_round<F>(round, of.in, of.out, of.root);
        round.by_each = S == Scope::grid && may_be_awaited_by_each(round);
        round.of.root = of.root;
      }
      __syncwarp();
    }
  }
  return true;
}
/// Has it described, if it is not.
template <Function F, Scope S> GMPI_DEVICE void describe_quickly(const Arguments &a) {
  if (is_described<F, S>(a))
    return;
  const Round::Of of = origin_of<F, S>(a);
  Round &round = block_state().peer.round;
  __syncwarp();
  describe<F, S>(a, lane_index(), 32);
  BlockState &block = block_state();
  const std::uint32_t place = of_lane(block.next_recent, 0) % BlockState::recent_rounds;
  __syncwarp();
  if (lane_index() == 0) {
    round.of = of;
    block.next_recent = place + 1;
  }
  copy_round(block.recent[place], round);
}

/// What a lane writes of a short round: the first packets of all ranks, and the second ones, if
/// there is data, each by a lane of its own.
struct ShortPacket {
  bool writes;
  std::uint64_t *at;
  std::uint64_t data;

  /// Of round number `number`, as `round` says; `own`: lane 1's is this rank's data. A warp, whole.
  template <Function F>
  GMPI_DEVICE static ShortPacket of(const Round &round, std::uint32_t number, std::uint64_t own) {
    constexpr bool reduces = F == Function::Reduce || F == Function::Allreduce;
    const std::uint32_t lane = lane_index(), packet = lane % 2;
    const int to = static_cast<int>(lane / 2), size = round.size, rank = round.rank;
    std::uint64_t *const memory = round.memory[lane / 2 % Round::near_ranks];
    const bool has_data = F != Function::Barrier && round.in != nullptr && round.bytes != 0;
    std::uint64_t data = 0;
    if constexpr (F != Function::Barrier) {
      own = of_lane(own, 1);
      data = packet != 0 ? own : std::uint64_t(has_data); // as write_hello() says
    }
    // (Of what is combined, the other blocks find it in its own place.)
    const bool writes = (to < size) & (reduces | (to != rank)) & ((packet == 0) | has_data);
    return {writes, part_of_round(memory, number, size, rank) + packet * packet_words, data};
  }

  GMPI_DEVICE void store(std::uint32_t number) const {
    if (writes)
      store_packet(at, data, number);
  }
};
static_assert(2 * Round::near_ranks <= 32);

/// Waits for what round number `number` brings to a block that waits for it by itself, each lane
/// for a rank's only packet. `leads`: this block has begun it, and returns sending where the others
/// do not come soon; else it waits for a command at the same time, and returns unmet where that is
/// not to wait for the round. A warp, whole.
template <Function F> GMPI_DEVICE Begun watch_round(std::uint32_t number, bool leads) {
  constexpr bool reduces = F == Function::Reduce || F == Function::Allreduce;
  constexpr unsigned patience = 4096;
  BlockState &block = block_state();
  Round &round = block.peer.round;
  const unsigned long long *const command = &block.launch->command;
  const std::uint32_t lane = lane_index();
  const int from = static_cast<int>(lane), size = round.size, root = round.root;
  const bool receives = F != Function::Barrier && round.out != nullptr;
  const bool brings = receives && round.bytes != 0;
  const bool data = brings && (reduces || from == root);
  const bool looks = from < size && (data || from != round.rank);
  const std::uint64_t *const at =
      part_of_round(memory_of(round, round.rank), number, size, looks ? from : 0) +
      (data ? packet_words : 0);
  const std::uint64_t wanted = command_word(0, GridCommand::await, static_cast<int>(number));
  constexpr unsigned long long any_round = ((1ull << 32) - 1) >> command_bits << command_bits;
  unsigned long long loaded;
  std::uint64_t value;
  GMPI_NO_UNROLL
  for (unsigned turns = 0;; ++turns) {
    loaded = load_relaxed_device(command); // lane 0's counts
    const Packet packet = Packet::load(at);
    const bool there = !looks | (data ? packet.shows(number) : packet.shows_since(number));
    const bool is_new = lane == 0 && (leads || is_new_command(block.round, loaded));
    value = packet.data();
    if (__any_sync(whole_warp, is_new)) {
      if (!leads && of_lane(std::uint32_t((loaded & ~any_round) == wanted), 0) == 0)
        return Begun::unmet;
      if (__all_sync(whole_warp, there))
        break;
    } else {
      turns = 0;
    }
    if (leads && others_are_late(turns, patience)) {
      if (lane == 0)
        round.soon = false;
      return Begun::sending;
    }
    turns < patience ? relax() : doze();
  }
  if (brings) {
    const std::uint64_t part = value;
    value = of_lane(part, static_cast<std::uint32_t>(reduces ? 0 : root));
    if constexpr (reduces)
      GMPI_NO_UNROLL
    for (int rank = 1; rank < size; ++rank)
      value = reduce_common(round.reduction, round.datatype, value,
                            of_lane(part, static_cast<std::uint32_t>(rank)));
  }
  if (lane == 0) {
    if (brings)
      own_words(block)[0] = value;
    if (leads) {
      block.peer.result.bytes = brings ? round.bytes : 0;
    } else {
      block.round = static_cast<std::uint32_t>(loaded) >> command_bits;
      block.command = GridCommand::await;
      end_awaited(block, number);
    }
  }
  return receives ? Begun::answered : Begun::over;
}

/// Arrives at a grid's call and, where it is one of those that this block remembers, and short,
/// carries it out: what it needs is found out while its arrival, and the others', is under way.
/// Returns unmet where it has but arrived; block.arrived says what begin_to_arrive() does. A warp,
/// whole.
template <Function F> GMPI_DEVICE Begun repeat(const Arguments &a) {
  constexpr bool reduces = F == Function::Reduce || F == Function::Allreduce;
  constexpr bool has_data = F != Function::Barrier;
  enum : std::uint32_t { others_come, is_alone, others_wait };
  BlockState &block = block_state();
  Round &round = block.peer.round;
  const std::uint32_t lane = lane_index();
  const Buffers places = places_of<F>(a);
  unsigned long long before = 0;
  if (lane == 0)
    before = begin_to_arrive(block);
  // But for blocks' and threads' own calls, of which those before this one are over when the last
  // block has arrived, nobody begins rounds of the communicator meanwhile.
  Start start{};
  const Comm *const comm = round.comm; // most likely
  const auto look_at = [&](const Comm &its) {
    start.number = load_relaxed_device(&its.round.its.number);
    start.unread = load_relaxed_device(&its.unread);
  };
  if (comm != nullptr)
    look_at(*comm);
  const bool same = is_described<F, Scope::grid>(a);
  const bool own = has_data && round.in != nullptr && is_local(places.in);
  if (same && round.way == Way::by_warp && (!reduces || round.common)) {
    if (round.comm != comm)
      look_at(*round.comm);
    if (own)
      start.own = load_own(places.in, round.bytes, lane, 1);
    start.number = of_lane(start.number, 0); // as it was behind the arrival
    // What the others wait for goes first, if it is at hand: all of it is, when this has arrived.
    bool is_ready = false;
    ShortPacket packet{};
    if (round.by_each) {
      const bool all_have_read = of_lane(start.unread, 0) == 0; // as one lane has seen it
      is_ready = round.short_near & ((round.in == nullptr) | own) & all_have_read;
      packet = ShortPacket::of<F>(round, start.number + 1, start.own);
      before = not_before(before, packet.at, is_ready);
    }
    const std::uint32_t living = static_cast<std::uint32_t>(before) + 1;
    const std::uint32_t all = of_lane(std::uint32_t(!is_last(before) ? others_come
                                                    : living == 1    ? is_alone
                                                                     : others_wait),
                                      0);
    const bool at_once = is_ready && all == others_wait;
    std::uint32_t last = start.number; // as the communicator says
    if (at_once) {
      packet.store(start.number + 1);
      if (lane == 0) {
        block.living_blocks = living;
        block.command = GridCommand::lead;
        last = add_in_flight_device(&round.comm->round.its.number, 1);
        note_number(round, start.number + 1);
        let_others_await(block, round);
        acquire_device();
        count_call(*context.peer, has_data && round.in != nullptr ? round.bytes : 0);
      }
      __syncwarp();
    } else if (all != others_come) {
      if (lane == 0) {
        if (grid_blocks() > 1)
          acquire_device();
        block.living_blocks = living;
        block.command = GridCommand::lead;
      }
      __syncwarp();
      const bool by_each = round.by_each && all == others_wait;
      start.holds = by_each;
      if (!by_each) // it has to wait for its data anyway
        look_at(*round.comm);
      const std::uint32_t at = (lane - 1) * packet_bytes;
      if (has_data && round.in != nullptr && !own && lane != 0 && at < round.bytes)
        start.own = load_data(round.in + at, round.bytes - at);
      return exchange_as_warp<F, Scope::grid>(start, places.out, by_each,
                                              Combine<true>{round.reduction, round.datatype});
    }
    if (round.by_each && round.bytes <= packet_bytes && round.size <= 32) {
      const Begun begun = watch_round<F>(start.number + 1, at_once);
      if (lane == 0 && last != start.number)
        __trap(); // another has begun a round since, as none can
      if (begun != Begun::unmet)
        return begun;
    }
  }
  if (lane == 0)
    block.arrived = before;
  return Begun::unmet;
}

/// Whether a call may be one that all blocks of a grid carry, each by itself: then this has to be
/// found out before a block arrives at it. What is not known here, the last such call says.
template <Function F, Scope S> GMPI_DEVICE bool may_be_carried_by_all(const Arguments &a) {
  constexpr int most_of_warp = warp_round_bytes / sizeof(double);
  if constexpr (S != Scope::grid || kind_of(F) != Kind::collective || F == Function::Barrier)
    return false;
  else if constexpr (F == Function::Bcast) // datatypes may be long
    return a.count > most_of_warp || block_state().peer.round.way == Way::all_blocks;
  else
    return a.count > most_of_warp;
}
/// Meets the other blocks for the call that has been described, if all blocks carry it. Whether
/// they have met. A block's leader, or another's.
GMPI_DEVICE bool meet_to_carry(BlockState &block) {
  if (block.peer.round.way != Way::all_blocks || block.parted || !meet_to_begin(block))
    return false;
  begin_met_rounds(block);
  return true;
}
/// The same for a warp, whole; and for a block that has none, or none that is whole: its leader.
GMPI_DEVICE bool meet_to_carry_as_warp() {
  bool met = false;
  if (lane_index() == 0)
    met = meet_to_carry(block_state());
  met = of_lane(std::uint32_t(met), 0) != 0;
  __syncwarp(); // what lane 0 has noted is there for all
  return met;
}
template <Function F, Scope S> GMPI_DEVICE bool meet_alone(BlockState &block, const Arguments &a) {
  block.peer.round.of.comm = MPI_Comm{};
  describe<F, S>(a, 0, 1);
  return meet_to_carry(block);
}

/// As far as a collective call comes by its block's first warp; of a grid's, by that of the block
/// that makes it. Returns exchanging where exchange_uncommon() is to follow.
template <Function F, Scope S> GMPI_DEVICE Begun collect_quickly(const Arguments &a) {
  BlockState &block = block_state();
  Round &round = block.peer.round;
  const Way way = round.way;
  if (way == Way::elsewhere)
    return Begun::elsewhere;
  // Where all blocks are there, but have not met for it, they are asked for help.
  if (way == Way::general || (way == Way::all_blocks && block.living_blocks == grid_blocks()))
    return Begun::nothing;
  if (way == Way::by_warp)
    return round.common ? exchange_common<F, S>(a) : Begun::exchanging;
  if (lane_index() == 0)
    begin_number(*round.comm, round);
  return Begun::carrying;
}

} // namespace gmpi::device::peer
