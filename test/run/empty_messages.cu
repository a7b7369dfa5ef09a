// Messages of no elements, null buffers, and launches of one thread.
// RUN: %gmpicxx %s -o %t
// RUN: %ranks 1-4 %t
// RUN: env GMPI_PEER=1 %ranks 2-3 %t
#include "Inputs/check.h"

__global__ void nothing(int *counts, int next, int previous) {
  MPI_Status status;
  int count;
  MPI_Sendrecv(nullptr, 0, MPI_INT, next, 0, nullptr, 0, MPI_INT, previous, 0, MPI_COMM_WORLD, &status);
  MPI_Get_count(&status, MPI_INT, &count);
  MPI_Request requests[2];
  MPI_Irecv(counts + 1, 5, MPI_INT, previous, 1, MPI_COMM_WORLD, &requests[0]);
  MPI_Isend(nullptr, 0, MPI_DOUBLE, next, 1, MPI_COMM_WORLD, &requests[1]);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  MPI_Waitall(0, requests, MPI_STATUSES_IGNORE);
  MPI_Wait(&requests[0], &status); // null by now: returns at once
  MPI_Bcast(nullptr, 0, MPI_INT, 0, MPI_COMM_WORLD);
  MPI_Allreduce(nullptr, nullptr, 0, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (blockIdx.x == 0 && threadIdx.x == 0)
    counts[0] = count + 10 * (status.MPI_SOURCE == MPI_ANY_SOURCE && status.MPI_TAG == MPI_ANY_TAG);
}

int main(int argc, char **argv) {
  test::begin(&argc, &argv);
  for (int threads : {1, 32})
    for (int blocks : {1, 2}) {
      test::Array<int> counts(6, -1);
      nothing<<<blocks, threads>>>(counts.data(), test::next(), test::previous());
      test::synchronize();
      test::expect_each(counts, [](int i) { return i == 0 ? 10 : -1; }, "counts");
    }
  return test::end();
}
