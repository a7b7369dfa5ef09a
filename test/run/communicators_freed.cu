// A communicator may be freed as soon as the kernel that sent on it has ended, though its small sends
// may not be MPI's yet; a later communicator with the same handle may have fewer ranks.
// RUN: %gmpicxx %s -o %t
// RUN: %ranks 2-3 %t
#include "Inputs/check.h"

__global__ void send(int *data, int peer, int *errors, MPI_Comm comm) {
  for (int tag = 0; tag < 3; ++tag) { // the first tells this device the communicator's size
    int error = MPI_Send(data + tag, 1, MPI_INT, peer, tag, comm);
    if (blockIdx.x == 0 && threadIdx.x == 0)
      errors[tag] = error;
  }
}

static void send_and_free(int round) {
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  int got[3] = {-1, -1, -1};
  MPI_Request requests[3];
  for (int tag = 0; tag < 3; ++tag)
    MPI_Irecv(got + tag, 1, MPI_INT, test::previous(), tag, comm, requests + tag);
  test::Array<int> data(3, test::rank + 10 * round), errors(3, -1);
  send<<<2, 32>>>(data.data(), test::next(), errors.data(), comm);
  test::synchronize();
  MPI_Comm_free(&comm);
  MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
  for (int value : got)
    test::expect_equal(value, test::previous() + 10 * round, "message");
  test::expect_each(errors, [](int) { return MPI_SUCCESS; }, "error");
}

static void send_beyond() {
  MPI_Comm alone;
  MPI_Comm_dup(MPI_COMM_SELF, &alone);
  MPI_Comm_set_errhandler(alone, MPI_ERRORS_RETURN);
  test::Array<int> data(3), errors(3, -1);
  send<<<2, 32>>>(data.data(), 1, errors.data(), alone);
  test::synchronize();
  for (int error : errors.read()) {
    int error_class = -1;
    MPI_Error_class(error, &error_class);
    test::expect(error_class == MPI_ERR_RANK, "a send to no rank: error class %d", error_class);
  }
  MPI_Comm_free(&alone);
}

int main(int argc, char **argv) {
  test::begin(&argc, &argv);
  for (int round = 0; round < 100; ++round) {
    send_and_free(round);
    if (round % 10 == 0)
      send_beyond();
  }
  return test::end();
}
