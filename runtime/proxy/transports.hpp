// How much of kernels' messages the proxy has carried by each transport, why kernels have not
// carried it themselves, or MPI has not been given device memory, and where completions lie: told
// at MPI_Finalize where GMPI_STATS=1. What kernels carry they count themselves; see peer::Links.
#pragma once

#include "../mpi/buffers.hpp"
#include "../queue/attribute.hpp"

#include <string>

namespace gmpi::transports {

enum Transport {
  inlined,   ///< beside the Attribute or with the Reply
  staged,    ///< copied by the GPU through page-locked memory
  gpu_aware, ///< by MPI, to and from device memory
};

/// The proxy's thread, where GMPI_STATS is set: a call begins that moves `buffers`, or nothing.
/// `split`: of a kernel that is split, through its driver.
void count(const Attribute &attribute, const Buffers &buffers, bool split);
/// A call has come to the proxy: why?
void count_reason(const Attribute &attribute);

/// Where the Replies to `device`'s kernels lie; `against`: why not in its memory, where that was
/// asked for.
void note_replies(int device, bool on_device, const std::string &against);

/// `comm` is about to be freed; another may get its handle. Any thread.
void forget(MPI_Comm comm);
/// Says it all, once.
void report();

} // namespace gmpi::transports
