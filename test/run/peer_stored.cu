// Long messages from kernel to kernel, stored where they belong once the receive's allocation is mapped:
// any length at any address, at every scope, in allocations that come and go, in memory that cannot be
// mapped, into receives that are too small.
// LOWERINGS: queue (split kernels leave such communicators to the queue)
// RUN: %gmpicxx %s -o %t
// RUN: env GMPI_PEER=1 GMPI_STATS=1 %ranks 2 %t 2>&1 | FileCheck %s
// RUN: env GMPI_PEER=1 %ranks 1-3 %t
// CHECK: of these messages, {{[1-9][0-9]*}} long ones were stored where they belong, and {{[1-9][0-9]*}} went through a ring: a buffer is not in memory of cudaMalloc's
#include "Inputs/check.h"

#include <chrono>
#include <random>
#include <thread>

__device__ unsigned char fixed[300000]; // no process but this one can map it

__device__ unsigned char pattern(unsigned long long i, int message) {
  return static_cast<unsigned char>(i * 7 + i / 251 + message);
}

/// A ring of long messages. `from`, `to`: offsets. What lies around the received bytes stays.
__global__ void around(unsigned char *data, unsigned char *got, const int *lengths, const int *from,
                       const int *to, int messages, int next, int previous, int *wrong) {
  const int thread = blockIdx.x * blockDim.x + threadIdx.x, threads = gridDim.x * blockDim.x;
  for (int m = 0; m < messages; ++m) {
    const int length = lengths[m];
    for (int i = thread; i < length; i += threads) {
      data[from[m] + i] = pattern(i, m);
      got[to[m] + i] = 0;
    }
    if (thread == 0)
      got[to[m] - 1] = got[to[m] + length] = 77;
    MPI_Status status;
    MPI_Sendrecv(data + from[m], length, MPI_BYTE, next, m, got + to[m], length, MPI_BYTE, previous, m,
                 MPI_COMM_WORLD, &status);
    int count = -1;
    MPI_Get_count(&status, MPI_BYTE, &count);
    for (int i = thread; i < length; i += threads)
      if (got[to[m] + i] != pattern(i, m))
        atomicAdd(wrong, 1);
    if (count != length || status.MPI_SOURCE != previous || got[to[m] - 1] != 77 ||
        got[to[m] + length] != 77)
      atomicAdd(wrong, 1);
    MPI_Barrier(MPI_COMM_WORLD); // the buffers are used again
  }
}

/// Several at once, some of them synchronous, received in another order.
__global__ void at_once(unsigned char *data, unsigned char *got, int length, int next, int previous,
                        MPI_Request *requests, int *wrong) {
  const int thread = blockIdx.x * blockDim.x + threadIdx.x, threads = gridDim.x * blockDim.x;
  for (int i = thread; i < 4 * length; i += threads) {
    data[i] = pattern(i % length, i / length);
    got[i] = 0;
  }
  MPI_Barrier(MPI_COMM_WORLD); // and all blocks have done that
  for (int m = 0; m < 2; ++m)
    MPI_Irecv(got + m * length, length, MPI_BYTE, m == 0 ? MPI_ANY_SOURCE : previous, m, MPI_COMM_WORLD,
              requests + m);
  for (int m = 3; m >= 0; --m)
    MPI_Isend(data + m * length, length, MPI_BYTE, next, m, MPI_COMM_WORLD, requests + 4 + m);
  for (int m = 3; m >= 2; --m)
    MPI_Irecv(got + m * length, length, MPI_BYTE, previous, m == 2 ? MPI_ANY_TAG : m, MPI_COMM_WORLD,
              requests + m);
  MPI_Waitall(8, requests, MPI_STATUSES_IGNORE);
  for (int i = thread; i < 4 * length; i += threads)
    if (got[i] != pattern(i % length, i / length))
      atomicAdd(wrong, 1);
}

