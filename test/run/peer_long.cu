// Long messages from kernel to kernel by blocking calls: MPI_Send, MPI_Recv and MPI_Sendrecv of grids and of
// blocks, between short ones, where one rank or the other is late, named or from anybody, while other blocks of
// the rank send and receive, too.
// LOWERINGS: queue (split kernels leave such communicators to the queue)
// RUN: %gmpicxx %s -o %t
// RUN: env GMPI_PEER=1 GMPI_STATS=1 %ranks 2 %t 2>&1 | FileCheck %s
// RUN: env GMPI_PEER=1 %ranks 2-3 %t
// RUN: env GMPI_PEER=1 GMPI_HOSTS_FOR_TESTS=2 %ranks 2 %t
// CHECK: of these messages, {{[1-9][0-9]*}} long ones were stored where they belong
#include "Inputs/check.h"
#include "Inputs/threads.h"

#include <chrono>
#include <thread>

constexpr int most = 300000, rounds = 12, blocks = 3;

__device__ unsigned char pattern(int i, int message) {
  return static_cast<unsigned char>(i * 7 + i / 251 + message);
}
/// Some are short, most are long; of these, some are for all blocks of a grid to store.
__host__ __device__ int length_of(int message) {
  return message % 4 == 1 ? 40 + 3001 * (message % 8) : 65537 + 20011 * (message % 12);
}
/// The other ranks wait, or their messages do.
__device__ void be_late(bool late) {
  if (late)
    for (int i = 0; i < 200; ++i)
      __nanosleep(1000);
}

__device__ void fill(unsigned char *data, int length, int message, test::Threads threads) {
  for (int i = threads.rank; i < length; i += threads.size)
    data[i] = pattern(i, message);
}
__device__ int count_wrong(const unsigned char *data, int length, int message, test::Threads threads) {
  int wrong = 0;
  for (int i = threads.rank; i < length; i += threads.size)
    wrong += data[i] != pattern(i, message);
  return wrong;
}
/// Of a message's status, whoever may have sent it.
__device__ bool is_right(const MPI_Status &status, int length, int source, int tag) {
  int count = -1;
  MPI_Get_count(&status, MPI_BYTE, &count);
  return count == length && status.MPI_SOURCE == source && status.MPI_TAG == tag;
}

