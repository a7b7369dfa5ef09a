// Which calls kernels carry out themselves.
#pragma once

#include "../../mpi/buffers.hpp"
#include "../collectives/collectives_device.hpp"

namespace gmpi::device::peer {

/// The communicator's entry, where kernels carry its messages; null where MPI does.
GMPI_DEVICE Comm *find_comm(MPI_Comm comm) {
  State *state = context.peer;
  if (state == nullptr)
    return nullptr;
  if (comm == context.world)
    return context.peer_world;
  GMPI_NO_UNROLL
  for (std::uint32_t i = 0; i < state->comms_used; ++i)
    if (state->comms[i].handle == comm && state->comms[i].context != 0)
      return &state->comms[i];
  return nullptr;
}

/// Whether the arguments are such that no error of MPI's is to be expected; the proxy's way finds
/// the others.
GMPI_DEVICE bool sends_well(const Comm &comm, const Arguments &a, const Buffers &buffers) {
  return a.send_count >= 0 && a.send_tag >= 0 && a.send_tag <= context.tag_upper_bound &&
         a.dest >= 0 && a.dest < comm.size && buffers.in_bytes != unknown_bytes;
}
GMPI_DEVICE bool receives_well(const Comm &comm, const Arguments &a, const Buffers &buffers) {
  return a.recv_count >= 0 && (a.recv_tag >= 0 || a.recv_tag == MPI_ANY_TAG) &&
         ((a.source >= 0 && a.source < comm.size) || a.source == MPI_ANY_SOURCE) &&
         buffers.out_bytes != unknown_bytes;
}

/// Whether kernels carry out this call, on a communicator whose messages they carry. The same on
/// all ranks, but for wrong arguments.
template <Function F>
GMPI_DEVICE bool takes(const Comm &comm, const Arguments &a, const Buffers &buffers) {
  if constexpr (F == Function::Send || F == Function::Ssend || F == Function::Isend) {
    return sends_well(comm, a, buffers);
  } else if constexpr (F == Function::Recv || F == Function::Irecv) {
    return receives_well(comm, a, buffers);
  } else if constexpr (F == Function::Sendrecv) {
    return (a.dest == MPI_PROC_NULL || sends_well(comm, a, buffers)) &&
           (a.source == MPI_PROC_NULL || receives_well(comm, a, buffers));
  } else if constexpr (probes(F)) {
    return receives_well(comm, a, buffers); // but for its buffer, of no elements
  } else if constexpr (F == Function::Barrier) {
    return true;
  } else {
    if (a.count < 0 || buffers.in_bytes == unknown_bytes)
      return false;
    if constexpr (F == Function::Bcast || F == Function::Reduce)
      if (a.root < 0 || a.root >= comm.size)
        return false;
    if constexpr (F == Function::Reduce || F == Function::Allreduce)
      return can_reduce(a.op, a.datatype);
    return F == Function::Bcast;
  }
}
template <Function F> GMPI_DEVICE bool takes(const Arguments &a) {
  const Comm *comm = find_comm(a.comm);
  return comm != nullptr && takes<F>(*comm, a, buffers_of(F, a, message_bytes));
}

/// What is otherwise in a call that has another root: `root` is below 0 where it has none. One
/// thread.
template <Function F>
GMPI_DEVICE void turn_round(Round &round, const void *in, void *out, int root) {
  constexpr bool broadcast = F == Function::Bcast;
  constexpr bool reduces = F == Function::Reduce || F == Function::Allreduce;
  const bool sends = sends_part(round.rank, broadcast, reduces, root);
  const bool receives = receives_parts(round.rank, broadcast, reduces, root);
  round.in = sends ? static_cast<const unsigned char *>(in) : nullptr;
  round.out = receives ? static_cast<unsigned char *>(out) : nullptr;
  round.root = broadcast ? root : -1;
  round.wants = broadcast ? -1 : root;
}

/// This rank's part in a collective call. A warp, or one thread.
template <Function F>
GMPI_DEVICE void describe_round(Comm &comm, const Arguments &a, const Buffers &buffers,
                                Round &round, std::uint32_t lane, std::uint32_t lanes) {
  constexpr bool reduces = F == Function::Reduce || F == Function::Allreduce;
  note_comm(round, comm, lane, lanes);
  if (lane != 0)
    return;
  turn_round<F>(round, buffers.in, buffers.out,
                F == Function::Bcast || F == Function::Reduce ? a.root : -1);
  round.bytes = static_cast<std::uint32_t>(buffers.in_bytes); // where that is all
  round.length = buffers.in_bytes;
  round.low = 0;
  round.high = pieces_of(round.length);
  round.reduction = reduces ? reduction_of(a.op) : Reduction::none;
  round.datatype = reduces ? look_up(a.datatype).number : Number::none;
  round.common = is_common(round.reduction, round.datatype);
}

} // namespace gmpi::device::peer
