// Long messages from kernel to kernel between variables, which no other process can map, so that they go
// through a channel: any length at any address, by grids, blocks and threads, several at once, with short
// messages between them that take the same slots. The data looks like packets of laps that are to come.
// LOWERINGS: queue (split kernels leave such communicators to the queue)
// RUN: %gmpicxx %s -o %t
// RUN: env GMPI_PEER=1 GMPI_STATS=1 %ranks 2 %t 2>&1 | FileCheck %s
// RUN: env GMPI_PEER=1 %ranks 1-3 %t
// RUN: env GMPI_PEER=1 GMPI_HOSTS_FOR_TESTS=2 %ranks 2 %t
// CHECK: of these messages, 0 long ones were stored where they belong, and {{[1-9][0-9]*}} went through a ring: a buffer is not in memory of cudaMalloc's
#include "Inputs/check.h"
#include "Inputs/threads.h"

constexpr int most = 1500000, rounds = test::thread_sanitizer ? 4 : 14, blocks = 3;

__device__ unsigned char data[most + 64], got[most + 64];

/// Every fourth word of four bytes differs; the others are numbers of laps.
__device__ unsigned char pattern(int i, int message) {
  const int word = i / 4;
  const unsigned value = word % 4 == 3 ? word * 2654435761u + message : 1 + (message + word / 1024) % 12;
  return static_cast<unsigned char>(value >> i % 4 * 8);
}
__host__ __device__ int length_of(int message, int longest) {
  return 65537 + static_cast<int>(message * 2654435761u % (longest - 65537));
}

__device__ void fill(unsigned char *out, int length, int message, test::Threads threads) {
  for (int i = threads.rank; i < length; i += threads.size)
    out[i] = pattern(i, message);
}
__device__ void check(const unsigned char *in, int length, int message, test::Threads threads, int *wrong) {
  int bytes = 0;
  for (int i = threads.rank; i < length; i += threads.size)
    bytes += in[i] != pattern(i, message);
  if (bytes != 0)
    atomicAdd(wrong, bytes);
}

/// Of all blocks, with short messages between: of a grid, and of blocks in the common channel.
__global__ void by_grid(int next, int previous, int *wrong) {
  for (int m = 0; m < rounds; ++m) {
    const int length = length_of(m, most), from = m % 3 * 5, to = m % 4 * 4;
    fill(data + from, length, m, test::of_grid());
    MPI_Barrier(MPI_COMM_WORLD); // all blocks have
    MPI_Sendrecv(data + from, length, MPI_BYTE, next, m, got + to, length, MPI_BYTE, previous, m,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    check(got + to, length, m, test::of_grid(), wrong);
    const int few = m % 2 == 0 ? 100 * m + 1 : 60000;
    MPI_Sendrecv(data + from, few, MPI_BYTE, next, m, got + to, few, MPI_BYTE, previous, m,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    check(got + to, few, m, test::of_grid(), wrong);
    MPI_Barrier(MPI_COMM_WORLD); // the buffers are used again
  }
}

/// Each block with the others' of its number, all at once.
__global__ void by_block(int next, int previous, MPI_Request *requests, int *wrong) {
  constexpr int longest = most / blocks - 16;
  unsigned char *mine = data + blockIdx.x * (most / blocks) + blockIdx.x;
  unsigned char *its = got + blockIdx.x * (most / blocks) + 2 * blockIdx.x;
  for (int m = 0; m < rounds; ++m) {
    const int message = m * blocks + blockIdx.x, length = length_of(message, longest), tag = blockIdx.x;
    fill(mine, length, message, test::of_block());
    __syncthreads();
#pragma gmpi scope(block)
    {
      MPI_Irecv(its, length, MPI_BYTE, previous, tag, MPI_COMM_WORLD, requests + 2 * blockIdx.x);
      MPI_Isend(mine, length, MPI_BYTE, next, tag, MPI_COMM_WORLD, requests + 2 * blockIdx.x + 1);
      MPI_Send(mine, 500, MPI_BYTE, next, blocks + tag, MPI_COMM_WORLD);
      MPI_Waitall(2, requests + 2 * blockIdx.x, MPI_STATUSES_IGNORE);
      check(its, length, message, test::of_block(), wrong);
      __syncthreads();
      MPI_Recv(its, 500, MPI_BYTE, previous, blocks + tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    check(its, 500, message, test::of_block(), wrong);
    __syncthreads();
  }
}

/// One thread; the other end is a block's, or a receive has less room than the message has bytes.
__global__ void by_thread(int next, int previous, int *wrong) {
  const int length = 65536 + 16384 + 7, room = 16384 + 5;
  fill(data, length, 1, test::of_block());
  fill(got, length, 2, test::of_block());
  __syncthreads();
  if (threadIdx.x == 0) {
    MPI_Request request;
    MPI_Isend(data + 3, length - 3, MPI_BYTE, next, 1, MPI_COMM_WORLD, &request);
    MPI_Recv(got + 3, length - 3, MPI_BYTE, previous, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  __syncthreads();
  for (int i = threadIdx.x; i < length; i += blockDim.x)
    if (got[i] != pattern(i, i < 3 ? 2 : 1))
      atomicAdd(wrong, 1);
  fill(got, length, 2, test::of_block());
  __syncthreads();
#pragma gmpi scope(block)
  {
    MPI_Request request;
    MPI_Isend(data, length, MPI_BYTE, next, 2, MPI_COMM_WORLD, &request);
    if (MPI_Recv(got, room, MPI_BYTE, previous, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE) == MPI_SUCCESS &&
        threadIdx.x == 0)
      atomicAdd(wrong, 1);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  for (int i = threadIdx.x; i < length; i += blockDim.x)
    if (got[i] != pattern(i, i < room ? 1 : 2))
      atomicAdd(wrong, 1);
}

int main(int argc, char **argv) {
  test::begin(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  const int next = test::next(), previous = test::previous();
  test::Array<int> wrong(1);
  test::Array<MPI_Request> requests(2 * blocks);
  for (int launch = 0; launch < 2; ++launch) {
    by_grid<<<blocks, 128>>>(next, previous, wrong.data());
    test::synchronize();
    test::expect(wrong.read()[0] == 0, "grids: %d bytes are wrong", wrong.read()[0]);
    by_block<<<blocks, 96>>>(next, previous, requests.data(), wrong.data());
    test::synchronize();
    test::expect(wrong.read()[0] == 0, "blocks: %d bytes are wrong", wrong.read()[0]);
    by_thread<<<1, 64>>>(next, previous, wrong.data());
    test::synchronize();
    test::expect(wrong.read()[0] == 0, "a thread: %d bytes are wrong", wrong.read()[0]);
  }
  return test::end();
}
