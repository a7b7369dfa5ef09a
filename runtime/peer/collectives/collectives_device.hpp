// Collective calls on communicators whose messages kernels carry themselves: in rounds, in each of
// which every rank stores its part into every other's memory and reads what the others have stored
// into its own.
//
// Invariant: a rank begins a call's only round n + 1 when all ranks have begun round n, so round
// n + 2 may take round n's memory. (For calls of several see long_collectives_device.hpp.) Every
// rank combines the parts in the order of ranks: all get the same bits.
#pragma once

#include "long_collectives_device.hpp"

namespace gmpi::device::peer {

/// What a rank does in a collective call; `root`: below 0 where there is none.
GMPI_DEVICE bool sends_part(int rank, bool broadcast, bool reduces, int root) {
  return reduces || (broadcast && rank == root);
}
GMPI_DEVICE bool receives_parts(int rank, bool broadcast, bool reduces, int root) {
  return reduces ? root < 0 || rank == root : broadcast && rank != root;
}

/// Of `bytes` bytes at `data`: packets that are eight of them at an address for such.
GMPI_DEVICE std::uint32_t whole_packets(const void *data, std::uint32_t bytes) {
  return (reinterpret_cast<std::uint64_t>(data) & 7) == 0 ? bytes / packet_bytes : 0;
}

/// Packet `p` of this rank's data, of which those before `whole` are as whole_packets() says.
GMPI_DEVICE std::uint64_t load_part(const Round &round, std::uint32_t p, std::uint32_t whole) {
  if (p < whole)
    return reinterpret_cast<const unsigned long long *>(round.in)[p];
  return load_data(round.in + p * packet_bytes, round.bytes - p * packet_bytes);
}

/// Tells the other ranks that this one has begun the round, and how many packets follow.
GMPI_DEVICE void write_hello(const Round &round) {
  say_hello(round, round.number, round.in != nullptr ? data_packets(round) : 0);
}

/// Packets of a part, from number `low` to before `high`.
struct Range {
  std::uint32_t low, high;
};

/// One member's share of writing this rank's data, if it sends any.
GMPI_DEVICE void write_range(const Round &round, Range range, std::uint32_t member,
                             std::uint32_t members) {
  constexpr int at_once = 4;
  if (round.in == nullptr)
    return;
  const std::uint32_t packets = range.high, whole = whole_packets(round.in, round.bytes);
  GMPI_NO_UNROLL
  for (std::uint32_t first = range.low + member; first < packets; first += at_once * members) {
    std::uint64_t values[at_once] = {};
    GMPI_UNROLL
    for (int i = 0; i < at_once; ++i) {
      const std::uint32_t p = first + i * members;
      if (p < packets)
        values[i] = load_part(round, p, whole);
    }
    GMPI_NO_UNROLL
    for (int rank = 0; rank < round.size; ++rank) {
      if (rank == round.rank)
        continue;
      std::uint64_t *to = part_at(round, rank, round.rank) + packet_words;
      GMPI_UNROLL
      for (int i = 0; i < at_once; ++i)
        if (std::uint32_t p = first + i * members; p < packets)
          store_packet(to + p * packet_words, values[i], round.number);
    }
  }
}
GMPI_OUT_OF_LINE void write_part(const Round &round, Range range, std::uint32_t member,
                                 std::uint32_t members) {
  write_range(round, range, member, members);
}

/// One member's share of combining what the ranks have written, if this one wants it, so many
/// packets at a time. All have begun the round.
template <int at_once, class Combine>
GMPI_DEVICE void combine_parts(const Round &round, Range range, std::uint32_t member,
                               std::uint32_t members, Combine combine) {
  const std::uint32_t packets = range.high, number = round.number;
  const std::uint32_t whole_in = whole_packets(round.in, round.bytes);
  const std::uint32_t whole_out = whole_packets(round.out, round.bytes);
  const int first_rank = round.root >= 0 ? round.root : 0;
  const int last_rank = round.root >= 0 ? round.root : round.size - 1;
  const auto place = [&](int rank, std::uint32_t p) {
    return part_at(round, round.rank, rank) + (1 + p) * packet_words;
  };
  constexpr int ranks = ranks_at_once / at_once;
  GMPI_NO_UNROLL
  for (std::uint32_t first = range.low + member; first < packets; first += at_once * members) {
    std::uint64_t values[at_once] = {}, own[at_once] = {};
    if (round.in != nullptr) {
      GMPI_UNROLL
      for (int i = 0; i < at_once; ++i)
        if (const std::uint32_t p = first + i * members; p < packets)
          own[i] = load_part(round, p, whole_in);
    }
    GMPI_NO_UNROLL
    for (int base = first_rank; base <= last_rank; base += ranks) {
      Packet loaded[ranks * at_once];
      GMPI_UNROLL
      for (int k = 0; k < ranks * at_once; ++k) { // (all are under way at once: without a branch)
        const std::uint32_t p = first + k % at_once * members;
        const int rank = base + k / at_once;
        loaded[k] =
            Packet::load_if(p < packets && rank <= last_rank && rank != round.rank, place(rank, p));
      }
      GMPI_UNROLL
      for (int k = 0; k < ranks * at_once; ++k) {
        const std::uint32_t p = first + k % at_once * members;
        const int rank = base + k / at_once;
        if (p >= packets || rank > last_rank)
          continue;
        const std::uint64_t part = rank == round.rank        ? own[k % at_once]
                                   : loaded[k].shows(number) ? loaded[k].data()
                                                             : await_packet(place(rank, p), number);
        std::uint64_t &value = values[k % at_once];
        value = rank == first_rank ? part : combine(value, part);
      }
    }
    GMPI_UNROLL
    for (int i = 0; i < at_once; ++i) {
      const std::uint32_t p = first + i * members;
      if (p >= packets)
        break;
      if (p < whole_out)
        reinterpret_cast<unsigned long long *>(round.out)[p] = values[i];
      else
        store_data(round.out + p * packet_bytes, round.bytes - p * packet_bytes, values[i]);
    }
  }
}
template <bool common, int at_once>
GMPI_DEVICE void read_range(const Round &round, Range range, std::uint32_t member,
                            std::uint32_t members) {
  if (round.out != nullptr)
    combine_parts<at_once>(round, range, member, members,
                           Combine<common>{round.reduction, round.datatype});
}

GMPI_OUT_OF_LINE void read_parts(const Round &round, Range range, std::uint32_t member,
                                 std::uint32_t members) {
  round.common ? read_range<true, 2>(round, range, member, members)
               : read_range<false, 2>(round, range, member, members);
}

/// The packets that are this block's: each thread carries some.
GMPI_DEVICE Range share_of_block(const Round &round) {
  const std::uint32_t packets = data_packets(round);
  const CarryingBlocks blocks(round, packets, block_threads());
  if (blocks.spare_this)
    return {0, 0};
  const std::uint32_t each = (packets + blocks.count - 1) / blocks.count;
  const std::uint32_t low = each * blocks.index < packets ? each * blocks.index : packets;
  return {low, packets - low < each ? packets : low + each};
}
GMPI_DEVICE Range range_of_block(const Round &round) {
  return round.shared ? share_of_block(round) : Range{0, data_packets(round)};
}

/// What this block writes, and reads, of a round that all blocks of its grid carry: the one that
/// makes the call sees to what that waits for, this one only to its packets.
GMPI_OUT_OF_LINE void share_writing(const Round &round, BlockTeam team) {
  unsigned member, members;
  team.number(member, members);
  write_part(round, range_of_block(round), member, members);
}
GMPI_OUT_OF_LINE void share_round(const Round &round, BlockTeam team) {
  const Range range = range_of_block(round);
  unsigned member, members;
  team.number(member, members);
  write_part(round, range, member, members);
  read_parts(round, range, member, members);
}

/// As much as one warp carries with a packet in each lane. What is longer is worth all blocks'
/// attention.
constexpr std::uint32_t warp_round_bytes = 31 * packet_bytes;

/// Whether the others begin soon; one thread looks for as long as that takes.
GMPI_DEVICE bool begin_soon(const Round &round) {
  constexpr int turns = 4096;
  GMPI_NO_UNROLL
  for (int i = 0; i < turns; ++i) {
    if (all_have_begun(round))
      return true;
    if (i % 64 == 63) {
      Summary summary = look(*context.peer);
      if ((summary.active | summary.posted) != 0)
        return false;
    }
    relax();
  }
  return false;
}

/// Whether all ranks run on this host.
GMPI_DEVICE bool is_near(const Comm &comm) {
  const int other = comm.rank == 0 ? comm.size - 1 : 0;
  return comm.size == 1 || comm.rounds[other] != comm.rounds[comm.rank];
}
/// What the round's members need of the communicator; a warp, or one thread.
GMPI_DEVICE void note_comm(Round &round, Comm &comm, std::uint32_t lane, std::uint32_t lanes) {
  for (std::uint32_t i = lane; i < Round::near_ranks; i += lanes)
    round.memory[i] = comm.rounds[i];
  if (lane != 0)
    return;
  round.comm = &comm;
  round.rank = comm.rank;
  round.size = comm.size;
  round.near = is_near(comm);
}

/// Has the other blocks carry their packets of a round that is worth it; one thread, of the block
/// that makes a grid's call.
GMPI_DEVICE void share_if_long(Round &round) {
  BlockState &block = BlockTeam::block();
  if (round.bytes <= warp_round_bytes || grid_blocks() == 1 || block.living_blocks != grid_blocks())
    return;
  round.shared = true;
  block.launch->round = round;
  GridTeam::command_helpers({0, 0, 0, GridTask::exchange_round}, GridCommand::copy);
}

/// What team.shared().round says. `begun`: this rank's part has been written, and the others have
/// been looked for.
template <class Team>
GMPI_NOINLINE void exchange_parts(Team team, Call call, Comm &comm, bool begun) {
  Round &round = team.shared().round;
  if (team.leads() && !begun) {
    begin_number(comm, round);
    if constexpr (Team::scope == Scope::grid)
      share_if_long(round);
    write_hello(round);
  }
  unsigned member = 0, members = 1;
  team.number(member, members);
  team.sync();
  const Range range = range_of_block(round);
  if (!begun) {
    write_part(round, range, member, members);
    if (team.leads())
      round.soon = begin_soon(round);
    team.sync();
  }
  if (!round.soon) {
    if (team.leads())
      team.shared().wait = wait_for_begin(call, comm, round);
    if constexpr (Team::scope == Scope::grid)
      round.shared ? wait_for(BlockTeam{team.leader}) : wait_for(team);
    else
      wait_for(team);
  }
  read_parts(round, range, member, members);
  team.sync();
  if constexpr (Team::scope == Scope::grid)
    if (round.shared)
      begun ? leave_helpers(team) : team.join_helpers();
}

/// `root`: below 0 where there is none. `reduction`: none for MPI_Barrier and MPI_Bcast. `begun`:
/// shared().round tells of the call, and of this rank's part has been written what can be while the
/// others have not begun. What lies in local memory goes by way of comm.scratch, a round, or a
/// round's whole pieces, at a time.
template <class Team>
GMPI_NOINLINE void collective(Team team, Call call, Comm &comm, const void *send_data,
                              void *receive_data, std::uint64_t bytes, int root,
                              Reduction reduction, Number datatype, bool begun) {
  bool broadcast = call.function == Function::Bcast, reduces = reduction != Reduction::none;
  bool sends = sends_part(comm.rank, broadcast, reduces, root);
  bool receives = receives_parts(comm.rank, broadcast, reduces, root);
  auto *in = static_cast<const unsigned char *>(send_data);
  auto *out = static_cast<unsigned char *>(receive_data);
  constexpr bool team_of_many = Team::scope != Scope::thread;
  bool local_in = sends && team_of_many && is_local(in);
  bool local_out = receives && team_of_many && is_local(out);
  Share &shared = team.shared();
  if (team.leads() && !begun) {
    count_call(*context.peer, sends ? bytes : 0);
  }
  const bool several = bytes > round_bytes, in_pieces = several && is_near(comm);
  constexpr std::uint32_t whole_pieces = round_bytes / bundle_bytes * bundle_bytes;
  const std::uint64_t most = !local_in && !local_out ? bytes
                             : in_pieces             ? whole_pieces
                                                     : round_bytes;
  std::uint64_t done = 0;
  do {
    const std::uint64_t left = bytes - done;
    const std::uint64_t part = left < most ? left : most;
    if (local_in)
      send_to(team, comm.scratch, in + done, part);
    if (team.leads()) {
      Round &round = shared.round;
      if (!begun)
        note_comm(round, comm, 0, 1);
      round.of.comm = MPI_Comm{};
      round.bytes = static_cast<std::uint32_t>(part); // where that is all
      round.length = in_pieces ? bytes : part;
      round.low = in_pieces ? static_cast<std::uint32_t>(done / bundle_bytes) : 0;
      round.high = pieces_of(done + part);
      round.root = broadcast ? root : -1;
      round.wants = broadcast ? -1 : root;
      round.reduction = reduction;
      round.datatype = datatype;
      round.common = is_common(reduction, datatype);
      round.in = !sends ? nullptr : local_in ? comm.scratch : in + done;
      round.out = !receives ? nullptr : local_out ? comm.scratch + round_bytes : out + done;
    }
    team.sync(); // (all look at what the round says)
    several ? exchange_rounds(team, call, comm, begun) : exchange_parts(team, call, comm, begun);
    if (local_out)
      receive_from(team, out, done, comm.scratch + round_bytes, part, done + part == bytes);
    done += part;
  } while (done < bytes);
}

} // namespace gmpi::device::peer
