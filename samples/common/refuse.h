// How a sample ends where its arguments cannot be used. Every rank has the same arguments, so all
// of them come here, and none needs MPI_Abort, which may cut the message off.
#pragma once

#include <mpi.h>

#include <cstdio>
#include <cstdlib>
#include <string>

/// Ends the program with status 2; rank 0 says `why`. Called by every rank, or before MPI_Init.
[[noreturn]] inline void refuse(const std::string &why) {
  int begun = 0, rank = 0;
  MPI_Initialized(&begun);
  if (begun)
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0)
    std::fprintf(stderr, "%s\n", why.c_str());
  if (begun)
    MPI_Finalize();
  std::exit(2);
}
