// MPI functions that ask nobody else, answered by each thread for itself, on the device where it
// knows the answer.
#pragma once

#include "../mpi/calls_device.hpp"

namespace gmpi::device {

/// Asks the proxy for a number: the quick way, and the general one.
template <Function F> GMPI_NOINLINE Alone query_alone(Site site, MPI_Comm comm) {
  Arguments a{};
  a.comm = comm;
  return ask_alone<F>(site, a);
}
template <Function F>
GMPI_NOINLINE int query_slowly(Site site, MPI_Comm comm, const Alone &alone, std::uint64_t &value) {
  Arguments a{};
  a.comm = comm;
  CallResult result{};
  if (alone.begun == Begun::asked) {
    const Waiting waiting{alone.slot, alone.turn, 0, false, false, site, nullptr, nullptr};
    result = drain_alone(waiting, alone.head, nullptr, nullptr);
    give_slot<Scope::thread>(alone.slot);
  } else {
    ThreadTeam team;
    pack_call(F, site, a, team.contents());
    result = communicate<F>(team, site, a, Buffers{});
  }
  value = result.bytes;
  return result.error;
}
template <Function F> GMPI_DEVICE int query(Site site, MPI_Comm comm, std::int64_t &value) {
  const Alone alone = query_alone<F>(site, comm);
  std::uint64_t number = alone.number;
  const int error =
      alone.begun == Begun::over ? MPI_SUCCESS : query_slowly<F>(site, comm, alone, number);
  value = static_cast<std::int64_t>(number << 16) >> 16;
  return error;
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

/// MPI_Wtime minus %globaltimer, in seconds. The host answers between question and answer, so each
/// of them says between which bounds the difference lies (Marzullo 1984). One is enough, as a rule;
/// where the GPU or the host has others to serve meanwhile, several narrow them down.
GMPI_OUT_OF_LINE double ask_wtime_offset(Site site) {
  constexpr int most_questions = 64;
  constexpr double close_enough = 20e-6;
  double least = -1e300, most = 1e300;
  for (int i = 0; i < most_questions && most - least > close_enough; ++i) {
    unsigned long long before = nanoseconds();
    std::int64_t ticks = 0;
    query<Function::Wtime>(site, MPI_Comm{}, ticks);
    double host = context.wtime_base + static_cast<double>(ticks) / wtime_ticks;
    most = fmin(most, host - 1e-9 * static_cast<double>(before));
    least = fmax(least, host - 1e-9 * static_cast<double>(nanoseconds()));
  }
  return (least + most) / 2;
}

/// MPI_Wtime from %globaltimer; the first call on a device asks the host how far apart they are.
template <class> GMPI_DEVICE double wtime(Site site) {
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
