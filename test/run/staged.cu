// Blocking calls whose data goes by way of staging memory, around every length at which it is copied
// otherwise: by the block that makes the call, whose threads have 16 loads under way each, and the rest;
// by all blocks of a grid, sooner from the host than to it; in parts, where staging memory is short. At
// addresses of 16 bytes, of words and of bytes, into buffers with room for more.
// RUN: %gmpicxx %s -o %t
// RUN: env GMPI_LOWER=queue GMPI_PEER=0 %ranks 1-3 %t
// RUN: env GMPI_LOWER=queue GMPI_PEER=0 GMPI_STAGING_MB=1 %ranks 2 %t
// RUN: env GMPI_LOWER=queue GMPI_PEER=0 GMPI_STAGING_MB=0 %ranks 2 %t
// RUN: env GMPI_LOWER=queue GMPI_PEER=0 not %mpiexec -n 2 %t truncates 2>&1 | FileCheck %s
#include "Inputs/messages.h"

#include <cstring>

using test::fill, test::verify, test::value, test::Threads;

// (For 64 threads, 16,384 bytes are under way at a time, and all of a grid copy 65,536 from the host, or
// 262,144 to it; for 128, 32,768, 131,072 and 524,288.)
constexpr int lengths[] = {65537, 65540, 81920, 81936, 98304, 131071, 131072, 131076, 262143, 262144,
                           262160, 300000, 524284, 524288, 1048580, 3000001};
constexpr int guard = 16, more = 32, room = 3000001 + 2 * guard + more + 16;
constexpr test::Around around{guard, more + guard};

struct Ring {
  int rank, size, next, previous;
};

__device__ void verify(const MPI_Status &status, const Ring &ring, int tag, int length, int *wrong) {
  int count = -1;
  MPI_Get_count(&status, MPI_BYTE, &count);
  if (status.MPI_SOURCE != ring.previous || status.MPI_TAG != tag || count != length)
    atomicAdd(wrong, 1);
}

/// One after the other around the ring, so that nobody waits for a send that waits for a receive.
__global__ void by_grid(unsigned char *outs, unsigned char *ins, Ring ring, int length, int *wrong) {
  const Threads threads{test::number(), test::numbers()};
  int step = 0;
  for (int offset : {0, 4, 1}) {
    unsigned char *out = outs + guard + offset, *in = ins + guard + offset;
    MPI_Status status;
    fill(out, in, length, around, ring.rank, step, length, threads);
    MPI_Sendrecv(out, length, MPI_BYTE, ring.next, 1, in, length + more, MPI_BYTE, ring.previous, 1,
                 MPI_COMM_WORLD, &status);
    verify(status, ring, 1, length, wrong);
    verify(in, length, around, ring.previous, step, length, threads, wrong);
    MPI_Barrier(MPI_COMM_WORLD); // all blocks have looked
    ++step;
    if (ring.size == 1)
      continue;
    fill(out, in, length, around, ring.rank, step, length, threads);
    if (ring.rank == 0) {
      MPI_Send(out, length, MPI_BYTE, ring.next, 2, MPI_COMM_WORLD);
      MPI_Recv(in, length, MPI_BYTE, ring.previous, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
      MPI_Recv(in, length + more, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
      MPI_Ssend(out, length, MPI_BYTE, ring.next, 2, MPI_COMM_WORLD);
      verify(status, ring, 2, length, wrong);
    }
    verify(in, length, around, ring.previous, step, length, threads, wrong);
    MPI_Barrier(MPI_COMM_WORLD);
    ++step;
  }
  // The last rank's data is sent, the others' overwritten.
  unsigned char *out = outs + guard, *in = ins + guard;
  fill(out, in, length, around, ring.rank, step, length, threads);
  MPI_Bcast(out, length, MPI_BYTE, ring.size - 1, MPI_COMM_WORLD);
  for (int i = threads.first; i < length; i += threads.stride)
    if (out[i] != value(ring.size - 1, step, length, i))
      atomicAdd(wrong, 1);
  MPI_Barrier(MPI_COMM_WORLD);
  fill(out, in, length, around, ring.rank, step, length, threads);
  MPI_Allreduce(out, in, length, MPI_UNSIGNED_CHAR, MPI_BXOR, MPI_COMM_WORLD); // (Open MPI's sums saturate)
  for (int i = threads.first; i < length; i += threads.stride) {
    unsigned char all = 0;
    for (int from = 0; from < ring.size; ++from)
      all ^= value(from, step, length, i);
    if (in[i] != all)
      atomicAdd(wrong, 1);
  }
}

/// Blocks 0 and 1, at once; behind them block 2, some of whose threads have left.
__global__ void by_block(unsigned char *outs, unsigned char *ins, Ring ring, int length, int *wrong) {
  if (blockIdx.x == 2 && threadIdx.x >= 40)
    return;
  const Threads threads{int(threadIdx.x), blockIdx.x == 2 ? 40 : int(blockDim.x)};
  const int tag = blockIdx.x;
  unsigned char *out = outs + blockIdx.x * room + guard, *in = ins + blockIdx.x * room + guard;
  fill(out, in, length, around, ring.rank, tag, length, threads);
  MPI_Status status;
  MPI_Sendrecv(out, length, MPI_BYTE, ring.next, tag, in, length + more, MPI_BYTE, ring.previous, tag,
               MPI_COMM_WORLD, &status);
  verify(status, ring, tag, length, wrong);
  verify(in, length, around, ring.previous, tag, length, threads, wrong);
}

__global__ void truncated(unsigned char *out, unsigned char *in, Ring ring) {
  if (ring.rank == 0)
    MPI_Send(out, 100000, MPI_BYTE, 1, 3, MPI_COMM_WORLD);
  else
    // CHECK: gmpi: rank 1: MPI_Recv failed in a kernel, at {{.*}}staged.cu:[[@LINE+1]] (grid scope): {{.*}}runcat
    MPI_Recv(in, 90000, MPI_BYTE, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv) {
  test::begin(&argc, &argv);
  test::Array<unsigned char> out(3 * room), in(3 * room);
  test::Array<int> wrong(1);
  const Ring ring{test::rank, test::size, test::next(), test::previous()};
  if (argc > 1 && std::strcmp(argv[1], "truncates") == 0) {
    truncated<<<2, 64>>>(out.data(), in.data(), ring);
    test::synchronize();
    return test::end();
  }
  auto none_wrong = [&](const char *scope, int length, int blocks, int threads) {
    test::synchronize();
    test::expect_each(wrong, [](int) { return 0; }, scope);
    if (test::failures != 0)
      std::fprintf(stderr, "%s: %d bytes, %d blocks of %d threads\n", scope, length, blocks, threads);
  };
  wrong.write({0});
  for (int length : lengths) {
    for (int blocks : {1, 3}) {
      const int threads = length % 8 == 0 ? 128 : 64;
      by_grid<<<blocks, threads>>>(out.data(), in.data(), ring, length, wrong.data());
      none_wrong("grid", length, blocks, threads);
    }
    by_block<<<3, 96>>>(out.data(), in.data(), ring, length, wrong.data());
    none_wrong("block", length, 3, 96);
  }
  return test::end();
}
