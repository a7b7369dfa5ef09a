// From a decoded Attribute to MPI's nonblocking function: what functions.def's column `start` says.
#pragma once

#include "../mpi/functions.hpp"

namespace gmpi {

/// Starts `function` with host buffers in `arguments`; stores MPI's request. Returns MPI's error
/// code, MPI_ERR_UNSUPPORTED_OPERATION for functions that the table starts with None.
int start_nonblocking(Function function, const Arguments &arguments, MPI_Request *request);

} // namespace gmpi
