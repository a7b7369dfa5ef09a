// The other file of launches.cu.
#include <mpi.h>

#include "launches.h"

__global__ void defined_elsewhere(int *data, int value) {
  MPI_Allreduce(&value, data, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}

static __global__ void of_this_file(int *data, int value) {
  value += 1;
  MPI_Allreduce(&value, data, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}

__global__ void without_mpi(int *data, int value) { data[0] = value; }

void launch_elsewhere(int *data, int value) { launched_elsewhere<<<2, 32>>>(data, value); }
AnyKernel kernel_from_elsewhere() { return of_this_file; }
