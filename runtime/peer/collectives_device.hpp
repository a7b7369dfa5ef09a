// Collective calls on communicators whose messages kernels carry themselves: in rounds, in each of
// which every rank stores its part into every other's memory and reads what the others have stored
// into its own.
//
// Invariant: a rank begins round n + 1 when all ranks have begun round n, so round n + 2 may take
// round n's memory. Every rank combines the parts in the order of ranks: all get the same bits.
#pragma once

#include "call_device.hpp"

namespace gmpi::device::peer {

/// The first packet of a part tells that its rank has begun the round; the data follows.
GMPI_OUT_OF_LINE void write_part(const Comm &comm, const Round &round, std::uint32_t member,
                                 std::uint32_t members) {
  std::uint32_t packets =
      round.in == nullptr ? 1 : 1 + (round.bytes + packet_bytes - 1) / packet_bytes;
  GMPI_NO_UNROLL
  for (std::uint32_t p = member; p < packets; p += members) {
    std::uint32_t at = (p - 1) * packet_bytes;
    std::uint64_t value = p == 0 ? 0 : load_data(round.in + at, round.bytes - at);
    GMPI_NO_UNROLL
    for (int rank = 0; rank < comm.size; ++rank)
      if (rank != comm.rank)
        store_packet(round_of(comm, round.number, rank, comm.rank) + p * packet_words, value,
                     round.number);
  }
}

GMPI_OUT_OF_LINE void read_parts(const Comm &comm, const Round &round, std::uint32_t member,
                                 std::uint32_t members) {
  std::uint32_t packets = (round.bytes + packet_bytes - 1) / packet_bytes;
  GMPI_NO_UNROLL
  for (std::uint32_t p = member; p < packets; p += members) {
    std::uint32_t at = p * packet_bytes;
    std::uint64_t value = 0;
    bool first = true;
    GMPI_NO_UNROLL
    for (int rank = 0; rank < comm.size; ++rank) {
      if (round.root >= 0 && rank != round.root)
        continue;
      std::uint64_t part =
          rank == comm.rank
              ? load_data(round.in + at, round.bytes - at)
              : await_packet(round_of(comm, round.number, comm.rank, rank) + (p + 1) * packet_words,
                             round.number);
      value = first ? part
                    : reduce(static_cast<Reduction>(round.reduction), round.datatype, value, part);
      first = false;
    }
    if (round.out != nullptr)
      store_data(round.out + at, round.bytes - at, value);
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

/// What team.shared().round says.
template <class Team> GMPI_NOINLINE void exchange_parts(Team team, Call call, Comm &comm) {
  Round &round = team.shared().round;
  if (team.leads())
    round.number = comm.round = comm.round + 1;
  unsigned member = 0, members = 1;
  team.number(member, members);
  team.sync();
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
    unseen (&wait_for<Team>)(team);
  }
  read_parts(comm, round, member, members);
  team.sync();
}

/// `root`: below 0 where there is none. `reduction`: none for MPI_Barrier and MPI_Bcast.
template <class Team>
GMPI_NOINLINE void collective(Team team, Call call, Comm &comm, const void *send_data,
                              void *receive_data, std::uint64_t bytes, int root,
                              Reduction reduction, Number datatype) {
  bool broadcast = call.function == Function::Bcast, reduces = reduction != Reduction::none;
  bool sends = reduces || (broadcast && comm.rank == root);
  bool receives = reduces ? root < 0 || comm.rank == root : broadcast && comm.rank != root;
  auto *in = static_cast<const unsigned char *>(send_data);
  auto *out = static_cast<unsigned char *>(receive_data);
  constexpr bool team_of_many = Team::scope != Scope::thread;
  bool local_in = sends && team_of_many && is_local(in);
  bool local_out = receives && team_of_many && is_local(out);
  Share &shared = team.shared();
  if (team.leads()) {
    atomicAdd(&context.peer->calls, 1ull);
    atomicAdd(&context.peer->bytes, sends ? bytes : 0ull);
  }
  std::uint64_t done = 0;
  do {
    std::uint64_t left = bytes - done;
    auto part = static_cast<std::uint32_t>(left < round_bytes ? left : round_bytes);
    if (local_in)
      unseen (&send_to<Team>)(team, comm.scratch, in + done, part);
    if (team.leads()) {
      Round &round = shared.round;
      round.bytes = part;
      round.root = broadcast ? root : -1;
      round.reduction = static_cast<std::uint32_t>(reduction);
      round.datatype = datatype;
      round.in = !sends ? nullptr : local_in ? comm.scratch : in + done;
      round.out = !receives ? nullptr : local_out ? comm.scratch + round_bytes : out + done;
    }
    unseen (&exchange_parts<Team>)(team, call, comm);
    if (local_out)
      unseen (&receive_from<Team>)(team, out, done, comm.scratch + round_bytes, part,
                                   done + part == bytes);
    done += part;
  } while (done < bytes);
}

} // namespace gmpi::device::peer
