// Asks MPI.
#include "host_ranks.hpp"

#include <mpi.h>

#include <algorithm>
#include <cstdlib>

namespace gmpi {

HostRanks find_host_ranks() {
  MPI_Comm host = MPI_COMM_NULL;
  int count = 1, own = 0;
  HostRanks ranks;
  PMPI_Comm_rank(MPI_COMM_WORLD, &own);
  PMPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host);
  PMPI_Comm_rank(host, &ranks.device_rank);
  if (const char *hosts = std::getenv("GMPI_HOSTS_FOR_TESTS")) {
    PMPI_Comm_free(&host);
    PMPI_Comm_split(MPI_COMM_WORLD, own % std::max(1, std::atoi(hosts)), 0, &host);
  }
  PMPI_Comm_rank(host, &ranks.rank);
  PMPI_Comm_size(host, &count);
  ranks.world.resize(count);
  PMPI_Allgather(&own, 1, MPI_INT, ranks.world.data(), 1, MPI_INT, host);
  PMPI_Comm_free(&host);
  return ranks;
}

} // namespace gmpi
