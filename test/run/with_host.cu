// Kernels of one rank and host code of others take part in the same messages and collectives.
// RUN: %gmpicxx %s -o %t
// RUN: %ranks 2-4 %t
#include "Inputs/check.h"

__global__ void collectives(int *data, int n, int root) {
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Bcast(data, n, MPI_INT, root, MPI_COMM_WORLD);
  MPI_Allreduce(MPI_IN_PLACE, data, n, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Reduce(data, data + n, n, MPI_INT, MPI_MAX, root, MPI_COMM_WORLD);
}

/// Serves `size - 1` questions from anybody.
__global__ void serve(int *question, int size) {
  for (int i = 1; i < size; ++i) {
    MPI_Status status;
    MPI_Recv(question, 2, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
    if (threadIdx.x == 0 && blockIdx.x == 0)
      question[1] = question[0] * question[0];
    MPI_Send(question + 1, 1, MPI_INT, status.MPI_SOURCE, status.MPI_TAG, MPI_COMM_WORLD);
  }
}

static void check_collectives(int n, int root, bool in_kernel) {
  std::vector<int> host(2 * n, test::rank == root ? 5 : -1);
  if (in_kernel) {
    test::Array<int> data(2 * n);
    data.write(host);
    collectives<<<2, 32>>>(data.data(), n, root);
    test::synchronize();
    host = data.read();
  } else {
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Bcast(host.data(), n, MPI_INT, root, MPI_COMM_WORLD);
    MPI_Allreduce(MPI_IN_PLACE, host.data(), n, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Reduce(host.data(), host.data() + n, n, MPI_INT, MPI_MAX, root, MPI_COMM_WORLD);
  }
  for (int i = 0; i < n; ++i) {
    test::expect_equal(host[i], 5 * test::size, "the sum");
    test::expect_equal(host[n + i], test::rank == root ? 5 * test::size : -1, "the root's maximum");
  }
}

int main(int argc, char **argv) {
  test::begin(&argc, &argv);
  for (int n : {1, 20000})
    for (int root : {0, test::size - 1}) {
      check_collectives(n, root, test::rank == 0);
      check_collectives(n, root, test::rank % 2 == 1);
    }

  if (test::rank == 0) {
    test::Array<int> question(2);
    serve<<<2, 32>>>(question.data(), test::size);
    test::synchronize();
  } else {
    int question = 10 + test::rank, answer = 0;
    MPI_Send(&question, 1, MPI_INT, 0, test::rank, MPI_COMM_WORLD);
    MPI_Recv(&answer, 1, MPI_INT, 0, test::rank, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    test::expect_equal(answer, question * question, "the answer");
  }
  return test::end();
}
