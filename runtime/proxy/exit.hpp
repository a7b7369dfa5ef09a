// Ends that come before MPI_Finalize: the runtime's own, and programs that just exit. A launcher
// either ends the job then without a word, or not at all, and the other ranks hang: the runtime
// says so and ends it.
#pragma once

#include <mpi.h>

namespace gmpi {

/// MPI has been initialised in this process.
void watch_exit();
/// MPI_Abort is about to be called by the program: it may call exit().
void expect_exit();
/// Aborts the job, after a moment in which the launcher can pass on what was said before.
[[noreturn]] void end_job(MPI_Comm communicator, int error_code);

} // namespace gmpi
