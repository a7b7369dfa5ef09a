// Communicators made by the host and passed to the kernel: rank and size in them, messages and
// collectives within them, MPI_COMM_SELF, comparison of handles.
// RUN: %gmpicxx %s -o %t
// RUN: %ranks 1-4 %t
// RUN: env GMPI_PEER=1 %ranks 2-3 %t
#include "Inputs/check.h"

__global__ void within(MPI_Comm comm, int *data, int *numbers) {
  int rank, size, world_rank, world_size, self_rank, self_size;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
  MPI_Comm_size(MPI_COMM_WORLD, &world_size);
  MPI_Comm_rank(MPI_COMM_SELF, &self_rank);
  MPI_Comm_size(MPI_COMM_SELF, &self_size);
  if (blockIdx.x == 0 && threadIdx.x == 0) {
    numbers[0] = rank;
    numbers[1] = size;
    numbers[2] = world_rank;
    numbers[3] = world_size;
    numbers[4] = 10 * self_size + self_rank;
    numbers[5] = (comm == MPI_COMM_WORLD) + 10 * (comm != MPI_COMM_SELF);
  }
  MPI_Sendrecv(data, 1, MPI_INT, (rank + 1) % size, 0, data + 1, 1, MPI_INT, (rank + size - 1) % size, 0,
               comm, MPI_STATUS_IGNORE);
  MPI_Allreduce(data, data + 2, 1, MPI_INT, MPI_SUM, comm);
  MPI_Sendrecv(data, 1, MPI_INT, 0, 0, data + 3, 1, MPI_INT, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE);
}

__global__ void by_thread(MPI_Comm comm, int *ranks) {
  int rank;
  MPI_Comm_rank(comm, &rank);
  ranks[blockIdx.x * blockDim.x + threadIdx.x] = rank;
}

static void check(MPI_Comm comm, const char *name) {
  int rank, size, sum = 0, mine = 100 + test::rank, from_previous = 0;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, comm);
  MPI_Sendrecv(&mine, 1, MPI_INT, (rank + 1) % size, 0, &from_previous, 1, MPI_INT,
               (rank + size - 1) % size, 0, comm, MPI_STATUS_IGNORE);
  test::Array<int> data(4, mine), numbers(6), ranks(64);
  within<<<2, 32>>>(comm, data.data(), numbers.data());
  test::synchronize();
  int wanted_numbers[] = {rank, size, test::rank, test::size, 10,
                          (comm == MPI_COMM_WORLD) + 10 * (comm != MPI_COMM_SELF)};
  int wanted_data[] = {mine, from_previous, sum, mine};
  test::expect_each(numbers, [&](int i) { return wanted_numbers[i]; }, name);
  test::expect_each(data, [&](int i) { return wanted_data[i]; }, name);
  by_thread<<<2, 32>>>(comm, ranks.data());
  test::synchronize();
  test::expect_each(ranks, [&](int) { return rank; }, name);
}

int main(int argc, char **argv) {
  test::begin(&argc, &argv);
  MPI_Comm parity, reversed;
  MPI_Comm_split(MPI_COMM_WORLD, test::rank % 2, test::rank, &parity);
  MPI_Comm_split(MPI_COMM_WORLD, 0, -test::rank, &reversed);
  check(MPI_COMM_WORLD, "world");
  check(MPI_COMM_SELF, "self");
  check(parity, "split by parity");
  check(reversed, "reversed");
  MPI_Comm_free(&parity);
  MPI_Comm_free(&reversed);
  return test::end();
}
