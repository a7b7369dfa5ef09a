// Messages that a warp carries by itself with a few packets in each lane: every length around and among
// these, in blocks' calls and grids', by whatever sends or receives; into room that they fill or not; with
// nothing written behind their end, and at addresses where they are carried otherwise. So many of two slots
// that one of them is the ring's last and its first.
// LOWERINGS: queue (split kernels leave such communicators to the queue)
// RUN: %gmpicxx %s -o %t
// RUN: env GMPI_PEER=1 %ranks 2 %t
#include "Inputs/check.h"

constexpr int most = 320, guard = 8; // of four bytes each

__device__ int word_of(int turn, int sender, int i) { return 1000003 * turn + 77 * sender + i; }

/// Buffers of a kernel's calls.
struct Buffers {
  int *data, *got;
};

/// Which words this thread writes or looks at, of those that share the work.
struct Share {
  int first, step;
};
__device__ Share share_of_block() { return {int(threadIdx.x), int(blockDim.x)}; }
__device__ Share share_of_grid() {
  return {int(blockIdx.x * blockDim.x + threadIdx.x), int(gridDim.x * blockDim.x)};
}

__device__ void fill(Share its, int *data, int words, int turn, int sender) {
  for (int i = its.first; i < words; i += its.step)
    data[i] = word_of(turn, sender, i);
}
__device__ void clear(Share its, int *got, int words) {
  for (int i = its.first; i < words + guard; i += its.step)
    got[i] = -1;
}
__device__ void check(Share its, const int *got, int words, int turn, int sender, int *wrong) {
  for (int i = its.first; i < words + guard; i += its.step)
    if (got[i] != (i < words ? word_of(turn, sender, i) : -1))
      atomicAdd(wrong, 1);
}

/// To and fro, then both at once: from and to addresses so many words of four bytes behind the buffers.
/// By a block, or all blocks of a grid.
__device__ void exchange(Share its, Buffers buffers, int least, int end, int shift, int rank, int *wrong) {
  const int partner = rank ^ 1;
  int *const from = buffers.data + shift, *const to = buffers.got + shift;
  for (int words = least; words < end; ++words) {
    const int space = words % 3 == 0 ? words : words % 3 == 1 ? words + 7 : 2 * most;
    fill(its, from, words, words, rank);
    clear(its, to, words);
    MPI_Status status;
    MPI_Request request;
    if (rank == 0) {
      MPI_Send(from, words, MPI_INT, partner, words, MPI_COMM_WORLD);
      MPI_Recv(to, space, MPI_INT, partner, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
      int count;
      MPI_Get_count(&status, MPI_INT, &count);
      if (count != words || status.MPI_TAG != words || status.MPI_SOURCE != partner)
        atomicAdd(wrong, 1);
    } else {
      MPI_Recv(to, space, MPI_INT, partner, words, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      MPI_Isend(from, words, MPI_INT, partner, words, MPI_COMM_WORLD, &request);
      __syncthreads(); // so that it is not left to the wait
      MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    check(its, to, words, words, partner, wrong);
    MPI_Barrier(MPI_COMM_WORLD);
    clear(its, to, words);
    MPI_Sendrecv(from, words, MPI_INT, partner, 1, to, space, MPI_INT, partner, 1, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    check(its, to, words, words, partner, wrong);
    MPI_Barrier(MPI_COMM_WORLD);
  }
}
__global__ void of_block(Buffers buffers, int least, int end, int shift, int rank, int *wrong) {
  if (blockIdx.x == 0)
    exchange(share_of_block(), buffers, least, end, shift, rank, wrong);
}
__global__ void of_grid(Buffers buffers, int least, int end, int shift, int rank, int *wrong) {
  exchange(share_of_grid(), buffers, least, end, shift, rank, wrong);
}

/// Of one slot and of two, more than a ring has, each written as soon as the one before is sent; written,
/// or read, otherwise than in rows, too.
__global__ void around_the_ring(Buffers buffers, int turns, int rank, int *wrong) {
  for (int turn = 0; turn < turns; ++turn) {
    const int words = turn % 7 == 0 ? 100 : 256 + turn % 20 * 2;
    int *const from = buffers.data + turn % 3 / 2, *const to = buffers.got + turn % 3 % 2;
    if (rank == 0) {
      fill(share_of_block(), from, words, turn, 0);
#pragma gmpi scope(block)
      MPI_Send(from, words, MPI_INT, 1, 2, MPI_COMM_WORLD);
    } else {
      clear(share_of_block(), to, words);
#pragma gmpi scope(block)
      MPI_Recv(to, words, MPI_INT, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      check(share_of_block(), to, words, turn, 0, wrong);
      __syncthreads();
    }
  }
}

/// The receiver takes the last first, so the others are kept; and one that is too long for its room.
__global__ void kept(Buffers buffers, int rank, int *wrong, int *truncated) {
  for (int tag = 0; tag < 3 && rank == 0; ++tag) {
    fill(share_of_block(), buffers.data, 200, tag, 0);
#pragma gmpi scope(block)
    MPI_Send(buffers.data, 200, MPI_INT, 1, tag, MPI_COMM_WORLD);
  }
  for (int tag = 2; tag >= 0 && rank == 1; --tag) {
    clear(share_of_block(), buffers.got, 200);
    const int space = tag == 1 ? 100 : 200;
#pragma gmpi scope(block)
    int error = MPI_Recv(buffers.got, space, MPI_INT, 0, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (threadIdx.x == 0 && tag == 1)
      *truncated = error == MPI_ERR_TRUNCATE;
    check(share_of_block(), buffers.got, space, tag, 0, wrong);
    __syncthreads();
  }
}

int main(int argc, char **argv) {
  test::begin(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  test::Array<int> data(2 * most), got(2 * most), wrong(1, 0), truncated(1, 0);
  const Buffers buffers = {data.data(), got.data()};
  auto result = [&](const char *what) {
    test::synchronize();
    test::expect_equal(wrong.read()[0], 0, what);
  };
  const int least = test::thread_sanitizer ? 240 : 57, end = test::thread_sanitizer ? 260 : most;
  for (int shift : {0, 2, 1}) {
    of_block<<<1, 64>>>(buffers, least, end, shift, test::rank, wrong.data());
    result("wrong words in a block's calls");
    of_grid<<<3, 32>>>(buffers, least, end, shift, test::rank, wrong.data());
    result("wrong words in a grid's calls");
  }
  for (int lap = 0; lap < 3; ++lap) {
    around_the_ring<<<1, 64>>>(buffers, test::thread_sanitizer ? 100 : 2100, test::rank, wrong.data());
    result("wrong words around the ring");
  }
  kept<<<1, 64>>>(buffers, test::rank, wrong.data(), truncated.data());
  result("wrong words of what was kept");
  test::expect_equal(truncated.read()[0], test::rank, "truncations");
  return test::end();
}
