// The ranks of MPI_COMM_WORLD that run on this rank's host.
#pragma once

#include <vector>

namespace gmpi {

struct HostRanks {
  int rank = 0;                 ///< this one's place among them
  int device_rank = 0;          ///< the same, on the real host where a test has others
  std::vector<int> world = {0}; ///< their ranks in MPI_COMM_WORLD, in order

  int count() const { return static_cast<int>(world.size()); }
  /// The lowest: no two hosts have the same.
  int host() const { return world.front(); }
};

/// Collective over MPI_COMM_WORLD. For tests, GMPI_HOSTS_FOR_TESTS=N has ranks take turns on N
/// hosts that are this one.
HostRanks find_host_ranks();

} // namespace gmpi
