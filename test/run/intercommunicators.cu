// Intercommunicators in kernels: messages to the other group; collectives are errors of the call, by way
// of the communicator's error handler, and leave the buffers alone.
// RUN: %gmpicxx %s -o %t
// RUN: %ranks 2-4 %t
// RUN: %mpiexec -n 2 %t 2>&1 | FileCheck %s
#include "Inputs/check.h"

#include <atomic>

enum Collective { bcast, large_bcast, reduce, allreduce, barrier, collectives };

__global__ void talk(int *data, int n, int *errors, int rank, int root, MPI_Comm inter) {
  if (rank == 0)
    MPI_Sendrecv(data, 1, MPI_INT, 0, 7, data + 1, 1, MPI_INT, 0, 7, inter, MPI_STATUS_IGNORE);
  int error[collectives];
  error[bcast] = MPI_Bcast(data, 2, MPI_INT, root, inter);
  error[large_bcast] = MPI_Bcast(data, n, MPI_INT, root, inter);
  error[reduce] = MPI_Reduce(data, data + 2, 1, MPI_INT, MPI_SUM, root, inter);
  error[allreduce] = MPI_Allreduce(data, data + 2, 1, MPI_INT, MPI_SUM, inter);
  error[barrier] = MPI_Barrier(inter);
  if (blockIdx.x == 1 && threadIdx.x == 5)
    for (int i = 0; i < collectives; ++i)
      errors[i] = error[i];
}

static std::atomic<int> handled{0};
static void handle(MPI_Comm *, int *, ...) { ++handled; }

int main(int argc, char **argv) {
  test::begin(&argc, &argv);
  int group = test::rank % 2, rank = -1, n = 20000;
  MPI_Comm local, inter;
  MPI_Comm_split(MPI_COMM_WORLD, group, test::rank, &local);
  MPI_Comm_rank(local, &rank);
  MPI_Intercomm_create(local, 0, MPI_COMM_WORLD, 1 - group, 3, &inter);
  MPI_Errhandler handler;
  MPI_Comm_create_errhandler(handle, &handler);
  MPI_Comm_set_errhandler(inter, handler);

  int root = group == 1 ? 0 : rank == 0 ? MPI_ROOT : MPI_PROC_NULL;
  int mine = 100 + test::rank, others = rank == 0 ? 100 + (1 - group) : mine;
  test::Array<int> data(n, mine), errors(collectives, -1);
  talk<<<2, 32>>>(data.data(), n, errors.data(), rank, root, inter);
  test::synchronize();
  test::expect_each(data, [&](int i) { return i == 1 ? others : mine; }, "data");
  for (int error : errors.read()) {
    int error_class = -1;
    MPI_Error_class(error, &error_class);
    test::expect(error_class == MPI_ERR_COMM, "a collective's error is of class %d", error_class);
  }
  test::expect_equal(handled, collectives, "the error handler's calls");
  MPI_Errhandler_free(&handler);
  MPI_Comm_free(&inter);
  MPI_Comm_free(&local);
  return test::end();
}

// CHECK-DAG: gmpi: rank 0: MPI_Bcast at {{.*}}intercommunicators.cu:16: a kernel's collectives are for intracommunicators, and this communicator is none
// CHECK-DAG: gmpi: rank 1: MPI_Barrier at {{.*}}intercommunicators.cu:20: a kernel's collectives are for intracommunicators, and this communicator is none
// CHECK-DAG: ok
