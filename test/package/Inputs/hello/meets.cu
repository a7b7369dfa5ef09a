// Its kernel is in a header, so that header is translated, too; with both lowerings.
#include "meet.h"
#include <cstdio>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, met = 0, *device_met;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  cudaMalloc(&device_met, sizeof(int));
  meet<<<1, 1>>>(device_met);
  cudaMemcpy(&met, device_met, sizeof(int), cudaMemcpyDeviceToHost);
  cudaFree(device_met);
  if (rank == 0)
    std::printf(met ? "met\n" : "not met\n");
  MPI_Finalize();
}
