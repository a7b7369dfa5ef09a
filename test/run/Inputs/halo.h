// A header with MPI in device code.
#pragma once

#include <mpi.h>

/// `points` has n points of this rank's, and one of each neighbour's before and behind them.
__device__ inline void trade_edges(int *points, int n, int next, int previous) {
  MPI_Sendrecv(points + n, 1, MPI_INT, next, 1, points, 1, MPI_INT, previous, 1, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
  MPI_Sendrecv(points + 1, 1, MPI_INT, previous, 2, points + n + 1, 1, MPI_INT, next, 2, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
}
