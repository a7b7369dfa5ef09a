// Receives that are posted from kernel to kernel, before their messages, behind them or meanwhile: more of
// them than the ring of posted receives has room for, by several blocks at once, with wildcards among
// them; requests that a grid has made and a block, or a thread, completes; and what a grid has begun to
// send before what its blocks send by themselves.
// LOWERINGS: queue (split kernels leave such communicators to the queue)
// RUN: %gmpicxx %s -o %t
// RUN: env GMPI_PEER=1 %ranks 1-3 %t
// RUN: env GMPI_PEER=1 GMPI_HOSTS_FOR_TESTS=2 %ranks 2 %t
#include "Inputs/check.h"

constexpr int window = 90, blocks = 3; // a window is more than the ring has room for
constexpr int room = test::thread_sanitizer ? 2304 : 9000; // bytes of a message at most
constexpr int rounds = test::thread_sanitizer ? 1 : 3;     // of each kind

struct Windows {
  unsigned char *data, *got; ///< [blocks][window][room]
  int next, previous;
  int *wrong;
};

__device__ unsigned char byte_of(int message, int i) { return static_cast<unsigned char>(13 * message + i + i / 240); }
/// Of message k in a round: what the header carries, a warp, a turn of a warp's, a block.
__device__ int length_of(int round, int k) {
  const int lengths[] = {8, 0, 220, 1100, 2048, 2100, room, room / 2, 4};
  return lengths[(k + round) % 9];
}
/// Of three messages that follow each other, two have the same tag.
__device__ int tag_of(int block, int k) { return 1000 * block + k / 3 * 2 + (k % 3 == 2); }

__device__ void fill(const Windows &w, int block, int round) {
  for (int k = 0; k < window; ++k)
    for (int i = threadIdx.x; i < room; i += blockDim.x) {
      w.data[(block * window + k) * room + i] = byte_of(block + round + k, i);
      w.got[(block * window + k) * room + i] = 0;
    }
  __syncthreads();
}
__device__ void verify(const Windows &w, int block, int round, const int *from) {
  for (int k = 0; k < window; ++k) {
    const int message = from != nullptr ? from[k] : k;
    for (int i = threadIdx.x; i < length_of(round, message); i += blockDim.x)
      if (w.got[(block * window + k) * room + i] != byte_of(block + round + message, i))
        atomicAdd(w.wrong, 1);
  }
  __syncthreads();
}

__device__ void receive(const Windows &w, int block, int, MPI_Request *requests, int first, int end) {
  for (int k = first; k < end; ++k) // every seventh takes it from whoever sends it
    MPI_Irecv(w.got + (block * window + k) * room, room, MPI_BYTE, k % 7 == 3 ? MPI_ANY_SOURCE : w.previous,
              tag_of(block, k), MPI_COMM_WORLD, &requests[k]);
}
__device__ void send(const Windows &w, int block, int round, MPI_Request *requests, int first, int end) {
  for (int k = first; k < end; ++k)
    MPI_Isend(w.data + (block * window + k) * room, length_of(round, k), MPI_BYTE, w.next, tag_of(block, k),
              MPI_COMM_WORLD, &requests[window + k]);
}

/// Each block for itself; none waits before all of its receives are posted, or half of them.
__device__ void by_block(const Windows &w, int block) {
  for (int round = 0; round < rounds; ++round) {
    MPI_Request requests[2 * window];
    fill(w, block, round);
    if (round % 3 == 0) { // posted before
      receive(w, block, round, requests, 0, window);
      send(w, block, round, requests, 0, window);
    } else if (round % 3 == 1) { // and behind
      send(w, block, round, requests, 0, window);
      receive(w, block, round, requests, 0, window);
    } else {
      receive(w, block, round, requests, 0, window / 2);
      send(w, block, round, requests, 0, window);
      MPI_Waitall(window / 4, requests, MPI_STATUSES_IGNORE);
      receive(w, block, round, requests, window / 2, window);
    }
    MPI_Waitall(2 * window, requests, MPI_STATUSES_IGNORE);
    __syncthreads();
    verify(w, block, round, nullptr);
  }
}
__global__ void windows(Windows w) {
  if (blockIdx.x == 0)
    by_block(w, 0);
  if (blockIdx.x == 1)
    by_block(w, 1);
  if (blockIdx.x == 2)
    by_block(w, 2);
}

