// A grid's way to a rank is looked at while its blocks arrive, and again by the one that makes the
// call: communicators, datatypes, lengths and partners that change from call to call, while other
// blocks come to the next. And threads' messages between those of their block, by the same route.
// LOWERINGS: queue (split kernels leave such communicators to the queue)
// RUN: %gmpicxx %s -o %t
// RUN: env GMPI_PEER=1 %ranks 2 %t
// RUN: env GMPI_PEER=1 %ranks 4 %t
#include "Inputs/check.h"

constexpr int most = 20000;

__device__ int words_of(int turn) {
  const int words[] = {2, 2, 58, 60, 0, 2, 300, 2, 9000, 4, 2, 16, 56, 17000, 2};
  return words[turn % 15];
}
__device__ int word_of(int turn, int sender, int i) { return 1000 * turn + 100 * sender + i % 89; }

/// To and fro between two ranks, and both at once; `got` has room for both.
__global__ void by_grid(int *data, int *got, int turns, MPI_Comm other, int rank, int size,
                        int *wrong) {
  for (int turn = 0; turn < turns; ++turn) {
    const int words = words_of(turn), partner = rank ^ (size > 2 && turn % 5 == 2 ? 2 : 1);
    const bool doubles = turn % 3 == 1, in_other = turn / 2 % 2 == 1;
    const int count = doubles ? words / 2 : words;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < words; i += gridDim.x * blockDim.x) {
      data[i] = word_of(turn, rank, i);
      got[i] = got[most + i] = -1;
    }
    if (rank < partner) {
#pragma gmpi scope(grid)
      MPI_Send(data, count, doubles ? MPI_DOUBLE : MPI_INT, partner, turn % 4,
               in_other ? other : MPI_COMM_WORLD);
    }
#pragma gmpi scope(grid)
    MPI_Recv(got, count, doubles ? MPI_DOUBLE : MPI_INT, partner, turn % 4,
             in_other ? other : MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank > partner) {
#pragma gmpi scope(grid)
      MPI_Send(data, count, doubles ? MPI_DOUBLE : MPI_INT, partner, turn % 4,
               in_other ? other : MPI_COMM_WORLD);
    }
    for (int i = threadIdx.x; i < words; i += blockDim.x)
      if (got[i] != word_of(turn, partner, i))
        atomicAdd(wrong, 1);
#pragma gmpi scope(grid)
    MPI_Sendrecv(data, count, doubles ? MPI_DOUBLE : MPI_INT, partner, 9, got + most, count,
                 doubles ? MPI_DOUBLE : MPI_INT, partner, 9, in_other ? MPI_COMM_WORLD : other,
                 MPI_STATUS_IGNORE);
    for (int i = threadIdx.x; i < words; i += blockDim.x)
      if (got[most + i] != word_of(turn, partner, i))
        atomicAdd(wrong, 1);
    MPI_Barrier(MPI_COMM_WORLD);
  }
}

/// A thread's messages between those of its block.
__global__ void by_thread_and_block(int *data, int *got, int turns, MPI_Comm other, int rank,
                                    int *wrong) {
  const int partner = rank ^ 1;
  int *mine = data + blockIdx.x * most, *its = got + blockIdx.x * most;
  for (int turn = 0; turn < turns; ++turn) {
    const int words = min(words_of(turn), 16000), few = words < 200 ? words : 1; // (both send first)
    for (int i = threadIdx.x; i < words; i += blockDim.x)
      mine[i] = word_of(turn, rank, i);
    __syncthreads();
    if (turn % 2 == 0) {
#pragma gmpi scope(block)
      MPI_Send(mine, words, MPI_INT, partner, 10 + blockIdx.x, MPI_COMM_WORLD);
    }
    if (threadIdx.x == 0) {
      const MPI_Comm comm = turn % 3 == 2 ? other : MPI_COMM_WORLD;
      const bool any = turn % 14 == 3 && gridDim.x == 1; // (nothing else is there then)
#pragma gmpi scope(thread)
      MPI_Send(mine, few, MPI_INT, partner, 20 + blockIdx.x, comm);
#pragma gmpi scope(thread)
      MPI_Recv(its, few, MPI_INT, partner, any ? MPI_ANY_TAG : 20 + blockIdx.x, comm,
               MPI_STATUS_IGNORE);
      for (int i = 0; i < few; ++i)
        if (its[i] != word_of(turn, partner, i))
          atomicAdd(wrong, 1);
    }
    __syncthreads();
    if (turn % 2 == 1) {
#pragma gmpi scope(block)
      MPI_Send(mine, words, MPI_INT, partner, 10 + blockIdx.x, MPI_COMM_WORLD);
    }
#pragma gmpi scope(block)
    MPI_Recv(its, words, MPI_INT, partner, 10 + blockIdx.x, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = threadIdx.x; i < words; i += blockDim.x)
      if (its[i] != word_of(turn, partner, i))
        atomicAdd(wrong, 1);
    __syncthreads();
  }
}

int main(int argc, char **argv) {
  test::begin(&argc, &argv);
  const int turns = test::thread_sanitizer ? 15 : 120;
  MPI_Comm other;
  MPI_Comm_dup(MPI_COMM_WORLD, &other);
  test::Array<int> data(2 * most), got(2 * most), wrong(1, 0);
  for (int blocks : {1, 4}) {
    by_grid<<<blocks, 64>>>(data.data(), got.data(), turns, other, test::rank, test::size,
                            wrong.data());
    test::synchronize();
    test::expect_equal(wrong.read()[0], 0, "wrong words of a grid's");
  }
  by_thread_and_block<<<1, 64>>>(data.data(), got.data(), turns, other, test::rank, wrong.data());
  test::synchronize();
  test::expect_equal(wrong.read()[0], 0, "wrong words of threads and blocks");
  by_thread_and_block<<<2, 64>>>(data.data(), got.data(), turns, MPI_COMM_WORLD, test::rank,
                                 wrong.data());
  test::synchronize();
  test::expect_equal(wrong.read()[0], 0, "wrong words of threads and two blocks");
  MPI_Comm_free(&other);
  return test::end();
}
