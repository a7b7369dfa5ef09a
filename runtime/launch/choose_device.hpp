// Which GPU a rank uses when its program has not chosen one: by its number among the ranks of its
// host.
#pragma once

namespace gmpi::launch {

/// Called by MPI_Init. A program that has called cudaSetDevice, or does later, keeps its choice.
void choose_device(int host_rank);

} // namespace gmpi::launch
