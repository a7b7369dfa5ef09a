// Every call that kernels may carry themselves, by the grid and by one thread.
#include <mpi.h>

__global__ void by_grid(double *x, int *n, int peer, MPI_Datatype datatype, MPI_Op op) {
  MPI_Status status;
  MPI_Request request;
  MPI_Send(x, 1, datatype, peer, 0, MPI_COMM_WORLD);
  MPI_Ssend(x, 1, datatype, peer, 0, MPI_COMM_WORLD);
  MPI_Recv(x, 1, datatype, peer, 0, MPI_COMM_WORLD, &status);
  MPI_Isend(x, 1, datatype, peer, 0, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, &status);
  MPI_Irecv(x, 1, datatype, peer, 0, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, &status);
  MPI_Sendrecv(x, 1, datatype, peer, 0, x + 1, 1, datatype, peer, 0, MPI_COMM_WORLD, &status);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Bcast(x, 1, datatype, 0, MPI_COMM_WORLD);
  MPI_Reduce(x, x + 1, 1, datatype, op, 0, MPI_COMM_WORLD);
  MPI_Allreduce(x, x + 1, 1, datatype, op, MPI_COMM_WORLD);
}

__global__ void by_thread(double *x, int peer) {
  if (threadIdx.x == 0 && blockIdx.x == 0) {
    MPI_Send(x, 1, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD);
    MPI_Recv(x, 1, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Allreduce(x, x + 1, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  }
}
