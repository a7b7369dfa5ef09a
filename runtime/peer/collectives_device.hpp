// Collective calls on communicators whose messages kernels carry themselves: in rounds, in each of
// which every rank stores its part into every other's memory and reads what the others have stored
// into its own.
//
// Invariant: a rank begins round n + 1 when all ranks have begun round n, so round n + 2 may take
// round n's memory. Every rank combines the parts in the order of ranks: all get the same bits.
#pragma once

#include "receive_device.hpp"
#include "reduce_device.hpp"

namespace gmpi::device::peer {

/// What a rank does in a collective call; `root`: below 0 where there is none.
GMPI_DEVICE bool sends_part(const Comm &comm, bool broadcast, bool reduces, int root) {
  return reduces || (broadcast && comm.rank == root);
}
GMPI_DEVICE bool receives_parts(const Comm &comm, bool broadcast, bool reduces, int root) {
  return reduces ? root < 0 || comm.rank == root : broadcast && comm.rank != root;
}

/// Of `bytes` bytes at `data`: packets that are eight of them at an address for such.
GMPI_DEVICE std::uint32_t whole_packets(const void *data, std::uint32_t bytes) {
  return (reinterpret_cast<std::uint64_t>(data) & 7) == 0 ? bytes / packet_bytes : 0;
}
GMPI_DEVICE std::uint32_t data_packets(const Round &round) {
  return (round.bytes + packet_bytes - 1) / packet_bytes;
}

/// Packet `p` of this rank's data, of which those before `whole` are as whole_packets() says.
GMPI_DEVICE std::uint64_t load_part(const Round &round, std::uint32_t p, std::uint32_t whole) {
  if (p < whole)
    return reinterpret_cast<const unsigned long long *>(round.in)[p];
  return load_data(round.in + p * packet_bytes, round.bytes - p * packet_bytes);
}

/// Tells the others that this rank has begun the round: the first packet of its part. One thread.
/// (Only a relay wants to know how many follow.)
GMPI_DEVICE void write_hello(const Round &round) {
  const Comm &comm = *round.comm;
  const std::uint32_t follow = round.in != nullptr ? data_packets(round) : 0;
  GMPI_NO_UNROLL
  for (int rank = 0; rank < comm.size; ++rank)
    if (rank != comm.rank)
      store_packet(round_of(comm, round.number, rank, comm.rank), follow, round.number);
}

/// Packets of a part, from number `low` to before `high`.
struct Range {
  std::uint32_t low, high;
};

/// One member's share of writing this rank's data, if it sends any.
GMPI_OUT_OF_LINE void write_part(const Round &round, Range range, std::uint32_t member,
                                 std::uint32_t members) {
  constexpr int at_once = 4;
  if (round.in == nullptr)
    return;
  const Comm &comm = *round.comm;
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
    for (int rank = 0; rank < comm.size; ++rank) {
      if (rank == comm.rank)
        continue;
      std::uint64_t *to = round_of(comm, round.number, rank, comm.rank) + packet_words;
      GMPI_UNROLL
      for (int i = 0; i < at_once; ++i)
        if (std::uint32_t p = first + i * members; p < packets)
          store_packet(to + p * packet_words, values[i], round.number);
    }
  }
}

