// What a rank really sends and receives in a call: buffers_of() (mpi/buffers.hpp) knows neither its
// rank nor the host's datatypes.
#pragma once

#include "../mpi/buffers.hpp"
#include "../queue/attribute.hpp"

namespace gmpi {

/// Bytes that so many elements take in memory; 0 where `datatype` is none.
std::uint64_t extent_bytes(int count, MPI_Datatype datatype);

/// Of what buffers_of() says; what is sent has as many bytes as `attribute` says.
Buffers true_buffers(const Attribute &attribute);

} // namespace gmpi
