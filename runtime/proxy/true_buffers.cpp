// What a rank really sends and receives in a call.
#include "true_buffers.hpp"

namespace gmpi {

namespace {

bool is_root(const Arguments &arguments) {
  int rank = MPI_PROC_NULL;
  PMPI_Comm_rank(arguments.comm, &rank);
  return rank == arguments.root;
}

} // namespace

std::uint64_t extent_bytes(int count, MPI_Datatype datatype) {
  if (count <= 0)
    return 0;
  MPI_Aint lower = 0, extent = 0;
  if (datatype == MPI_DATATYPE_NULL || PMPI_Type_get_extent(datatype, &lower, &extent) != MPI_SUCCESS)
    return 0;
  return static_cast<std::uint64_t>(count) * static_cast<std::uint64_t>(extent);
}

Buffers true_buffers(const Attribute &attribute) {
  Buffers buffers = buffers_of(attribute.function, attribute.arguments, extent_bytes);
  buffers.in_bytes = attribute.in_bytes;
  if (attribute.function == Function::Bcast)
    (is_root(attribute.arguments) ? buffers.out_bytes : buffers.in_bytes) = 0;
  if (attribute.function == Function::Reduce && !is_root(attribute.arguments))
    buffers.out_bytes = 0;
  return buffers;
}

} // namespace gmpi
