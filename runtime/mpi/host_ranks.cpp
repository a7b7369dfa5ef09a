// Asks MPI.
#include "host_ranks.hpp"

#include <mpi.h>

namespace gmpi {

HostRanks find_host_ranks() {
  MPI_Comm host = MPI_COMM_NULL;
  PMPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host);
  HostRanks ranks;
  int count = 1, own = 0;
  PMPI_Comm_rank(host, &ranks.rank);
  PMPI_Comm_size(host, &count);
  PMPI_Comm_rank(MPI_COMM_WORLD, &own);
  ranks.world.resize(count);
  PMPI_Allgather(&own, 1, MPI_INT, ranks.world.data(), 1, MPI_INT, host);
  PMPI_Comm_free(&host);
  return ranks;
}

} // namespace gmpi
