// Sizes of predefined datatypes, on the device.
#pragma once

#include "../launch/participant_device.hpp"
#include "predefined_handles.hpp"

namespace gmpi::device {

/// What the host has said of the datatype; extent 0 where it is not a predefined one.
GMPI_DEVICE DatatypeEntry look_up(MPI_Datatype datatype) {
  std::uint32_t place = datatype_hash(datatype);
  GMPI_NO_UNROLL
  for (std::uint32_t i = 0; i < datatype_slots; ++i) {
    const DatatypeEntry &entry = context.datatypes[(place + i) % datatype_slots];
    if (entry.handle == datatype || entry.extent == 0)
      return entry;
  }
  return {datatype, 0, 0, Number::none};
}

/// Its size and extent alone, in bytes.
GMPI_DEVICE DatatypeEntry find_datatype(MPI_Datatype datatype) {
#ifdef MPICH_VERSION
  // MPICH's handles of basic datatypes carry the size themselves.
  auto bits = static_cast<std::uint32_t>(datatype);
  if ((bits & 0xff000000u) == 0x4c000000u) {
    auto size = static_cast<std::int32_t>(bits >> 8 & 0xff);
    return {datatype, size, size, Number::none};
  }
#endif
  return look_up(datatype);
}

/// Bytes of `count` elements in memory, unknown_bytes where the datatype is not a predefined one.
GMPI_DEVICE std::uint64_t message_bytes(int count, MPI_Datatype datatype) {
  if (count <= 0)
    return 0;
  std::int32_t extent = find_datatype(datatype).extent;
  return extent == 0 ? unknown_bytes : static_cast<std::uint64_t>(count) * extent;
}

} // namespace gmpi::device
