// Local variables as MPI buffers: at grid and block scope every thread gets what was received; a
// thread's own variable is sent by calls of thread scope.
// RUN: %gmpicxx %s -o %t
// RUN: %ranks 1-4 %t
// RUN: env GMPI_PEER=1 %ranks 2-3 %t
#include "Inputs/check.h"

#include <string>

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

struct Longest {
  unsigned char bytes[360];
};
__device__ unsigned char content(int rank, int round, int i) { return 7 * rank + 31 * round + i; }
__device__ void fill(Longest &message, int rank, int round) {
  for (int i = 0; i < 360; ++i)
    message.bytes[i] = content(rank, round, i);
}
__device__ bool is_from(const Longest &message, int rank, int round, int bytes) {
  bool right = true;
  for (int i = 0; i < 360; ++i) // nothing is written behind it
    right = right && message.bytes[i] == (i < bytes ? content(rank, round, i) : 0);
  return right;
}
constexpr int rounds = 8;

/// Messages of any length, from and to each thread's own memory; one round's data is not another's.
__global__ void lengths_of_grid(int *right, int bytes, int from, int rank, int next, int previous) {
  bool all = true;
  for (int round = 0; round < rounds; ++round) {
    Longest sent, got{};
    fill(sent, rank, round);
    MPI_Sendrecv(sent.bytes, bytes, MPI_CHAR, next, 1, got.bytes, bytes, MPI_CHAR, previous, 1, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    all = all && is_from(got, previous, round, bytes);
    Longest chained{};
    if (rank == 0) {
      MPI_Send(sent.bytes, bytes, MPI_CHAR, next, 2, MPI_COMM_WORLD);
      MPI_Recv(chained.bytes, bytes, MPI_CHAR, previous, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
      MPI_Recv(chained.bytes, bytes, MPI_CHAR, previous, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      MPI_Send(chained.bytes, bytes, MPI_CHAR, next, 2, MPI_COMM_WORLD);
    }
    all = all && is_from(chained, 0, round, bytes);
    Longest of_root = rank == 0 ? sent : Longest{};
    MPI_Bcast(of_root.bytes + from, bytes, MPI_CHAR, 0, MPI_COMM_WORLD);
    for (int i = 0; i < bytes; ++i)
      all = all && of_root.bytes[from + i] == content(0, round, from + i);
  }
  right[thread_number()] = all;
}
__global__ void lengths_of_block(int *right, int bytes, int rank, int next, int previous) {
  bool all = true;
  for (int round = 0; round < rounds; ++round) {
    Longest sent, got{};
    fill(sent, rank, round);
    MPI_Status status;
    MPI_Request request;
    MPI_Isend(sent.bytes, bytes, MPI_CHAR, next, blockIdx.x, MPI_COMM_WORLD, &request);
    MPI_Recv(got.bytes, 360, MPI_CHAR, previous, blockIdx.x, MPI_COMM_WORLD, &status);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    int count;
    MPI_Get_count(&status, MPI_CHAR, &count);
    all = all && is_from(got, previous, round, bytes) && count == bytes;
    Longest again{};
    MPI_Sendrecv(sent.bytes, bytes, MPI_CHAR, next, blockIdx.x, again.bytes, bytes, MPI_CHAR, previous, blockIdx.x,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    all = all && is_from(again, previous, round, bytes);
  }
  right[thread_number()] = all;
}

int main(int argc, char **argv) {
  test::begin(&argc, &argv);
  int rank = test::rank, size = test::size;
  for (int blocks : {1, 3})
    for (int bytes : {1, 4, 7, 8, 12, 60, 228, 231, 232, 236, 240, 248, 252, 300, 336, 340}) {
      if (size == 1)
        continue;
      test::Array<int> of_grid(blocks * 40), of_block(blocks * 40);
      lengths_of_grid<<<blocks, 40>>>(of_grid.data(), bytes, bytes % 3, rank, test::next(), test::previous());
      test::synchronize();
      test::expect_each(of_grid, [](int) { return 1; }, ("a grid's of " + std::to_string(bytes)).c_str());
      lengths_of_block<<<blocks, 40>>>(of_block.data(), bytes, rank, test::next(), test::previous());
      test::synchronize();
      test::expect_each(of_block, [](int) { return 1; }, ("a block's of " + std::to_string(bytes)).c_str());
    }
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
