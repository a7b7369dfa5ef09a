// How much of kernels' messages the proxy has carried by each transport, and why kernels have not
// carried it themselves: told at MPI_Finalize where GMPI_STATS=1. What kernels carry they count
// themselves; see peer::Links.
#pragma once

#include "../queue/attribute.hpp"

#include <cstddef>

namespace gmpi::transports {

enum Transport {
  inlined, ///< beside the Attribute or with the Reply
  staged,  ///< copied by the GPU through page-locked memory
};

/// The proxy's thread, where GMPI_STATS is set: a call begins that moves data, or none.
void count(Transport transport, std::size_t bytes_sent);
/// A call has come to the proxy: why?
void count_reason(const Attribute &attribute);

/// `comm` is about to be freed; another may get its handle. Any thread.
void forget(MPI_Comm comm);
/// Says it all, once.
void report();

} // namespace gmpi::transports
