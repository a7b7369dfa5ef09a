// Under MPI_ERRORS_RETURN the call in the kernel returns MPI's error code, and the program goes on.
// RUN: %gmpicxx %s -o %t
// RUN: %ranks 2-4 %t
// RUN: env GMPI_PEER=1 %ranks 2-3 %t
#include "Inputs/check.h"

enum Step {
  ssend,
  send,
  recv,
  probe,
  iprobe,
  bcast,
  allreduce,
  truncated,
  large_truncated,
  wait,
  good,
  steps
};

__global__ void fail(int *buffer, int n, int *errors, int rank, int size, MPI_Comm comm) {
  int error[steps];
  MPI_Request request;
  error[ssend] = MPI_Ssend(buffer, 1, MPI_INT, size, 0, comm);
  error[send] = MPI_Send(buffer, 1, MPI_INT, size, 0, comm);
  error[recv] = MPI_Recv(buffer, 1, MPI_INT, -99, 0, comm, MPI_STATUS_IGNORE);
  int flag;
  error[probe] = MPI_Probe(size, 0, comm, MPI_STATUS_IGNORE);
  error[iprobe] = MPI_Iprobe(0, -99, comm, &flag, MPI_STATUS_IGNORE);
  error[bcast] = MPI_Bcast(buffer, 1, MPI_INT, size + 5, comm);
  error[allreduce] = MPI_Allreduce(buffer, buffer + 1, 1, MPI_DATATYPE_NULL, MPI_SUM, comm);
  error[truncated] = error[large_truncated] = error[wait] = MPI_SUCCESS;
  if (rank == 0) {
    MPI_Send(buffer, 4, MPI_INT, 1, 0, comm);
    MPI_Send(buffer, n, MPI_INT, 1, 1, comm);
    MPI_Send(buffer, 4, MPI_INT, 1, 2, comm);
  }
  if (rank == 1) {
    error[truncated] = MPI_Recv(buffer, 2, MPI_INT, 0, 0, comm, MPI_STATUS_IGNORE);
    error[large_truncated] = MPI_Recv(buffer, n - 5, MPI_INT, 0, 1, comm, MPI_STATUS_IGNORE);
    MPI_Irecv(buffer, 2, MPI_INT, 0, 2, comm, &request);
    error[wait] = MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  error[good] = MPI_Barrier(comm);
  if (blockIdx.x == 1 && threadIdx.x == 5) // every thread gets them
    for (int i = 0; i < steps; ++i)
      errors[i] = error[i];
}

static void check(MPI_Comm comm, const char *name) {
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  int n = 20000;
  test::Array<int> buffer(n), errors(steps, -1);
  fail<<<2, 32>>>(buffer.data(), n, errors.data(), test::rank, test::size, comm);
  test::synchronize();
  int truncate = test::rank == 1 ? MPI_ERR_TRUNCATE : MPI_SUCCESS;
  int wanted[steps] = {MPI_ERR_RANK, MPI_ERR_RANK, MPI_ERR_RANK, MPI_ERR_RANK, MPI_ERR_TAG,
                       MPI_ERR_ROOT, MPI_ERR_TYPE, truncate,     truncate,     truncate,
                       MPI_SUCCESS};
  std::vector<int> got = errors.read();
  for (int i = 0; i < steps; ++i) {
    int error_class = -1;
    MPI_Error_class(got[i], &error_class);
    test::expect(error_class == wanted[i], "%s: step %d returned an error of class %d, not %d", name, i,
                 error_class, wanted[i]);
  }
}

int main(int argc, char **argv) {
  test::begin(&argc, &argv);
  MPI_Comm copy;
  MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  check(MPI_COMM_WORLD, "world");
  check(copy, "a copy of world");
  MPI_Comm_free(&copy);
  return test::end();
}
