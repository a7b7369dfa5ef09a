// MPI functions that ask nobody else, answered by each thread for itself, on the device where it
// knows the answer.
#pragma once

#include "call_device.hpp"

namespace gmpi::device {

/// Asks the proxy for a number.
template <Function F> GMPI_NOINLINE int query(Site site, MPI_Comm comm, std::int64_t &value) {
  ThreadTeam team;
  Arguments a{};
  a.comm = comm;
  CallResult result = communicate<F>(team, site, a);
  value = static_cast<std::int64_t>(result.bytes << 16) >> 16;
  return result.error;
}

template <Function F>
GMPI_DEVICE int comm_number(Site site, const Arguments &a, int known_of_world, int known_of_self) {
  if (a.comm == context.world) {
    *a.result = known_of_world;
    return MPI_SUCCESS;
  }
  if (a.comm == context.self) {
    *a.result = known_of_self;
    return MPI_SUCCESS;
  }
  std::int64_t value = 0;
  int error = query<F>(site, a.comm, value);
  if (error == MPI_SUCCESS)
    *a.result = static_cast<int>(value);
  return error;
}

/// MPI_Get_count: MPI_UNDEFINED where the bytes received are no whole number of elements.
GMPI_DEVICE int get_count(const Arguments &a) {
  long long bytes = status_bytes(*a.known_status);
  DatatypeEntry datatype = find_datatype(a.datatype);
  if (datatype.size == 0)
    *a.result = bytes == 0 ? 0 : MPI_UNDEFINED;
  else
    *a.result =
        bytes % datatype.size == 0 ? static_cast<int>(bytes / datatype.size) : MPI_UNDEFINED;
  return MPI_SUCCESS;
}

/// MPI_Wtime minus %globaltimer, in seconds: what the host answers stands for the middle of the
/// question (Cristian 1989). One that took long, since the GPU served somebody else meanwhile, says
/// little, so the quickest of a few counts.
GMPI_OUT_OF_LINE double ask_wtime_offset(Site site) {
  constexpr int most_questions = 8;
  constexpr unsigned long long quick = 50000; // ns
  unsigned long long best = ~0ull;
  double offset = 0;
  for (int i = 0; i < most_questions && best > quick; ++i) {
    unsigned long long before = nanoseconds();
    std::int64_t host_nanoseconds = 0;
    query<Function::Wtime>(site, MPI_Comm{}, host_nanoseconds);
    unsigned long long took = nanoseconds() - before;
    if (took >= best)
      continue;
    best = took;
    offset = 1e-9 * static_cast<double>(host_nanoseconds) -
             1e-9 * static_cast<double>(before + took / 2);
  }
  return offset;
}

/// MPI_Wtime from %globaltimer; the first call on a device asks the host how far apart they are.
GMPI_DEVICE double wtime(Site site) {
#ifdef GMPI_DEVICE_CPU
  (void)site;
  return ::MPI_Wtime();
#else
  double offset = *static_cast<volatile double *>(context.wtime_offset);
  if (offset == 0) {
    offset = ask_wtime_offset(site);
    *static_cast<volatile double *>(context.wtime_offset) = offset;
  }
  return 1e-9 * static_cast<double>(nanoseconds()) + offset;
#endif
}

template <Function F> GMPI_DEVICE int local_call(Site site, const Arguments &a) {
  if constexpr (F == Function::Comm_rank)
    return comm_number<F>(site, a, context.world_rank, 0);
  else if constexpr (F == Function::Comm_size)
    return comm_number<F>(site, a, context.world_size, 1);
  else
    return get_count(a);
}

} // namespace gmpi::device
