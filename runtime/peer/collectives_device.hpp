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

/// The first packet of a part tells that its rank has begun the round; the data follows.
GMPI_OUT_OF_LINE void write_part(const Comm &comm, const Round &round, std::uint32_t member,
                                 std::uint32_t members) {
  constexpr int at_once = 4;
  const std::uint32_t packets =
      round.in == nullptr ? 1 : 1 + (round.bytes + packet_bytes - 1) / packet_bytes;
  GMPI_NO_UNROLL
  for (std::uint32_t first = member; first < packets; first += at_once * members) {
    std::uint64_t values[at_once] = {};
    GMPI_UNROLL
    for (int i = 0; i < at_once; ++i)
      if (std::uint32_t p = first + i * members; p != 0 && p < packets)
        values[i] =
            load_data(round.in + (p - 1) * packet_bytes, round.bytes - (p - 1) * packet_bytes);
    GMPI_NO_UNROLL
    for (int rank = 0; rank < comm.size; ++rank) {
      if (rank == comm.rank)
        continue;
      std::uint64_t *to = round_of(comm, round.number, rank, comm.rank);
      GMPI_UNROLL
      for (int i = 0; i < at_once; ++i)
        if (std::uint32_t p = first + i * members; p < packets)
          store_packet(to + p * packet_words, values[i], round.number);
    }
  }
}

GMPI_OUT_OF_LINE void read_parts(const Comm &comm, const Round &round, std::uint32_t member,
                                 std::uint32_t members) {
  constexpr int at_once = 2;
  const std::uint32_t packets = (round.bytes + packet_bytes - 1) / packet_bytes;
  GMPI_NO_UNROLL
  for (std::uint32_t first = member; first < packets; first += at_once * members) {
    std::uint64_t values[at_once] = {};
    bool none = true;
    GMPI_NO_UNROLL
    for (int rank = 0; rank < comm.size; ++rank) {
      if (round.root >= 0 && rank != round.root)
        continue;
      const bool own = rank == comm.rank;
      const std::uint64_t *from = round_of(comm, round.number, comm.rank, rank) + packet_words;
      Packet loaded[at_once];
      GMPI_UNROLL
      for (int i = 0; i < at_once; ++i)
        if (std::uint32_t p = first + i * members; p < packets && !own)
          loaded[i] = Packet::load(from + p * packet_words);
      GMPI_UNROLL
      for (int i = 0; i < at_once; ++i) {
        std::uint32_t p = first + i * members, at = p * packet_bytes;
        if (p >= packets)
          break;
        std::uint64_t part = own ? load_data(round.in + at, round.bytes - at)
                             : loaded[i].shows(round.number)
                                 ? loaded[i].data()
                                 : await_packet(from + p * packet_words, round.number);
        values[i] = none ? part : reduce(round.reduction, round.datatype, values[i], part);
      }
      none = false;
    }
    GMPI_UNROLL
    for (int i = 0; i < at_once; ++i)
      if (std::uint32_t p = first + i * members; p < packets && round.out != nullptr)
        store_data(round.out + p * packet_bytes, round.bytes - p * packet_bytes, values[i]);
  }
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
  if (team.leads() && !begun)
    round.number = comm.round = comm.round + 1;
  unsigned member = 0, members = 1;
  team.number(member, members);
  team.sync();
  if (!begun)
    write_part(comm, round, member, members);
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
  read_parts(comm, round, member, members);
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
      round.bytes = part;
      round.root = broadcast ? root : -1;
      round.reduction = reduction;
      round.datatype = datatype;
      round.in = !sends ? nullptr : local_in ? comm.scratch : in + done;
      round.out = !receives ? nullptr : local_out ? comm.scratch + round_bytes : out + done;
    }
    exchange_parts(team, call, comm, begun);
    begun = false;
    if (local_out)
      receive_from(team, out, done, comm.scratch + round_bytes, part, done + part == bytes);
    done += part;
  } while (done < bytes);
}

} // namespace gmpi::device::peer