/// One member's share of combining what the ranks have written, if this one wants it. All have
/// begun the round.
template <class Combine>
GMPI_DEVICE void combine_parts(const Round &round, Range range, std::uint32_t member,
                               std::uint32_t members, Combine combine) {
  constexpr int at_once = 2;
  const Comm &comm = *round.comm;
  const std::uint32_t packets = range.high;
  const std::uint32_t whole_in = whole_packets(round.in, round.bytes);
  const std::uint32_t whole_out = whole_packets(round.out, round.bytes);
  const int first_rank = round.root >= 0 ? round.root : 0;
  const int last_rank = round.root >= 0 ? round.root : comm.size - 1;
  GMPI_NO_UNROLL
  for (std::uint32_t first = range.low + member; first < packets; first += at_once * members) {
    std::uint64_t values[at_once] = {};
    GMPI_NO_UNROLL
    for (int rank = first_rank; rank <= last_rank; ++rank) {
      const bool own = rank == comm.rank;
      const std::uint64_t *from = round_of(comm, round.number, comm.rank, rank) + packet_words;
      Packet loaded[at_once];
      GMPI_UNROLL
      for (int i = 0; i < at_once; ++i) {
        const std::uint32_t p = first + i * members;
        if (p < packets && !own)
          loaded[i] = Packet::load(from + p * packet_words);
      }
      GMPI_UNROLL
      for (int i = 0; i < at_once; ++i) {
        const std::uint32_t p = first + i * members;
        if (p >= packets)
          break;
        std::uint64_t part = own ? load_part(round, p, whole_in)
                             : loaded[i].shows(round.number)
                                 ? loaded[i].data()
                                 : await_packet(from + p * packet_words, round.number);
        values[i] = rank == first_rank ? part : combine(values[i], part);
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
GMPI_OUT_OF_LINE void read_parts(const Round &round, Range range, std::uint32_t member,
                                 std::uint32_t members) {
  if (round.out != nullptr)
    with_reduction(round.reduction, round.datatype,
                   [&](auto combine) { combine_parts(round, range, member, members, combine); });
}

/// What this block does of a round that all blocks of its grid carry: packets of its own.
GMPI_OUT_OF_LINE void share_round(LaunchState &launch, BlockTeam team) {
  const Round &round = launch.round;
  const std::uint32_t block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
  const std::uint32_t packets = data_packets(round);
  const std::uint32_t each = (packets + grid_blocks() - 1) / grid_blocks();
  const std::uint32_t low = each * block < packets ? each * block : packets;
  const Range range{low, packets - low < each ? packets : low + each};
  unsigned member, members;
  team.number(member, members);
  write_part(round, range, member, members);
  read_parts(round, range, member, members);
}

/// Rounds of fewer bytes are not worth the other blocks' attention.
constexpr std::uint32_t shared_round_bytes = 32768;

/// Whether all blocks of the grid carry the round: they are all there.
GMPI_DEVICE bool can_share_round(std::uint32_t bytes) {
  return bytes >= shared_round_bytes && BlockTeam::block().living_blocks == grid_blocks() &&
         grid_blocks() > 1;
}

/// Whether the others begin soon; one thread looks for as long as that takes.
GMPI_OUT_OF_LINE bool begin_soon(const Comm &comm, std::uint32_t round) {
  constexpr int turns = 4096;
  GMPI_NO_UNROLL
  for (int i = 0; i < turns; ++i) {
    if (all_have_begun(comm, round))
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

/// What team.shared().round says. `begun`: this rank's part has been written.
template <class Team>
GMPI_NOINLINE void exchange_parts(Team team, Call call, Comm &comm, bool begun) {
  Round &round = team.shared().round;
  bool shares = false;
  if constexpr (Team::scope == Scope::grid)
    shares = !begun && can_share_round(round.bytes);
  if (team.leads() && !begun) {
    round.number = comm.round = comm.round + 1;
    write_hello(round);
  }
  unsigned member = 0, members = 1;
  team.number(member, members);
  team.sync();
  if (!begun && !shares)
    write_part(round, {0, data_packets(round)}, member, members);
  if (team.leads())
    round.soon = begin_soon(comm, round.number);
  team.sync();
  if (!round.soon) {
    if (team.leads())
      team.shared().wait = {Wait::others,
                            call,
                            &comm,
                            nothing,
                            0,
                            0,
                            round.number,
                            round.root < 0 ? 0 : round.root,
                            0,
                            0,
                            nothing};
    wait_for(team);
  }
  if constexpr (Team::scope == Scope::grid)
    if (shares) {
      LaunchState &launch = *BlockTeam::block().launch;
      if (team.leads())
        launch.round = round;
      team.call_helpers({nullptr, nullptr, 0, 0, 0, GridTask::exchange_round}, GridCommand::copy);
      share_round(launch, BlockTeam{team.leader});
      return team.join_helpers();
    }
  read_parts(round, {0, data_packets(round)}, member, members);
  team.sync();
}

/// `root`: below 0 where there is none. `reduction`: none for MPI_Barrier and MPI_Bcast. `begun`:
/// shared().round tells of the first round, of which this rank's part has been written.
template <class Team>
GMPI_NOINLINE void collective(Team team, Call call, Comm &comm, const void *send_data,
                              void *receive_data, std::uint64_t bytes, int root,
                              Reduction reduction, Number datatype, bool begun) {
  bool broadcast = call.function == Function::Bcast, reduces = reduction != Reduction::none;
  bool sends = sends_part(comm, broadcast, reduces, root);
  bool receives = receives_parts(comm, broadcast, reduces, root);
  auto *in = static_cast<const unsigned char *>(send_data);
  auto *out = static_cast<unsigned char *>(receive_data);
  constexpr bool team_of_many = Team::scope != Scope::thread;
  bool local_in = sends && team_of_many && is_local(in);
  bool local_out = receives && team_of_many && is_local(out);
  Share &shared = team.shared();
  if (team.leads() && !begun) {
    count_call(*context.peer, sends ? bytes : 0);
  }
  std::uint64_t done = 0;
  do {
    std::uint64_t left = bytes - done;
    auto part = static_cast<std::uint32_t>(left < round_bytes ? left : round_bytes);
    if (local_in)
      send_to(team, comm.scratch, in + done, part);
    if (team.leads()) {
      Round &round = shared.round;
      round.comm = &comm;
      round.bytes = part;
      round.root = broadcast ? root : -1;
      round.reduction = reduction;
      round.datatype = datatype;
      round.in = !sends ? nullptr : local_in ? comm.scratch : in + done;
      round.out = !receives ? nullptr : local_out ? comm.scratch + round_bytes : out + done;
    }
    team.sync(); // (all look at what the round says)
    exchange_parts(team, call, comm, begun);
    begun = false;
    if (local_out)
      receive_from(team, out, done, comm.scratch + round_bytes, part, done + part == bytes);
    done += part;
  } while (done < bytes);
}

} // namespace gmpi::device::peer
