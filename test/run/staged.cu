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

using test::value;

// (For 64 threads, 16,384 bytes are under way at a time, and all of a grid copy 65,536 from the host, or
// 262,144 to it; for 128, 32,768, 131,072 and 524,288.)
constexpr int lengths[] = {65537, 65540, 81920, 81936, 98304, 131071, 131072, 131076, 262143, 262144,
                           262160, 300000, 524284, 524288, 1048580, 3000001};
constexpr int guard = 16, more = 32, room = 3000001 + 2 * guard + more + 16;

/// What surrounds a message in its buffer, and is there before it.
constexpr unsigned char nothing = 0xee;

struct Ring {
  int rank, size, next, previous;
};

/// All threads of the grid, or of a block that calls by itself, `first` of `stride`.
__device__ void prepare(unsigned char *out, unsigned char *in, const Ring &ring, int length, int step, int first,
                        int stride) {
  for (int i = first; i < length; i += stride)
    out[i] = value(ring.rank, step, 0, i);
  for (int i = first; i < length + more + 2 * guard; i += stride)
    in[i - guard] = nothing;
}

__device__ void check(const unsigned char *in, int from, int length, int step, int first, int stride, int *wrong) {
  for (int i = first; i < length + more + 2 * guard; i += stride) {
    const bool inside = i >= guard && i < guard + length;
    if (in[i - guard] != (inside ? value(from, step, 0, i - guard) : nothing))
      atomicAdd(wrong, 1);
  }
}

__device__ void check(const MPI_Status &status, const Ring &ring, int tag, int length, int *wrong) {
  int count = -1;
  MPI_Get_count(&status, MPI_BYTE, &count);
  if (status.MPI_SOURCE != ring.previous || status.MPI_TAG != tag || count != length)
    atomicAdd(wrong, 1);
}

/// One after the other around the ring, so that nobody waits for a send that waits for a receive.
__global__ void by_grid(unsigned char *outs, unsigned char *ins, Ring ring, int length, int *wrong) {
  const int first = test::number(), stride = test::numbers();
  int step = 0;
  for (int offset : {0, 4, 1}) {
    unsigned char *out = outs + guard + offset, *in = ins + guard + offset;
    MPI_Status status;
    prepare(out, in, ring, length, step, first, stride);
    MPI_Sendrecv(out, length, MPI_BYTE, ring.next, 1, in, length + more, MPI_BYTE, ring.previous, 1,
                 MPI_COMM_WORLD, &status);
    check(status, ring, 1, length, wrong);
    check(in, ring.previous, length, step, first, stride, wrong);
    MPI_Barrier(MPI_COMM_WORLD); // all blocks have looked
    ++step;
    if (ring.size == 1)
      continue;
    prepare(out, in, ring, length, step, first, stride);
    if (ring.rank == 0) {
      MPI_Send(out, length, MPI_BYTE, ring.next, 2, MPI_COMM_WORLD);
      MPI_Recv(in, length, MPI_BYTE, ring.previous, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
      MPI_Recv(in, length + more, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
      MPI_Ssend(out, length, MPI_BYTE, ring.next, 2, MPI_COMM_WORLD);
      check(status, ring, 2, length, wrong);
    }
    check(in, ring.previous, length, step, first, stride, wrong);
    MPI_Barrier(MPI_COMM_WORLD);
    ++step;
  }
  // Its data is both sent and received, by whom, the rank says.
  unsigned char *out = outs + guard, *in = ins + guard;
  prepare(out, in, ring, length, step, first, stride);
  MPI_Bcast(out, length, MPI_BYTE, ring.size - 1, MPI_COMM_WORLD);
  for (int i = first; i < length; i += stride)
    if (out[i] != value(ring.size - 1, step, 0, i))
      atomicAdd(wrong, 1);
  MPI_Barrier(MPI_COMM_WORLD);
  prepare(out, in, ring, length, step, first, stride);
  MPI_Allreduce(out, in, length, MPI_UNSIGNED_CHAR, MPI_BXOR, MPI_COMM_WORLD); // (Open MPI's sums saturate)
  for (int i = first; i < length; i += stride) {
    unsigned char all = 0;
    for (int from = 0; from < ring.size; ++from)
      all ^= value(from, step, 0, i);
    if (in[i] != all)
      atomicAdd(wrong, 1);
  }
}

/// Blocks 0 and 1, at once; behind them block 2, some of whose threads have left.
__global__ void by_block(unsigned char *outs, unsigned char *ins, Ring ring, int length, int *wrong) {
  if (blockIdx.x == 2 && threadIdx.x >= 40)
    return;
  const int threads = blockIdx.x == 2 ? 40 : blockDim.x, tag = blockIdx.x;
  unsigned char *out = outs + blockIdx.x * room + guard, *in = ins + blockIdx.x * room + guard;
  prepare(out, in, ring, length, blockIdx.x, threadIdx.x, threads);
  MPI_Status status;
  MPI_Sendrecv(out, length, MPI_BYTE, ring.next, tag, in, length + more, MPI_BYTE, ring.previous, tag,
               MPI_COMM_WORLD, &status);
  check(status, ring, tag, length, wrong);
  check(in, ring.previous, length, blockIdx.x, threadIdx.x, threads, wrong);
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
