// What every sample needs: CUDA calls that are checked, and the choice of a lowering between two
// launches.
#pragma once

#include <mpi.h>

#include <cstdio>

#define CUDA_CHECK(call)                                                                           \
  do {                                                                                             \
    cudaError_t error = (call);                                                                    \
    if (error != cudaSuccess) {                                                                    \
      std::fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(error));                          \
      MPI_Abort(MPI_COMM_WORLD, 1);                                                                \
    }                                                                                              \
  } while (0)

namespace gmpi {
/// libgmpi's: the lowering, "queue" or "split", of the launches from now on; "": as GMPI_LOWER
/// says.
void prefer_lowering(const char *name);
} // namespace gmpi
