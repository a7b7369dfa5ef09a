// Local variables as MPI buffers: at grid and block scope every thread gets what was received; a
// thread's own variable is sent by calls of thread scope.
// RUN: %gmpicxx %s -o %t
// RUN: %ranks 1-4 %t
// RUN: env GMPI_PEER=1 %ranks 2-3 %t
#include "Inputs/check.h"

__device__ int thread_number() { return blockIdx.x * blockDim.x + threadIdx.x; }

struct Message {
  int numbers[300];
};

__global__ void of_grid(double *seen, int *large_seen, int rank, int size, int next, int previous) {
  double mine = 1.5 * rank, theirs = -1, sum = 0;
  MPI_Sendrecv(&mine, 1, MPI_DOUBLE, next, 0, &theirs, 1, MPI_DOUBLE, previous, 0, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
  MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  double from_root = rank == 0 ? 42 : 0;
  MPI_Bcast(&from_root, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  seen[thread_number()] = theirs + 100 * sum + 10000 * from_root;

  Message message;
  for (int i = 0; i < 300; ++i)
    message.numbers[i] = rank == size - 1 ? i : -1;
  MPI_Bcast(&message, 300, MPI_INT, size - 1, MPI_COMM_WORLD);
  int sum_of_message = 0;
  for (int i = 0; i < 300; ++i)
    sum_of_message += message.numbers[i];
  large_seen[thread_number()] = sum_of_message;
}

/// More than the grid hands on at a time.
__global__ void large_of_grid(int *out, int *seen, int next, int previous) {
  int mine[2500];
  MPI_Sendrecv(out, 2500, MPI_INT, next, 0, mine, 2500, MPI_INT, previous, 0, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
  int sum = 0;
  for (int i = 0; i < 2500; ++i)
    sum += mine[i] * (i % 7 + 1);
  seen[thread_number()] = sum;
}

__global__ void of_block(int *seen, int rank, int next, int previous) {
  int mine = 100 * rank + blockIdx.x, theirs;
  MPI_Sendrecv(&mine, 1, MPI_INT, next, blockIdx.x, &theirs, 1, MPI_INT, previous, blockIdx.x,
               MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  seen[thread_number()] = theirs;
}

__global__ void of_thread(int *seen, int rank, int next, int previous) {
  int i = thread_number(), mine = 1000 * rank + i, theirs;
  MPI_Request request;
  MPI_Irecv(&theirs, 1, MPI_INT, previous, i, MPI_COMM_WORLD, &request);
  MPI_Send(&mine, 1, MPI_INT, next, i, MPI_COMM_WORLD);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  seen[i] = theirs;
}

int main(int argc, char **argv) {
  test::begin(&argc, &argv);
  int rank = test::rank, size = test::size;
  for (int blocks : {1, 3}) {
    int n = blocks * 33;
    test::Array<double> seen(n);
    test::Array<int> large_seen(n), blocks_seen(n), threads_seen(n);
    of_grid<<<blocks, 33>>>(seen.data(), large_seen.data(), rank, size, test::next(), test::previous());
    test::synchronize();
    double wanted = 1.5 * test::previous() + 100 * 1.5 * size * (size - 1) / 2 + 10000 * 42;
    test::expect_each(seen, [&](int) { return wanted; }, "seen");
    test::expect_each(large_seen, [](int) { return 300 * 299 / 2; }, "large_seen");

    std::vector<int> numbers(2500);
    int sum = 0;
    for (int i = 0; i < 2500; ++i) {
      numbers[i] = rank + i;
      sum += (test::previous() + i) * (i % 7 + 1);
    }
    test::Array<int> out(2500), sums(n);
    out.write(numbers);
    large_of_grid<<<blocks, 33>>>(out.data(), sums.data(), test::next(), test::previous());
    test::synchronize();
    test::expect_each(sums, [&](int) { return sum; }, "sums");

    of_block<<<blocks, 33>>>(blocks_seen.data(), rank, test::next(), test::previous());
    test::synchronize();
    test::expect_each(blocks_seen, [](int i) { return 100 * test::previous() + i / 33; }, "blocks_seen");

    of_thread<<<blocks, 33>>>(threads_seen.data(), rank, test::next(), test::previous());
    test::synchronize();
    test::expect_each(threads_seen, [](int i) { return 1000 * test::previous() + i; }, "threads_seen");
  }
  return test::end();
}
