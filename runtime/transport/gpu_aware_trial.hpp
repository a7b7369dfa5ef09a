// Does this MPI library complete messages of device memory while the device is busy with what may
// wait for them? Many wait for the default stream, or for running kernels, in MPI_Isend or
// MPI_Test: then a kernel that waits for such a message would wait for ever.
#pragma once

#include <string>

namespace gmpi::gpu_aware {

/// All ranks exchange messages of 1 MiB with themselves and with others, of their host and beyond,
/// while the device is busy, for trial_seconds at most. Collective over MPI_COMM_WORLD. `host`:
/// ranks of this rank's host. `frees`: also in memory where other has been freed. Returns why
/// device memory should not be given to MPI, the same on all ranks; empty: it may be, but for
/// messages to the own rank where `own_messages` is false.
std::string make_trial(int host, bool frees, bool &own_messages);
/// Frees the memory that was sent, which other ranks may have mapped.
void end_trial();

} // namespace gmpi::gpu_aware
