// Threads of a warp that send and receive at the same time, each for itself, from kernel to kernel: short
// messages of any length, in the thread's own memory and at odd addresses, to one rank and to several, by whole
// warps and by some of their lanes; messages for others between them; one lane's message that another must send
// on first.
// LOWERINGS: queue (split kernels leave such communicators to the queue)
// RUN: %gmpicxx %s -o %t
// RUN: env GMPI_PEER=1 %ranks 1-3 %t
// RUN: env GMPI_PEER=1 GMPI_HOSTS_FOR_TESTS=2 %ranks 2 %t
#include "Inputs/check.h"

constexpr int rounds = 6, room = 1300;

__device__ unsigned char pattern(int i, int thread, int round) {
  return static_cast<unsigned char>(i * 7 + thread * 31 + round);
}
/// Most take one slot of a channel, some more.
__device__ int length_of(int thread, int round) {
  const int lengths[] = {8, 0, 3, 232, 1000, 1001, 40, 1290};
  return lengths[(thread / 3 + round) % 8];
}

/// Each thread sends, and receives with a tag that counts from the other end.
__global__ void lengths(unsigned char *data, unsigned char *got, int next, int previous, int *wrong) {
  const int thread = blockIdx.x * blockDim.x + threadIdx.x, threads = gridDim.x * blockDim.x;
  const int other = threads - 1 - thread;
  unsigned char *mine = data + thread * room + thread % 5, *its = got + thread * room + thread % 3;
  for (int round = 0; round < rounds; ++round) {
    const int sent = length_of(thread, round), received = length_of(other, round);
    for (int i = 0; i < sent; ++i)
      mine[i] = pattern(i, thread, round);
    its[received] = 77;
    MPI_Send(mine, sent, MPI_BYTE, next, thread, MPI_COMM_WORLD);
    MPI_Recv(its, room - 5, MPI_BYTE, previous, other, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < received; ++i)
      if (its[i] != pattern(i, other, round))
        atomicAdd(wrong, 1);
    if (its[received] != 77)
      atomicAdd(wrong, 1);
  }
}

/// Numbers in the thread's own memory; every third thread takes any tag, of threads like itself.
__global__ void numbers(int next, int previous, MPI_Comm any, int *wrong, int *sums) {
  const int thread = blockIdx.x * blockDim.x + threadIdx.x;
  const bool takes_any = thread % 3 == 0;
  for (int round = 0; round < 20; ++round) {
    if (thread % 4 == round % 4)
      continue; // some of a warp's lanes
    int sent = 1000 * round + thread, got = -1;
    MPI_Send(&sent, 1, MPI_INT, next, thread, takes_any ? any : MPI_COMM_WORLD);
    MPI_Recv(&got, 1, MPI_INT, previous, takes_any ? MPI_ANY_TAG : thread, takes_any ? any : MPI_COMM_WORLD,
             MPI_STATUS_IGNORE);
    if (takes_any)
      atomicAdd(sums, got);
    else if (got != sent)
      atomicAdd(wrong, 1);
  }
}

/// Each lane with a rank of its own.
__global__ void to_all(int rank, int size, int *wrong) {
  const int to = (rank + threadIdx.x) % size, from = (rank + size - threadIdx.x % size) % size;
  for (int round = 0; round < rounds; ++round) {
    int sent = 10000 * rank + 100 * round + threadIdx.x, got = -1;
    MPI_Send(&sent, 1, MPI_INT, to, threadIdx.x, MPI_COMM_WORLD);
    MPI_Recv(&got, 1, MPI_INT, from, threadIdx.x, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (got != 10000 * from + 100 * round + static_cast<int>(threadIdx.x))
      atomicAdd(wrong, 1);
  }
}

/// Lane by lane: each waits for what the one before it sends, which then goes on.
__global__ void chain(int rank, int *wrong) {
  const int lane = threadIdx.x;
  int number = 5;
  if (lane != 0)
    MPI_Recv(&number, 1, MPI_INT, rank, lane, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  ++number;
  if (lane != 31)
    MPI_Send(&number, 1, MPI_INT, rank, lane + 1, MPI_COMM_WORLD);
  if (number != 6 + lane)
    atomicAdd(wrong, 1);
}

int main(int argc, char **argv) {
  test::begin(&argc, &argv);
  MPI_Comm any;
  MPI_Comm_dup(MPI_COMM_WORLD, &any);
  for (int blocks : {1, test::thread_sanitizer ? 2 : 3, test::thread_sanitizer ? 2 : 8})
    for (int threads : {20, 32, 96}) {
      const int all = blocks * threads;
      test::Array<unsigned char> data(all * room), got(all * room);
      test::Array<int> wrong(1), sums(1);
      lengths<<<blocks, threads>>>(data.data(), got.data(), test::next(), test::previous(), wrong.data());
      test::synchronize();
      numbers<<<blocks, threads>>>(test::next(), test::previous(), any, wrong.data(), sums.data());
      test::synchronize();
      test::expect(wrong.read()[0] == 0, "%d blocks of %d: %d wrong", blocks, threads, wrong.read()[0]);
      int sum = 0;
      for (int thread = 0; thread < all; thread += 3)
        for (int round = 0; round < 20; ++round)
          sum += thread % 4 == round % 4 ? 0 : 1000 * round + thread;
      test::expect(sums.read()[0] == sum, "%d blocks of %d: with any tag %d, not %d", blocks, threads,
                   sums.read()[0], sum);
    }
  test::Array<int> wrong(1);
  to_all<<<1, 32>>>(test::rank, test::size, wrong.data());
  test::synchronize();
  chain<<<1, 32>>>(test::rank, wrong.data());
  test::synchronize();
  test::expect(wrong.read()[0] == 0, "%d wrong", wrong.read()[0]);
  MPI_Comm_free(&any);
  return test::end();
}
