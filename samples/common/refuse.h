// How a sample ends where its arguments cannot be used. Every rank has the same arguments, so all of
// them come here, and none needs MPI_Abort, which may cut the message off.
#pragma once

#include <mpi.h>

#include <cstdio>
#include <cstdlib>

/// Ends the program with status 2; rank 0 says `why`. Called by every rank.
[[noreturn]] inline void refuse(const char *why) {
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0)
    std::fprintf(stderr, "%s\n", why);
  MPI_Finalize();
  std::exit(2);
}
