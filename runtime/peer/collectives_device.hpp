// Collective calls on communicators whose messages kernels carry themselves: in rounds, in each of which
// every rank stores its part into every other's memory and reads what the others have stored into its own.
//
// Invariant: a rank begins round n + 1 when all ranks have begun round n, so round n + 2 may take round
// n's memory. Every rank combines the parts in the order of ranks: all get the same bits.
#pragma once

#include "call_device.hpp"

namespace gmpi::device::peer {

/// One rank's part in a round.
struct Round {
  std::uint32_t number;
  const unsigned char *in; ///< null: nothing but that it has begun
  unsigned char *out;      ///< null: the result is not wanted
  std::uint32_t bytes;
  int root;                ///< of MPI_Bcast: the only part; else below 0
  Reduction reduction;
  Number datatype;
};

/// The first packet of a part tells that its rank has begun the round; the data follows.
GMPI_OUT_OF_LINE void write_part(const Comm &comm, const Round &round, std::uint32_t member,
                                 std::uint32_t members) {
  std::uint32_t packets = round.in == nullptr ? 1 : 1 + (round.bytes + packet_bytes - 1) / packet_bytes;
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
      value = first ? part : reduce(round.reduction, round.datatype, value, part);
      first = false;
    }
    if (round.out != nullptr)
      store_data(round.out + at, round.bytes - at, value);
  }
}

/// Whether the others begin soon; one thread looks for as long as that takes.
GMPI_DEVICE bool begin_soon(const Comm &comm, std::uint32_t round) {
  constexpr int turns = 4096;
  GMPI_NO_UNROLL
  for (int i = 0; i < turns; ++i) {
    if (all_have_begun(comm, round))
      return true;
    if (i % 64 == 63 && (look(*context.peer).active | look(*context.peer).posted) != 0)
      return false;
    relax();
  }
  return false;
}

template <class Team>
GMPI_NOINLINE void exchange(Team team, Call call, Comm &comm, Round &round) {
  std::uint32_t number = 0;
  if (team.leads())
    number = comm.round = comm.round + 1;
  team.share(number, &BlockState::peer_round);
  round.number = number;
  unsigned member = 0, members = 1;
  team.number(member, members);
  write_part(comm, round, member, members);
  std::uint32_t soon = 0;
  if (team.leads())
    soon = begin_soon(comm, number);
  team.share(soon, &BlockState::peer_round);
  if (!soon)
    wait_for(team, {Wait::others, call, &comm, nothing, 0, number, round.root < 0 ? 0 : round.root,
                    0, 0, nothing});
  read_parts(comm, round, member, members);
  team.sync();
}

template <Function F, class Team>
GMPI_NOINLINE CallResult carry_out_collective(Team team, Call call, const Arguments &a,
                                              const Buffers &buffers, Comm &comm) {
  constexpr bool combines = F == Function::Reduce || F == Function::Allreduce;
  Round round{};
  round.root = F == Function::Bcast ? a.root : -1;
  if constexpr (combines) {
    round.reduction = reduction_of(a.op);
    round.datatype = number_of(a.datatype);
  }
  bool sends = F != Function::Barrier && (F != Function::Bcast || comm.rank == a.root);
  bool receives = F == Function::Allreduce || (F == Function::Bcast && comm.rank != a.root) ||
                  (F == Function::Reduce && comm.rank == a.root);
  auto *in = static_cast<const unsigned char *>(buffers.in);
  auto *out = static_cast<unsigned char *>(buffers.out);
  bool local_in = Team::scope != Scope::thread && is_local(in);
  bool local_out = Team::scope != Scope::thread && is_local(out);
  if (team.leads()) {
    atomicAdd(&context.peer->calls, 1ull);
    atomicAdd(&context.peer->bytes, sends ? buffers.in_bytes : 0ull);
  }
  std::uint64_t done = 0;
  do {
    std::uint64_t left = buffers.in_bytes - done;
    round.bytes = static_cast<std::uint32_t>(left < round_bytes ? left : round_bytes);
    round.in = sends ? in + done : nullptr;
    round.out = receives ? out + done : nullptr;
    if (sends && local_in) {
      team.send(comm.scratch, in + done, round.bytes);
      round.in = comm.scratch;
    }
    if (receives && local_out)
      round.out = comm.scratch + round_bytes;
    exchange(team, call, comm, round);
    if (receives && local_out)
      team.receive(out, done, comm.scratch + round_bytes, round.bytes,
                   done + round.bytes == buffers.in_bytes);
    done += round.bytes;
  } while (done < buffers.in_bytes);
  return nothing_received();
}

} // namespace gmpi::device::peer
