// Messages around every length at which a call takes another way (with its Attribute, by one warp,
// by the block, beside its Reply, by way of staging memory), at addresses of words and of bytes, into
// buffers with room for more; by grid, block and thread, and blocks with and without a whole warp.
// RUN: %gmpicxx %s -o %t
// RUN: env GMPI_LOWER=queue %ranks 1-3 %t
// RUN: env GMPI_LOWER=queue GMPI_PEER=1 %ranks 2 %t
#include "Inputs/messages.h"

using test::fill, test::verify, test::Threads;

constexpr int lengths[] = {0, 1, 2, 3, 4, 7, 8, 9, 10, 11, 12, 13, 16, 48,
                           49, 52, 64, 72, 73, 76, 232, 236, 335, 336, 337, 340, 380, 384,
                           385, 388, 767, 768, 772, 996, 1000, 1004, 1023, 1256, 1260, 1487, 1488, 1489,
                           1492, 1535, 1536, 1537, 1540, 3071, 3072, 4096, 6143, 6144, 6145, 6148, 8192, 8196,
                           65535, 65536, 65537};
constexpr int guard = 8, more = 5;
constexpr int room = 65537 + 7 + 2 * guard + more;
constexpr test::Around around{guard, more + guard};

/// Which message that is: what another call's memory still holds is not it.
__device__ int message(int block, int length) { return 7 * block + 3 * length; }

struct Ring {
  int rank, next, previous;
};