/// Each block with its own partner, and one thread of each as well.
__global__ void by_block(unsigned char *data, unsigned char *got, int length, int next, int previous,
                         int *wrong) {
  unsigned char *mine = data + blockIdx.x * length, *its = got + blockIdx.x * length;
  for (int m = 0; m < 6; ++m) {
    for (int i = threadIdx.x; i < length; i += blockDim.x) {
      mine[i] = pattern(i, m);
      its[i] = 0;
    }
    __syncthreads();
    if (m % 2 == 0) {
#pragma gmpi scope(block)
      MPI_Sendrecv(mine, length, MPI_BYTE, next, blockIdx.x, its, length, MPI_BYTE, previous, blockIdx.x,
                   MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else if (threadIdx.x == 0) {
      MPI_Request request;
      MPI_Irecv(its, length, MPI_BYTE, previous, 100 + blockIdx.x, MPI_COMM_WORLD, &request);
      MPI_Ssend(mine, length, MPI_BYTE, next, 100 + blockIdx.x, MPI_COMM_WORLD);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    __syncthreads();
    for (int i = threadIdx.x; i < length; i += blockDim.x)
      if (its[i] != pattern(i, m))
        atomicAdd(wrong, 1);
    __syncthreads();
  }
}

/// Into memory that cannot be mapped.
__global__ void into_fixed(unsigned char *data, int next, int previous, int *wrong) {
  const int thread = blockIdx.x * blockDim.x + threadIdx.x, threads = gridDim.x * blockDim.x;
  const int length = sizeof(fixed);
  for (int i = thread; i < length; i += threads)
    data[i] = pattern(i, 5);
  MPI_Sendrecv(data, length, MPI_BYTE, next, 0, fixed, length, MPI_BYTE, previous, 0, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
  for (int i = thread; i < length; i += threads)
    if (fixed[i] != pattern(i, 5))
      atomicAdd(wrong, 1);
}

/// What does not fit is not written, even though the buffer is mapped.
__global__ void truncated(unsigned char *data, unsigned char *got, int length, int room, int next,
                          int previous, int *wrong) {
  if (blockIdx.x * blockDim.x + threadIdx.x == 0)
    got[room] = 77;
  MPI_Request request;
  MPI_Isend(data, length, MPI_BYTE, next, 0, MPI_COMM_WORLD, &request);
  int error = MPI_Recv(got, room, MPI_BYTE, previous, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  if (blockIdx.x * blockDim.x + threadIdx.x == 0 && (error == MPI_SUCCESS || got[room] != 77))
    atomicAdd(wrong, 1);
}

/// The hosts have time to offer and map what the kernels before have asked for.
void let_hosts_map() { std::this_thread::sleep_for(std::chrono::milliseconds(30)); }

void exchange_at_random(unsigned char *data, unsigned char *got, int most, unsigned seed) {
  const int messages = 5, longest = most / 2;
  std::mt19937 random(seed);
  std::vector<int> lengths(messages), from(messages), to(messages);
  for (int m = 0; m < messages; ++m) {
    lengths[m] = 65537 + random() % (longest - 65537);
    // Some as the program has allocated them, some at any address.
    from[m] = m % 2 == 0 ? 256 : random() % (most - lengths[m]);
    to[m] = m % 2 == 0 ? 256 : 1 + random() % (most - lengths[m] - 2);
  }
  test::Array<int> numbers(messages), begins(messages), ends(messages), wrong(1);
  numbers.write(lengths);
  begins.write(from);
  ends.write(to);
  around<<<4, 128>>>(data, got, numbers.data(), begins.data(), ends.data(), messages, test::next(),
                     test::previous(), wrong.data());
  test::synchronize();
  test::expect(wrong.read()[0] == 0, "random messages, seed %u: %d wrong", seed, wrong.read()[0]);
}

int main(int argc, char **argv) {
  test::begin(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  const int length = 140001, next = test::next(), previous = test::previous();
  test::Array<int> wrong(1);
  test::Array<MPI_Request> requests(8);
  // Allocations come and go, at addresses that others have had.
  for (unsigned round = 0; round < 6; ++round) {
    const int most = 600000 + 400000 * (round % 2);
    test::Array<unsigned char> data(most), got(most);
    for (unsigned launch = 0; launch < 4; ++launch) {
      exchange_at_random(data.data(), got.data(), most, 10 * round + launch);
      let_hosts_map();
    }
    if (round % 3 != 1)
      continue;
    at_once<<<3, 128>>>(data.data(), got.data(), length, next, previous, requests.data(), wrong.data());
    by_block<<<2, 64>>>(data.data(), got.data(), length, next, previous, wrong.data());
    into_fixed<<<2, 128>>>(data.data(), next, previous, wrong.data());
    truncated<<<2, 64>>>(data.data(), got.data(), 200000, 100000, next, previous, wrong.data());
    test::synchronize();
    test::expect(wrong.read()[0] == 0, "%d are wrong in round %u", wrong.read()[0], round);
  }
  return test::end();
}
