// Messages of a block that all of its warps carry, from kernel to kernel: lengths around what a warp, a
// slot and a bundle hold; at any address, with nothing written behind their end; into room that they
// fill or not; by every call that sends or receives, with any number of warps; and the data is written
// again as soon as a call is over.
// LOWERINGS: queue (split kernels leave such communicators to the queue)
// RUN: %gmpicxx %s -o %t
// RUN: env GMPI_PEER=1 %ranks 2 %t
#include "Inputs/check.h"

using Byte = unsigned char;

constexpr int room = 70000, guard = 16;

__device__ int length_of(int turn) {
  const int lengths[] = {232,  233,  236,  240,   512,   999,   1000,  1004,  2048, 3068, 3072,
                         3076, 4096, 4604, 4608,  6144,  7168,  8,     9216,  0,    10752, 10756,
                         1,    12284, 12288, 240, 16384, 30000, 32768, 65532, 65536, 4100};
  return lengths[turn % 32];
}
/// Of the data, behind an address for 16 bytes.
__device__ int offset_of(int turn) {
  const int offsets[] = {0, 8, 4, 1, 16, 12, 2};
  return offsets[(turn / 32 + turn) % 7];
}
__device__ Byte byte_of(int turn, int sender, int i) { return 31 * turn + 7 * sender + i % 251; }

__device__ void fill(Byte *data, int bytes, int turn, int sender) {
  for (int i = threadIdx.x; i < bytes; i += blockDim.x)
    data[i] = byte_of(turn, sender, i);
  __syncthreads();
}
__device__ void clear(Byte *got, int bytes) {
  for (int i = threadIdx.x; i < bytes + guard; i += blockDim.x)
    got[i] = 255;
  __syncthreads();
}
/// What has come, and that nothing behind it has been written.
__device__ void check(const Byte *got, int bytes, int turn, int sender, int *wrong) {
  for (int i = threadIdx.x; i < bytes + guard; i += blockDim.x)
    if (got[i] != (i < bytes ? byte_of(turn, sender, i) : 255))
      atomicAdd(wrong, 1);
  __syncthreads();
}

