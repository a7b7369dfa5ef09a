// Windows of MPI_Isend and MPI_Irecv from kernel to kernel, short and long messages under way together, of grids
// and of blocks at once: completed by MPI_Waitall, by MPI_Wait one by one in another order, or in two parts with
// blocking calls between them; into memory that can be mapped, and into memory that cannot.
// LOWERINGS: queue (split kernels leave such communicators to the queue)
// RUN: %gmpicxx %s -o %t
// RUN: env GMPI_PEER=1 GMPI_STATS=1 %ranks 2 %t 2>&1 | FileCheck %s
// RUN: env GMPI_PEER=1 %ranks 1-3 %t
// RUN: env GMPI_PEER=1 GMPI_HOSTS_FOR_TESTS=2 %ranks 2 %t
// CHECK: of these messages, {{[1-9][0-9]*}} long ones were stored where they belong
#include "Inputs/check.h"

#include <chrono>
#include <thread>

constexpr int window = 10, room = 300000, rounds = test::thread_sanitizer ? 2 : 6, blocks = 3;

__device__ unsigned char fixed[window * room]; // no process but this one can map it

__device__ unsigned char pattern(int i, int message) {
  return static_cast<unsigned char>(i * 7 + i / 251 + message);
}
/// Of every kind: none, what a thread, a warp and a block carry, what is announced.
__device__ int length_of(int message) {
  const int lengths[] = {0, 4, 700, 65540, 9001, 299000, 65536, 131072, 33, 262144};
  return lengths[message % window] - message / window % 3 * (lengths[message % window] > 8);
}

struct Windows {
  unsigned char *data, *got; ///< [window][room] for each that calls
  int next, previous;
  int tag; ///< the first
  int *wrong;
};

/// A grid's threads, or a block's.
struct Threads {
  int thread, threads;
};

__device__ void prepare(const Windows &w, Threads t, int round) {
  for (int k = 0; k < window; ++k) {
    const int message = round * window + k;
    for (int i = t.thread; i < length_of(message); i += t.threads) {
      w.data[k * room + i] = pattern(i, message);
      w.got[k * room + i] = 0;
    }
    if (t.thread == 0)
      w.got[k * room + length_of(message)] = 77;
  }
}

__device__ void verify(const Windows &w, Threads t, int round) {
  for (int k = 0; k < window; ++k) {
    const int message = round * window + k;
    for (int i = t.thread; i < length_of(message); i += t.threads)
      if (w.got[k * room + i] != pattern(i, message))
        atomicAdd(w.wrong, 1);
    if (t.thread == 0 && w.got[k * room + length_of(message)] != 77)
      atomicAdd(w.wrong, 1);
  }
}

/// Posts a window's receives, or its sends, in an order of its own.
__device__ void receive(const Windows &w, int round, MPI_Request *requests) {
  for (int j = 0; j < window; ++j) {
    const int k = (j * 3 + round) % window;
    MPI_Irecv(w.got + k * room, length_of(round * window + k), MPI_BYTE,
              k == 4 ? MPI_ANY_SOURCE : w.previous, w.tag + k, MPI_COMM_WORLD, &requests[k]);
  }
}
__device__ void send(const Windows &w, int round, MPI_Request *requests) {
  for (int j = 0; j < window; ++j) {
    const int k = (j * 7 + 2 * round) % window;
    MPI_Isend(w.data + k * room, length_of(round * window + k), MPI_BYTE, w.next, w.tag + k, MPI_COMM_WORLD,
              &requests[window + k]);
  }
}

__device__ void begin(const Windows &w, int round, MPI_Request *requests) {
  if (round % 3 == 2) { // messages come before their receives
    send(w, round, requests);
    receive(w, round, requests);
  } else {
    receive(w, round, requests);
    send(w, round, requests);
  }
}

