// Which data a call sends and receives, read off its arguments: the one place that knows how each
// family of MPI functions names its buffers. Host and device.
#pragma once

#include "functions.hpp"

namespace gmpi {

/// A call's message data. A buffer may be null where its bytes are 0.
struct Buffers {
  const void *in; ///< sent from here
  std::uint64_t in_bytes;
  void *out;               ///< received here
  std::uint64_t out_bytes; ///< room
};

/// `bytes(count, datatype)` tells the extent of so many elements. Where only the root sends or
/// receives, every rank reports both: the proxy, which knows the rank, moves what is needed.
template <class Bytes>
GMPI_HOST_DEVICE inline Buffers buffers_of(Function function, const Arguments &a, Bytes bytes) {
  Buffers b{};
  switch (function) {
  case Function::Send:
  case Function::Ssend:
  case Function::Isend:
    b.in = a.send_buffer;
    b.in_bytes = a.dest == MPI_PROC_NULL ? 0 : bytes(a.send_count, a.send_datatype);
    break;
  case Function::Recv:
  case Function::Irecv:
    b.out = a.recv_buffer;
    b.out_bytes = a.source == MPI_PROC_NULL ? 0 : bytes(a.recv_count, a.recv_datatype);
    break;
  case Function::Sendrecv:
    b.in = a.send_buffer;
    b.in_bytes = a.dest == MPI_PROC_NULL ? 0 : bytes(a.send_count, a.send_datatype);
    b.out = a.recv_buffer;
    b.out_bytes = a.source == MPI_PROC_NULL ? 0 : bytes(a.recv_count, a.recv_datatype);
    break;
  case Function::Bcast:
    b.in = b.out = a.shared_buffer;
    b.in_bytes = b.out_bytes = bytes(a.count, a.datatype);
    break;
  case Function::Reduce:
  case Function::Allreduce:
    b.in = a.send_buffer == MPI_IN_PLACE ? a.recv_buffer : a.send_buffer;
    b.out = a.recv_buffer;
    b.in_bytes = b.out_bytes = bytes(a.count, a.datatype);
    break;
  default:
    break;
  }
  return b;
}

/// Whether MPI may be given the addresses of such a call's buffers where they are device memory.
/// Not of reductions: MPI makes them on the host, and the nonblocking forms, in which they are
/// started here, are those that Open MPI excepts.
GMPI_HOST_DEVICE constexpr bool takes_device_memory(Function function) {
  return function != Function::Reduce && function != Function::Allreduce;
}

/// Whether the call only tells of a message, which stays where it is.
GMPI_HOST_DEVICE constexpr bool probes(Function function) {
  return function == Function::Probe || function == Function::Iprobe;
}
/// Whether it looks once, and tells by a flag whether it has found what it was asked for.
GMPI_HOST_DEVICE constexpr bool tells_flag(Function function) {
  return function == Function::Test || function == Function::Iprobe;
}

/// Whether the caller wants the message's source, tag and length.
GMPI_HOST_DEVICE inline bool wants_status(const Arguments &a) {
  return a.status != nullptr && a.status != MPI_STATUS_IGNORE;
}

/// Whether a point-to-point call's peer is MPI_PROC_NULL: nobody is asked. (MPI_Sendrecv has two
/// peers.)
GMPI_HOST_DEVICE inline bool goes_nowhere(Function function, const Arguments &a) {
  switch (function) {
  case Function::Send:
  case Function::Ssend:
  case Function::Isend:
    return a.dest == MPI_PROC_NULL;
  case Function::Recv:
  case Function::Irecv:
  case Function::Probe:
  case Function::Iprobe:
    return a.source == MPI_PROC_NULL;
  default:
    return false;
  }
}

/// Whether MPI_Sendrecv is no more than an MPI_Recv, or an MPI_Send: the other half goes nowhere,
/// and nothing is to be said of it.
GMPI_HOST_DEVICE inline bool sends_or_receives(const Arguments &a) {
  const bool receives = a.source != MPI_PROC_NULL;
  return receives ? a.dest == MPI_PROC_NULL : a.dest != MPI_PROC_NULL && !wants_status(a);
}

} // namespace gmpi