/// What a grid has posted, and sent, its first block completes, or a thread of its last.
__global__ void completed_by_others(Windows w, MPI_Request *requests, int round) {
  if (blockIdx.x == 0)
    fill(w, 0, round);
  for (int k = 0; k < window; ++k)
    MPI_Irecv(w.got + k * room, room, MPI_BYTE, k % 2 ? MPI_ANY_SOURCE : w.previous, tag_of(0, k), MPI_COMM_WORLD,
              &requests[k]);
  for (int k = 0; k < window; ++k)
    MPI_Isend(w.data + k * room, length_of(round, k), MPI_BYTE, w.next, tag_of(0, k), MPI_COMM_WORLD,
              &requests[window + k]);
  if (round % 2 == 0) {
    if (blockIdx.x == 0)
      MPI_Waitall(2 * window, requests, MPI_STATUSES_IGNORE);
  } else {
    if (blockIdx.x == gridDim.x - 1 && threadIdx.x == 5)
      for (int k = 2 * window - 1; k >= 0; --k)
        MPI_Wait(&requests[k], MPI_STATUS_IGNORE);
  }
}
__global__ void verify_first(Windows w, int round) { verify(w, 0, round, nullptr); }

/// A grid begins to send; then each block sends the same tag by itself: no message of a block's comes before.
/// The receiver's calls are a grid's and its first block's.
__global__ void in_order(int *value, int *got, int next, int previous, int messages, int *wrong) {
  for (int i = 0; i < messages; ++i) {
    MPI_Request request;
    int *its = value + i % 8;
    if (blockIdx.x == 0 && threadIdx.x == 0)
      *its = i;
    MPI_Isend(its, 1, MPI_INT, next, 7, MPI_COMM_WORLD, &request);
    if (blockIdx.x == gridDim.x - 1) {
      const int own = 1000 + i;
      if (threadIdx.x == 0)
        MPI_Send(&own, 1, MPI_INT, next, 7, MPI_COMM_WORLD);
    }
    if (blockIdx.x == 0) {
      if (threadIdx.x == 0) {
        int first = -1, second = -1;
        MPI_Recv(&first, 1, MPI_INT, previous, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Recv(&second, 1, MPI_INT, previous, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (first != i || second != 1000 + i)
          atomicAdd(wrong, 1);
      }
    }
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  // The same for what a grid posts before its block receives.
  for (int i = 0; i < messages; ++i) {
    MPI_Request request;
    if (blockIdx.x == 0 && threadIdx.x == 0)
      got[0] = got[1] = -1;
    MPI_Irecv(got, 1, MPI_INT, previous, 8, MPI_COMM_WORLD, &request);
    if (blockIdx.x == gridDim.x - 1 && threadIdx.x == 0)
      for (int k = 0; k < 2; ++k) {
        const int own = 2 * i + k;
        MPI_Send(&own, 1, MPI_INT, next, 8, MPI_COMM_WORLD);
      }
    if (blockIdx.x == gridDim.x / 2 && threadIdx.x == 0)
      MPI_Recv(got + 1, 1, MPI_INT, previous, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD); // all blocks have come here
    if (blockIdx.x == 0 && threadIdx.x == 0 && (got[0] != 2 * i || got[1] != 2 * i + 1))
      atomicAdd(wrong, 1);
  }
}

int main(int argc, char **argv) {
  test::begin(&argc, &argv);
  const int all = blocks * window * room;
  test::Array<unsigned char> data(all), got(all);
  test::Array<int> wrong(1), value(8), values(2);
  test::Array<MPI_Request> requests(2 * window);
  auto check = [&](const char *what) {
    test::synchronize();
    test::expect(wrong.read()[0] == 0, "%s: %d wrong", what, wrong.read()[0]);
  };
  Windows w{data.data(), got.data(), test::next(), test::previous(), wrong.data()};
  windows<<<blocks, 96>>>(w);
  check("windows of blocks");
  for (int round = 0; round < (test::thread_sanitizer ? 2 : 4); ++round) {
    completed_by_others<<<4, 64>>>(w, requests.data(), round);
    check("requests of a grid");
    verify_first<<<1, 128>>>(w, round);
    check("what a grid has posted");
  }
  in_order<<<5, 64>>>(value.data(), values.data(), test::next(), test::previous(),
                        test::thread_sanitizer ? 10 : 100, wrong.data());
  check("a grid and its blocks");
  return test::end();
}
