// Programs that end without MPI_Finalize. An MPI launcher either ends the job then without a word, or
// not at all, and the other ranks hang: the runtime says so and ends it.
#pragma once

namespace gmpi {

/// MPI has been initialised in this process.
void watch_exit();
/// MPI_Abort is about to be called: it may call exit().
void expect_exit();

} // namespace gmpi