/// Round the ranks, all of a grid together: some send first, the others receive first.
__global__ void by_grid(unsigned char *data, unsigned char *got, int rank, int next, int previous,
                        int *wrong) {
  for (int m = 0; m < rounds; ++m) {
    const int length = length_of(m);
    fill(data, length, m, test::of_grid());
    MPI_Barrier(MPI_COMM_WORLD); // all blocks have
    be_late(m % 6 == 3 + rank % 2);
    if (rank % 2 == 0)
      MPI_Send(data, length, MPI_BYTE, next, m, MPI_COMM_WORLD);
    if (m % 3 == 0) {
      MPI_Recv(got, most, MPI_BYTE, previous, m, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
      MPI_Status status;
      MPI_Recv(got, most, MPI_BYTE, m % 3 == 1 ? previous : MPI_ANY_SOURCE, m % 5 == 0 ? MPI_ANY_TAG : m,
               MPI_COMM_WORLD, &status);
      if (!is_right(status, length, previous, m))
        atomicAdd(wrong, 1);
    }
    if (rank % 2 == 1)
      MPI_Send(data, length, MPI_BYTE, next, m, MPI_COMM_WORLD);
    if (int count = count_wrong(got, length, m, test::of_grid()))
      atomicAdd(wrong, count);
    MPI_Barrier(MPI_COMM_WORLD); // the buffers are used again
  }
}

/// Both at once, of other lengths; at the ends there is nobody.
__global__ void exchanges(unsigned char *data, unsigned char *got, int rank, int next, int previous,
                          int *wrong) {
  for (int m = 0; m < rounds; ++m) {
    const int mine = length_of(m + (rank % 2 == 0 ? 0 : 3)), its = length_of(m + (previous % 2 == 0 ? 0 : 3));
    fill(data, mine, m, test::of_grid());
    MPI_Barrier(MPI_COMM_WORLD);
    be_late(m % 4 == rank % 2);
    const bool ends = m % 5 == 4; // a line of ranks instead of a circle
    const int to = ends && next == 0 ? MPI_PROC_NULL : next;
    const int from = ends && rank == 0 ? MPI_PROC_NULL : previous;
    MPI_Status status;
    MPI_Sendrecv(data, mine, MPI_BYTE, to, m, got, most, MPI_BYTE, from, m, MPI_COMM_WORLD,
                 m % 2 == 0 ? MPI_STATUS_IGNORE : &status);
    if (from != MPI_PROC_NULL) {
      if (m % 2 != 0 && !is_right(status, its, previous, m))
        atomicAdd(wrong, 1);
      if (int count = count_wrong(got, its, m, test::of_grid()))
        atomicAdd(wrong, count);
    }
    MPI_Barrier(MPI_COMM_WORLD);
  }
}

/// Each block with the others' of its number; the last one by nonblocking calls.
__global__ void by_block(unsigned char *data, unsigned char *got, MPI_Request *requests, int rank, int next,
                         int previous, int *wrong) {
  unsigned char *mine = data + blockIdx.x * most, *its = got + blockIdx.x * most;
  MPI_Request *its_requests = requests + 2 * blockIdx.x;
  for (int m = 0; m < rounds; ++m) {
    const int message = m + blockIdx.x, length = length_of(message), tag = rounds * blockIdx.x + m;
    fill(mine, length, message, test::of_block());
    __syncthreads();
    be_late(m % 6 == 3 + rank % 2);
#pragma gmpi scope(block)
    {
      if (blockIdx.x == blocks - 1) {
        MPI_Irecv(its, most, MPI_BYTE, previous, tag, MPI_COMM_WORLD, its_requests);
        MPI_Isend(mine, length, MPI_BYTE, next, tag, MPI_COMM_WORLD, its_requests + 1);
        MPI_Waitall(2, its_requests, MPI_STATUSES_IGNORE);
      } else if (m % 3 == 2) {
        MPI_Sendrecv(mine, length, MPI_BYTE, next, tag, its, most, MPI_BYTE, previous, tag, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
      } else if (rank % 2 == 0) {
        MPI_Send(mine, length, MPI_BYTE, next, tag, MPI_COMM_WORLD);
        MPI_Recv(its, most, MPI_BYTE, previous, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      } else {
        MPI_Recv(its, most, MPI_BYTE, previous, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Send(mine, length, MPI_BYTE, next, tag, MPI_COMM_WORLD);
      }
    }
    __syncthreads();
    if (int count = count_wrong(its, length, message, test::of_block()))
      atomicAdd(wrong, count);
    __syncthreads();
  }
}

int main(int argc, char **argv) {
  test::begin(&argc, &argv);
  const int next = test::next(), previous = test::previous(), rank = test::rank;
  test::Array<unsigned char> data(blocks * most), got(blocks * most);
  test::Array<MPI_Request> requests(2 * blocks);
  test::Array<int> wrong(1);
  for (int launch = 0; launch < 4; ++launch) {
    by_grid<<<launch % 2 == 0 ? 1 : blocks, 64>>>(data.data(), got.data(), rank, next, previous, wrong.data());
    exchanges<<<launch % 2 == 0 ? blocks : 1, 64>>>(data.data(), got.data(), rank, next, previous, wrong.data());
    by_block<<<blocks, 64>>>(data.data(), got.data(), requests.data(), rank, next, previous, wrong.data());
    test::synchronize();
    test::expect(wrong.read()[0] == 0, "%d are wrong in launch %d", wrong.read()[0], launch);
    std::this_thread::sleep_for(std::chrono::milliseconds(30)); // the hosts map what has been asked for
  }
  return test::end();
}
