// Where the proxy's thread may run.
#pragma once

namespace gmpi {

/// Launchers often bind a rank to one core, and the program's own thread polls there, in
/// cudaDeviceSynchronize for instance: a proxy on the same core gets it for a time slice at a time,
/// and each MPI call of a kernel takes milliseconds. Lets the calling thread use every core that
/// the system grants the process, where the launcher's binding leaves it fewer than two.
void leave_single_core();

} // namespace gmpi
