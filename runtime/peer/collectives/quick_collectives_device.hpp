// The quick way of collective calls: a block's first warp, whole, decides, and carries what is
// short; else all of the block do or, of a grid's call, all of its blocks, each some of the
// packets.
//
// Invariant: what a round is, every block finds for itself while it arrives (block.peer.round). The
// block that makes a grid's call chooses the way, and the first round's number. (What the last one
// was, a block that comes last may have looked up while it arrived.) Where nothing of a round comes
// to memory that blocks share, it tells the others that number, and each waits for the packets by
// itself: Comm::unread says how many have not read them. Where all blocks carry the call, it alone
// looks whether the other ranks come soon; the others wait for their packets, and for all blocks.
#pragma once

#include "../quick/quick_device.hpp"

namespace gmpi::device::peer {

/// Whether each of a grid's blocks may wait for a round by itself: none of what it brings lies
/// where all find it. (What crosses hosts comes by the host's memory: one block looks there.)
GMPI_DEVICE bool may_be_awaited_by_each(const Round &round) {
  return (round.out == nullptr || is_local(round.out)) && round.near && round.size > 1;
}
/// Has the other blocks of the grid wait for the round that has been begun. One thread.
GMPI_DEVICE void let_others_await(BlockState &block, const Round &round) {
  Comm &comm = *round.comm;
  if (round.out != nullptr)
    increase_relaxed_device(&comm.unread, block.living_blocks - 1);
  let_await(block, round.number);
}

/// What this block has awaited by itself is there, and read: that round's. One thread.
GMPI_DEVICE void end_awaited(BlockState &block, std::uint32_t number) {
  Round &round = block.peer.round;
  note_number(round, number);
  block.peer.result.bytes = round.out != nullptr ? round.bytes : 0;
  if (round.out != nullptr)
    increase_relaxed_device(&round.comm->unread, ~0u);
}

/// Waits for the parts of a round that another block of the grid has begun, each lane for a packet,
/// and leaves what comes of them, if this rank wants it, in block.small. A warp, whole; or one
/// thread.
template <Function F> GMPI_DEVICE Begun await_round(std::uint32_t lane, std::uint32_t lanes) {
  constexpr bool reduces = F == Function::Reduce || F == Function::Allreduce;
  constexpr unsigned patience = 4096;
  BlockState &block = block_state();
  Round &round = block.peer.round;
  const auto number = static_cast<std::uint32_t>(block.result.error); // as it has been told
  const bool receives = F != Function::Barrier && round.out != nullptr;
  const int size = round.size, rank = round.rank;
  const std::uint32_t bytes = round.bytes;
  const bool common = round.common;
  std::uint64_t *const mine = memory_of(round, rank);
  const auto place = [&](int from, std::uint32_t packet) {
    return part_of_round(mine, number, size, from) + packet * packet_words;
  };
  // `its`: as it has been loaded.
  const auto await = [&](const std::uint64_t *from, bool is_hello, Packet its) {
    // (Where there is but a hello to wait for, a later one may have taken its place.)
    GMPI_NO_UNROLL
    for (unsigned turns = 0; !(is_hello ? its.shows_since(number) : its.shows(number)); ++turns) {
      turns < patience ? relax() : doze();
      its = Packet::load(from);
    }
    return its.data();
  };
  // All have begun it, also those that send no data. (All that is loaded is under way at once.)
  const bool all_send = reduces && receives && bytes != 0;
  const int first_from = static_cast<int>(lane);
  const Packet first_hello = Packet::load(place(first_from < size ? first_from : 0, 0));
  if (receives) {
    const int first = reduces ? 0 : round.root, last = reduces ? size - 1 : round.root;
    GMPI_NO_UNROLL
    for (std::uint32_t at = lane * packet_bytes; at < bytes; at += lanes * packet_bytes) {
      const std::uint32_t packet = 1 + at / packet_bytes;
      std::uint64_t value = 0;
      GMPI_NO_UNROLL
      for (int base = first; base <= last; base += ranks_at_once) {
        Packet parts[ranks_at_once];
        load_of_ranks(parts, base, last, [&](int from) { return place(from, packet); });
        GMPI_UNROLL
        for (int i = 0; i < ranks_at_once; ++i) {
          const int from = base + i;
          if (from > last)
            break;
          const std::uint64_t part = await(place(from, packet), false, parts[i]);
          value = from == first ? part
                  : common      ? reduce_common(round.reduction, round.datatype, value, part)
                                : reduce(round.reduction, round.datatype, value, part);
        }
      }
      own_words(block)[at / packet_bytes] = value;
    }
  }
  if (!all_send)
    GMPI_NO_UNROLL
  for (int from = first_from; from < size; from += static_cast<int>(lanes))
    if (from != rank) {
      const std::uint64_t *const at = place(from, 0);
      await(at, true, from == first_from ? first_hello : Packet::load(at));
    }
  if (lanes > 1)
    __syncwarp();
  if (lane == 0)
    end_awaited(block, number);
  return receives ? Begun::answered : Begun::over;
}

/// Where a call's data lies.
template <Function F> GMPI_DEVICE Buffers places_of(const Arguments &a) {
  return buffers_of(F, a, [](int, MPI_Datatype) { return std::uint64_t(0); });
}

// --- a round that a warp carries ---

/// Whether a block that has begun a round has waited for it for long enough, so many turns so far,
/// or has other things to see to. A warp, whole.
GMPI_DEVICE bool others_are_late(unsigned turns, unsigned patience) {
  bool stop = turns >= patience;
  if (lane_index() == 0 && turns % 64 == 63) {
    const Summary summary = look(*context.peer);
    stop = stop || (summary.active | summary.posted) != 0;
  }
  return __any_sync(whole_warp, stop);
}

/// What a warp has found out before it begins a round.
struct Start {
  std::uint32_t number; ///< the communicator's last round's
  std::uint32_t unread; ///< of that: see Comm
  bool holds;           ///< none has been begun since
  std::uint64_t own;    ///< of this rank's data, what this lane's packet carries
};

/// Carries a round, with a packet in each lane. Leaves it to the general way, begun, where the
/// others do not come soon. `by_each`: the grid's other blocks wait for it by themselves. A warp,
/// whole.
template <Function F, Scope S, class Combine>
GMPI_DEVICE Begun exchange_as_warp(const Start &start, void *out, bool by_each, Combine combine) {
  constexpr bool reduces = F == Function::Reduce || F == Function::Allreduce;
  constexpr bool has_data = F != Function::Barrier;
  constexpr unsigned patience = 4096;
  State &state = *context.peer;
  BlockState &block = block_state();
  Round &round = block.peer.round;
  const std::uint32_t lane = lane_index();
  const std::uint32_t bytes = has_data ? round.bytes : 0;
  const std::uint32_t packets = 1 + (bytes + packet_bytes - 1) / packet_bytes;
  const bool sends = has_data && round.in != nullptr, receives = has_data && round.out != nullptr;
  const int rank = round.rank, size = round.size, root = round.root;
  std::uint64_t *const mine = memory_of(round, rank);
  std::uint32_t *const last = &round.comm->round.its.number;
  std::uint32_t number = start.number, before = number; // `before`: as the communicator says
  if (S == Scope::grid && by_each) { // others may go on to calls of their own: they find it there
    before = lane == 0 ? add_in_flight_device(last, 1) : 0;
    if (!start.holds)
      number = of_lane(before, 0);
  }
  ++number;
  await_readers(*round.comm, start.unread);
  __syncwarp();
  const std::uint64_t own = lane == 0 && sends ? packets - 1 : start.own; // as write_hello() says
  const int not_to = by_each && reduces ? -1 : rank; // the other blocks find it in its own place
  if constexpr (has_data) {
    if (lane < (sends ? packets : 1))
      GMPI_NO_UNROLL
    for (int to = 0; to < size; ++to)
      if (to != not_to)
        store_packet(part_of_round(memory_of(round, to), number, size, rank) + lane * packet_words,
                     own, number);
  } else {
    say_hello(round, number, 0, lane, 32);
  }
  if (lane == 0) {
    note_number(round, number);
    if (by_each)
      let_others_await(block, round);
    else
      store_relaxed_device(last, number);
    count_call(state, sends ? bytes : 0);
  }
  const auto is_others = [&] { // another has begun a round since, as none can
    return lane == 0 && start.holds && before + 1 != number;
  };
  std::uint64_t value = 0;
  const std::uint32_t packet = lane < packets ? lane : 0;
  const auto place = [&](int from) {
    return part_of_round(mine, number, size, from) + packet * packet_words;
  };
  GMPI_NO_UNROLL
  for (int base = 0; base < size; base += has_data ? ranks_at_once : 32) {
    Packet parts[ranks_at_once];
    GMPI_NO_UNROLL
    for (unsigned turns = 0;; ++turns) {
      bool there = true;
      if constexpr (has_data) {
        load_of_ranks(parts, base, size - 1, place);
        GMPI_UNROLL
        for (int i = 0; i < ranks_at_once; ++i) {
          const int from = base + i;
          const std::uint32_t wanted = reduces || from == root ? packets : 1;
          const bool waits = from < size && from != rank && lane < wanted;
          there = there & (!waits | parts[i].shows(number));
        }
      } else { // each lane another rank's
        const int from = base + static_cast<int>(lane);
        const bool waits = from < size && from != rank;
        there = !waits |
                Packet::load(part_of_round(mine, number, size, waits ? from : 0)).shows(number);
      }
      if (__all_sync(whole_warp, there))
        break;
      if (others_are_late(turns, patience)) {
        if (is_others())
          __trap();
        if (lane == 0)
          round.soon = false;
        return Begun::sending;
      }
      if (lane == 0)
        relax();
    }
    if constexpr (has_data) {
      GMPI_UNROLL
      for (int i = 0; i < ranks_at_once; ++i) {
        const int from = base + i;
        if (from >= size)
          break;
        const std::uint64_t part = from == rank ? own : parts[i].data();
        if constexpr (reduces)
          value = from == 0 ? part : combine(value, part);
        else if (from == root)
          value = part;
      }
    }
  }
  const std::uint32_t received = receives ? bytes : 0;
  store_lane<S>(out, received, lane, 1, value);
  __syncwarp();
  if (lane == 0) {
    block.peer.result.bytes = received;
    if (S != Scope::grid || !by_each) {
      prepare_end<S>();
      tell_end_of_call<S>();
    }
    if (is_others())
      __trap();
  }
  return receives && is_local(out) ? Begun::answered : Begun::over;
}

/// The same of a call for which nothing has been found out yet.
template <Function F, Scope S, class Combine>
GMPI_DEVICE Begun exchange_quickly(const Arguments &a, Combine combine) {
  const BlockState &block = block_state();
  const Round &round = block.peer.round;
  const Buffers places = places_of<F>(a);
  const bool by_each = S == Scope::grid && round.by_each && block.living_blocks > 1;
  Start start{}; // (what is loaded here needs nothing of each other)
  start.unread = load_relaxed_device(&round.comm->unread);
  start.number = load_relaxed_device(&round.comm->round.its.number);
  start.own = round.in != nullptr ? load_lane(places.in, round.bytes, lane_index(), 1) : 0;
  return exchange_as_warp<F, S>(start, places.out, by_each, combine);
}
template <Function F, Scope S> GMPI_DEVICE Begun exchange_common(const Arguments &a) {
  const Round &round = block_state().peer.round;
  return exchange_quickly<F, S>(a, Combine<true>{round.reduction, round.datatype});
}
template <Function F, Scope S> GMPI_DEVICE Begun exchange_uncommon(const Arguments &a) {
  const Round &round = block_state().peer.round;
  return exchange_quickly<F, S>(a, Combine<false>{round.reduction, round.datatype});
}

template <Scope S> GMPI_DEVICE Way way_of(const Buffers &buffers) {
  if (!has_room(buffers.out, buffers.out_bytes, warp_round_bytes))
    return Way::general;
  if (buffers.in_bytes <= warp_round_bytes)
    return Way::by_warp;
  if (is_local(buffers.in) || is_local(buffers.out))
    return Way::general;
  return S == Scope::grid && grid_blocks() > 1 ? Way::all_blocks : Way::by_block;
}

/// Ends a call that its block has carried its share of, behind a barrier: `shared`, when all blocks
/// have.
template <Scope S> GMPI_DEVICE Begun end_carried(BlockState &block, bool shared) {
  if (thread_index() == 0) {
    if (shared) {
      meet_blocks(block);
      end_met_rounds(block);
    } else {
      prepare_end<S>();
      tell_end_of_call<S>();
    }
  }
  if (shared)
    __syncthreads();
  return Begun::over;
}

/// Whether the other ranks begin the round soon, as the block that makes the call finds out. All of
/// it.
GMPI_DEVICE bool others_come_soon(Round &round, std::uint32_t member) {
  if (member == 0)
    round.soon = begin_soon(round);
  __syncthreads();
  return round.soon;
}

/// What this block carries of its round, behind a barrier; `shared`: all blocks of a grid do;
/// `common`: as is_common() says. Returns over, or sending where the other ranks do not come soon.
template <Scope S, bool shared, bool common> GMPI_DEVICE Begun carry_round() {
  BlockState &block = block_state();
  Round &round = block.peer.round;
  const std::uint32_t member = thread_index(), members = block_threads();
  const bool leads = !shared || block.command == GridCommand::lead;
  const Range range = shared ? share_of_block(round) : Range{0, data_packets(round)};
  if (leads && member == members - 1) {
    write_hello(round);
    count_call(*context.peer, round.in != nullptr ? round.bytes : 0);
  }
  write_range(round, range, member, members);
  if (leads && !others_come_soon(round, member))
    return Begun::sending;
  shared ? read_range<common, 1>(round, range, member, members)
         : read_range<common, 2>(round, range, member, members);
  __syncthreads();
  return end_carried<S>(block, shared);
}

/// The same of a call in pieces; `shared`: all blocks of a grid carry it.
template <Scope S, bool shared, bool common> GMPI_DEVICE Begun carry_rounds() {
  BlockState &block = block_state();
  Round &round = block.peer.round;
  const std::uint32_t member = thread_index();
  const bool leads = !shared || block.command == GridCommand::lead;
  if (leads && member == block_threads() - 1) {
    begin_long(round);
    count_call(*context.peer, round.in != nullptr ? round.length : 0);
  }
  const Carrier carrier = carrier_in(BlockTeam{member == 0});
  send_first_parts_of(round, carrier);
  if (leads && !others_come_soon(round, member))
    return Begun::sending;
  carry_pieces_of<common>(round, carrier);
  __syncthreads();
  return end_carried<S>(block, shared);
}

/// Finds out what this rank's part in a collective call is, and how it goes. A warp, whole, or one
/// thread. It needs nothing of other blocks.
template <Function F, Scope S>
GMPI_DEVICE void describe(const Arguments &a, std::uint32_t lane, std::uint32_t lanes) {
  Round &round = block_state().peer.round;
  const Buffers buffers = buffers_of(F, a, message_bytes);
  Comm *comm = find_comm(a.comm);
  const bool ours = comm != nullptr && takes<F>(*comm, a, buffers);
  if (ours)
    describe_round<F>(*comm, a, buffers, round, lane, lanes);
  if (lane == 0) {
    round.way = !ours                           ? Way::elsewhere
                : is_long(round) && !round.near ? Way::general
                                                : way_of<S>(buffers);
    round.by_each = S == Scope::grid && ours && may_be_awaited_by_each(round);
    round.short_near = ours && round.near && round.bytes <= packet_bytes &&
                       round.size <= static_cast<int>(Round::near_ranks);
  }
}

} // namespace gmpi::device::peer