__device__ void complete(const Windows &w, int round, MPI_Request *requests) {
  if (round % 4 == 1) {
    for (int k = 2 * window - 1; k >= 0; --k)
      MPI_Wait(&requests[k], MPI_STATUS_IGNORE);
  } else if (round % 4 == 2) {
    MPI_Waitall(window / 2, requests, MPI_STATUSES_IGNORE);
    int sent = round, got = -1;
    MPI_Sendrecv(&sent, 1, MPI_INT, w.next, w.tag + window, &got, 1, MPI_INT, w.previous, w.tag + window,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (got != round)
      atomicAdd(w.wrong, 1);
    MPI_Waitall(2 * window - window / 2, requests + window / 2, MPI_STATUSES_IGNORE);
  } else if (round % 4 == 3) {
    MPI_Status statuses[2 * window];
    MPI_Waitall(2 * window, requests, statuses);
    for (int k = 0; k < window; ++k) {
      int count = -1;
      MPI_Get_count(&statuses[k], MPI_BYTE, &count);
      if (count != length_of(round * window + k) || statuses[k].MPI_TAG != w.tag + k)
        atomicAdd(w.wrong, 1);
    }
  } else {
    MPI_Waitall(2 * window, requests, MPI_STATUSES_IGNORE);
  }
}

__global__ void by_grid(Windows w, int first) {
  const Threads t{static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x),
                  static_cast<int>(gridDim.x * blockDim.x)};
  for (int round = first; round < first + rounds; ++round) {
    prepare(w, t, round);
    MPI_Request requests[2 * window];
    begin(w, round, requests);
    complete(w, round, requests);
    verify(w, t, round);
    MPI_Barrier(MPI_COMM_WORLD); // the buffers are used again, and all blocks have come here
  }
}

__device__ void windows_of_block(const Windows &w, int first) {
  const Threads t{static_cast<int>(threadIdx.x), static_cast<int>(blockDim.x)};
  for (int round = first; round < first + rounds; ++round) {
    prepare(w, t, round);
    __syncthreads();
    MPI_Request requests[2 * window];
    begin(w, round, requests);
    complete(w, round, requests);
    __syncthreads();
    verify(w, t, round);
    __syncthreads();
  }
}

/// Each block with its own partner.
__global__ void by_block(Windows first, Windows second, Windows third, int round) {
  if (blockIdx.x == 0)
    windows_of_block(first, round);
  if (blockIdx.x == 1)
    windows_of_block(second, round);
  if (blockIdx.x == 2)
    windows_of_block(third, round);
}

/// The hosts have time to offer and map what the kernels before have asked for.
void let_hosts_map() { std::this_thread::sleep_for(std::chrono::milliseconds(30)); }

Windows of_block(Windows w, int block) {
  w.data += block * window * room;
  w.got += block * window * room;
  w.tag += 100 * block;
  return w;
}

int main(int argc, char **argv) {
  test::begin(&argc, &argv);
  constexpr int all = blocks * window * room;
  test::Array<unsigned char> data(all), got(all);
  test::Array<int> wrong(1);
  auto check = [&](const char *what) {
    test::synchronize();
    test::expect(wrong.read()[0] == 0, "%s: %d wrong", what, wrong.read()[0]);
    let_hosts_map();
  };
  Windows w{data.data(), got.data(), test::next(), test::previous(), 10, wrong.data()};
  for (int i = 0; i < 2; ++i) {
    by_grid<<<4, 96>>>(w, i * rounds);
    check("a grid");
    by_grid<<<1, 64>>>(w, i * rounds + 1);
    check("a grid of one block");
    by_block<<<blocks, 128>>>(of_block(w, 0), of_block(w, 1), of_block(w, 2), i * rounds);
    check("blocks");
  }
  CUDA_CHECK(cudaGetSymbolAddress(reinterpret_cast<void **>(&w.got), fixed));
  by_grid<<<4, 96>>>(w, 0);
  check("into memory that cannot be mapped");
  return test::end();
}
