// GPU-aware MPI: whether this MPI library is given the addresses of device memory, so that it moves
// long messages itself. Decided once, in MPI_Init, by all ranks together.
//
// Invariant: device pointers are given to MPI only where it was seen to complete such messages
// while the device is busy with what waits for them (gpu_aware_trial.hpp), or where the user says
// so, and even then not while a kernel waits (the queue).
#pragma once

#include "../launch/lowering.hpp"

#include <cstdint>
#include <string>

namespace gmpi::gpu_aware {

/// Finds it out, for the current device. Collective over MPI_COMM_WORLD. `host`: how many ranks
/// this rank's host has.
void start(int host);
/// Frees what the trial has left. Before MPI_Finalize.
void stop();

/// Why kernels with that lowering have their data staged; empty: MPI is given it.
const std::string &against(launch::Lowering lowering);
/// Data longer than this is given to MPI; never_direct where none is.
std::uint64_t above(launch::Lowering lowering);
/// Whether that goes for messages to the own rank, too. Else their sender's data is staged: a copy
/// from the host's memory finds its way.
bool takes_own_messages();
/// Whether the MPI library may make CUDA calls in any of its functions.
bool library_calls_cuda();

} // namespace gmpi::gpu_aware