/// To and fro, then both at once; each block with the other rank's block of that number.
__global__ void exchange(Byte *memory, int turns, int rank, int *wrong) {
  const int partner = rank ^ 1, its = blockIdx.x;
  Byte *const data = memory + 3 * its * room, *const got = data + room, *const second = got + room;
  for (int turn = 0; turn < turns; ++turn) {
    const int bytes = length_of(turn), offset = offset_of(turn), mine = its + rank, theirs = its + partner;
    const int space = turn % 3 == 1 ? bytes + 4 * (turn % 5) : bytes;
    Byte *const from = data + offset, *const to = got + (turn % 4 == 3 ? offset_of(turn + 32) : offset);
    fill(from, bytes, turn, mine);
    clear(to, bytes);
    MPI_Status status;
    if (rank == 0) {
#pragma gmpi scope(block)
      MPI_Send(from, bytes, MPI_BYTE, partner, its, MPI_COMM_WORLD);
    }
    if (turn % 2 == 0) {
#pragma gmpi scope(block)
      MPI_Recv(to, space, MPI_BYTE, partner, its, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
#pragma gmpi scope(block)
      MPI_Recv(to, space, MPI_BYTE, partner, its, MPI_COMM_WORLD, &status);
      int count;
      MPI_Get_count(&status, MPI_BYTE, &count);
      if (threadIdx.x == 0 && (count != bytes || status.MPI_SOURCE != partner || status.MPI_TAG != its))
        atomicAdd(wrong, 1);
    }
    if (rank == 1) {
#pragma gmpi scope(block)
      MPI_Send(from, bytes, MPI_BYTE, partner, its, MPI_COMM_WORLD);
    }
    check(to, bytes, turn, theirs, wrong);

    clear(to, bytes);
#pragma gmpi scope(block)
    MPI_Sendrecv(from, bytes, MPI_BYTE, partner, its, to, space, MPI_BYTE, partner, its, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    check(to, bytes, turn, theirs, wrong);

    // Two under way, of different lengths, and the data is written again behind the call.
    const int next = length_of(turn + 5);
    Byte *const at = second + offset;
    clear(to, bytes);
    clear(at, next);
    MPI_Request request;
#pragma gmpi scope(block)
    MPI_Isend(from, bytes, MPI_BYTE, partner, its, MPI_COMM_WORLD, &request);
#pragma gmpi scope(block)
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    fill(from, next, turn + 1, mine);
    if (rank == 0) {
#pragma gmpi scope(block)
      MPI_Send(from, next, MPI_BYTE, partner, its, MPI_COMM_WORLD);
      fill(from, next, turn + 2, mine);
    }
#pragma gmpi scope(block)
    MPI_Recv(to, bytes, MPI_BYTE, partner, its, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    check(to, bytes, turn, theirs, wrong);
    if (rank == 1) {
#pragma gmpi scope(block)
      MPI_Recv(at, next, MPI_BYTE, partner, its, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      check(at, next, turn + 1, theirs, wrong);
    }
  }
}

/// Received in another order than sent, and beside a single thread's.
__global__ void out_of_order(Byte *memory, int turns, int rank, int *wrong) {
  const int partner = rank ^ 1;
  Byte *const data = memory, *const got = data + room, *const second = got + room;
  for (int turn = 0; turn < turns; ++turn) {
    const int bytes = 300 + 512 * (turn % 20);
    fill(data, 2 * bytes, turn, rank);
    clear(got, bytes);
    clear(second, 2 * bytes);
    if (rank == 0) {
#pragma gmpi scope(block)
      MPI_Send(data, bytes, MPI_BYTE, partner, 1, MPI_COMM_WORLD);
      if (threadIdx.x == 0) {
#pragma gmpi scope(thread)
        MPI_Send(data, 8, MPI_BYTE, partner, 2, MPI_COMM_WORLD);
      }
      __syncthreads();
#pragma gmpi scope(block)
      MPI_Send(data, 2 * bytes, MPI_BYTE, partner, 3, MPI_COMM_WORLD);
#pragma gmpi scope(block)
      MPI_Recv(got, bytes, MPI_BYTE, partner, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
      // The last first: what comes before it is kept.
#pragma gmpi scope(block)
      MPI_Recv(second, 2 * bytes, MPI_BYTE, turn % 3 == 0 ? MPI_ANY_SOURCE : partner, 3, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
      check(second, 2 * bytes, turn, partner, wrong);
      clear(second, 8);
#pragma gmpi scope(block)
      MPI_Recv(got, bytes, MPI_BYTE, partner, turn % 2 ? MPI_ANY_TAG : 1, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
#pragma gmpi scope(block)
      MPI_Recv(second, 8, MPI_BYTE, partner, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      check(second, 8, turn, partner, wrong);
#pragma gmpi scope(block)
      MPI_Send(data, bytes, MPI_BYTE, partner, 4, MPI_COMM_WORLD);
    }
    check(got, bytes, turn, partner, wrong);
  }
}

int main(int argc, char **argv) {
  test::begin(&argc, &argv);
  const int turns = test::thread_sanitizer ? 32 : 3 * 32;
  test::Array<Byte> memory(6 * room);
  test::Array<int> wrong(1, 0);
  for (int threads : {32, 80, 256})
    for (int blocks : {1, 2}) {
      exchange<<<blocks, threads>>>(memory.data(), turns, test::rank,
                                    wrong.data());
      test::synchronize();
      test::expect(wrong.read()[0] == 0, "%d bytes or more are wrong, %d blocks of %d", wrong.read()[0],
                   blocks, threads);
      if (blocks == 1) {
        out_of_order<<<1, threads>>>(memory.data(), test::thread_sanitizer ? 5 : 60, test::rank, wrong.data());
        test::synchronize();
        test::expect_equal(wrong.read()[0], 0, "bytes that are wrong of what was kept");
      }
    }
  return test::end();
}