__global__ void by_grid(unsigned char *outs, unsigned char *ins, Ring ring, int length, int step,
                        int *wrong) {
  const Threads threads{test::number(), test::numbers()};
  for (int offset : {0, 1, 4}) {
    unsigned char *out = outs + guard + offset, *in = ins + guard + offset;
    fill(out, in, length, around, ring.rank, step, message(0, length), threads);
    MPI_Status status;
    if (step == 0) {
      MPI_Sendrecv(out, length, MPI_BYTE, ring.next, 1, in, length + more, MPI_BYTE, ring.previous, 1,
                   MPI_COMM_WORLD, &status);
    } else if (step == 1) {
      MPI_Request requests[2];
      MPI_Irecv(in, length + more, MPI_BYTE, ring.previous, 2, MPI_COMM_WORLD, &requests[0]);
      MPI_Isend(out, length, MPI_BYTE, ring.next, 2, MPI_COMM_WORLD, &requests[1]);
      MPI_Wait(&requests[0], &status);
      MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
    } else if (step == 2) {
      MPI_Request requests[3] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL};
      MPI_Isend(out, length, MPI_BYTE, ring.next, 3, MPI_COMM_WORLD, &requests[0]);
      MPI_Irecv(in, length + more, MPI_BYTE, ring.previous, 3, MPI_COMM_WORLD, &requests[2]);
      MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
      if (requests[0] != MPI_REQUEST_NULL || requests[2] != MPI_REQUEST_NULL)
        atomicAdd(wrong, 1);
    } else if (length <= 65536) {
      MPI_Send(out, length, MPI_BYTE, ring.next, 4, MPI_COMM_WORLD);
      MPI_Recv(in, length + more, MPI_BYTE, ring.previous, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
      MPI_Sendrecv(out, length, MPI_BYTE, ring.next, 5, in, length, MPI_BYTE, ring.previous, 5,
                   MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    if (step < 2) {
      int count = -1;
      MPI_Get_count(&status, MPI_BYTE, &count);
      if (count != length || status.MPI_SOURCE != ring.previous || status.MPI_TAG != step + 1)
        atomicAdd(wrong, 1);
    }
    verify(in, length, around, ring.previous, step, message(0, length), threads, wrong);
    MPI_Barrier(MPI_COMM_WORLD); // all blocks have looked
  }
}

__global__ void by_block(unsigned char *outs, unsigned char *ins, Ring ring, int length,
                         int *wrong) {
  unsigned char *out = outs + blockIdx.x * room + guard, *in = ins + blockIdx.x * room + guard;
  const Threads threads{int(threadIdx.x), int(blockDim.x)};
  for (int step = 0; step < 2; ++step) {
    fill(out, in, length, around, ring.rank, step, message(blockIdx.x, length), threads);
    if (step == 0) {
      MPI_Sendrecv(out, length, MPI_BYTE, ring.next, blockIdx.x, in, length + more, MPI_BYTE,
                   ring.previous, blockIdx.x, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
      MPI_Request requests[2];
      MPI_Isend(out, length, MPI_BYTE, ring.next, blockIdx.x, MPI_COMM_WORLD, &requests[0]);
      MPI_Irecv(in, length, MPI_BYTE, ring.previous, blockIdx.x, MPI_COMM_WORLD, &requests[1]);
      MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    }
    __syncthreads();
    verify(in, length, around, ring.previous, step, message(blockIdx.x, length), threads, wrong);
    __syncthreads();
  }
}

__global__ void by_thread(unsigned char *outs, unsigned char *ins, Ring ring, int length,
                          int *wrong) {
  unsigned char *out = outs + threadIdx.x * (room + 3) / 4 * 4 + guard;
  unsigned char *in = ins + threadIdx.x * (room + 3) / 4 * 4 + guard;
  fill(out, in, length, around, ring.rank, 0, message(threadIdx.x, length), {0, 1});
  MPI_Sendrecv(out, length, MPI_BYTE, ring.next, threadIdx.x, in, length + more, MPI_BYTE,
               ring.previous, threadIdx.x, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  verify(in, length, around, ring.previous, 0, message(threadIdx.x, length), {0, 1}, wrong);
  if (length > 65536)
    return; // MPI_Send may wait for its receiver
  for (int offset : {0, 1}) {
    fill(out, in + offset, length, around, ring.rank, 1, message(threadIdx.x, length), {0, 1});
    MPI_Send(out, length, MPI_BYTE, ring.next, threadIdx.x, MPI_COMM_WORLD);
    MPI_Status status;
    MPI_Recv(in + offset, length, MPI_BYTE, ring.previous, threadIdx.x, MPI_COMM_WORLD, &status);
    int count = -1;
    MPI_Get_count(&status, MPI_BYTE, &count);
    if (count != length || status.MPI_SOURCE != ring.previous || status.MPI_TAG != int(threadIdx.x))
      atomicAdd(wrong, 1);
    verify(in + offset, length, around, ring.previous, 1, message(threadIdx.x, length), {0, 1}, wrong);
  }
}

/// Alone, and again: the first time a way for it is found.
__global__ void by_one_thread(unsigned char *outs, unsigned char *ins, Ring ring, int length,
                              int *wrong) {
  if (threadIdx.x == 0 && blockIdx.x == 0)
    for (int offset : {0, 4, 1, 0}) {
      unsigned char *out = outs + guard + offset, *in = ins + guard + offset;
      fill(out, in, length, around, ring.rank, offset, message(0, length), {0, 1});
      MPI_Send(out, length, MPI_BYTE, ring.next, offset, MPI_COMM_WORLD);
      MPI_Recv(in, length + more, MPI_BYTE, ring.previous, offset, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      verify(in, length, around, ring.previous, offset, message(0, length), {0, 1}, wrong);
    }
}

int main(int argc, char **argv) {
  test::begin(&argc, &argv);
  test::Array<unsigned char> out(3 * room), in(3 * room);
  test::Array<int> wrong(1);
  Ring ring{test::rank, test::next(), test::previous()};
  auto none_wrong = [&](const char *scope, int length, int blocks, int threads) {
    test::synchronize();
    test::expect_each(wrong, [](int) { return 0; }, scope);
    if (test::failures != 0)
      std::fprintf(stderr, "%s: %d bytes, %d blocks of %d threads\n", scope, length, blocks, threads);
  };
  wrong.write({0});
  for (int length : lengths) {
    for (int step = 0; step < 4; ++step)
      for (int blocks : {1, 3}) {
        int threads = step == 3 && length < 2000 ? 20 : 64;
        by_grid<<<blocks, threads>>>(out.data(), in.data(), ring, length, step, wrong.data());
        none_wrong("grid", length, blocks, threads);
      }
    by_block<<<3, 96>>>(out.data(), in.data(), ring, length, wrong.data());
    none_wrong("block", length, 3, 96);
    by_thread<<<1, 3>>>(out.data(), in.data(), ring, length, wrong.data());
    none_wrong("thread", length, 1, 3);
    if (length <= 65536) {
      by_one_thread<<<1, 32>>>(out.data(), in.data(), ring, length, wrong.data());
      none_wrong("one thread", length, 1, 32);
    }
  }
  return test::end();
}
