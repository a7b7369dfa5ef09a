// Rank 0's kernel sends a number, rank 1's receives and prints it through the host.
#include "message.h"
#include <cstdio>
#include <mpi.h>

__global__ void pass_on(int *number, int rank) {
  if (rank == 0)
    MPI_Send(number, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
  else
    MPI_Recv(number, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int number = rank == 0 ? MESSAGE : 0;
  int *device_number;
  cudaMalloc(&device_number, sizeof(int));
  cudaMemcpy(device_number, &number, sizeof(int), cudaMemcpyHostToDevice);
  pass_on<<<1, 32>>>(device_number, rank);
  cudaMemcpy(&number, device_number, sizeof(int), cudaMemcpyDeviceToHost);
  cudaFree(device_number);
  if (rank == 1)
    std::printf("received %d\n", number);
  MPI_Finalize();
  return number == MESSAGE ? 0 : 1;
}
