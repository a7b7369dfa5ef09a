// Messages of more than 64 KiB that all blocks of a grid write with their headers, and read: sent and
// received, exchanged by MPI_Sendrecv and by calls that are left to a wait, with and without statuses,
// from addresses for sixteen, eight and four bytes, also where the channel goes around in their midst;
// received by others than such a grid, as a single thread's, or where some of a block's threads have
// left, or the buffer is no whole words; kept before their receive, more of them than have places,
// posted, probed for; and one that does not fit.
// LOWERINGS: queue (split kernels leave such communicators to the queue)
// RUN: %gmpicxx %s -o %t
// RUN: env GMPI_PEER=1 GMPI_STATS=1 %ranks 2 %t 2>&1 | FileCheck %s
// RUN: env GMPI_PEER=1 GMPI_STATS=1 GMPI_HOSTS_FOR_TESTS=2 %ranks 2 %t 2>&1 | FileCheck %s
// RUN: env GMPI_PEER=1 not %mpiexec -n 2 %t truncates 2>&1 | FileCheck %s --check-prefix=TRUNCATED
// RUN: env GMPI_PEER=1 GMPI_HOSTS_FOR_TESTS=2 not %mpiexec -n 2 %t truncates 2>&1 | FileCheck %s --check-prefix=TRUNCATED
// CHECK-DAG: rank 0: of these messages, {{[1-9][0-9]+}} were written by all blocks of a grid
// CHECK-DAG: {{^ok}}
#include "Inputs/messages.h"

using test::fill, test::verify;
constexpr int most = 1 << 20, room = 2 * most, blocks = 6, threads = 96;
constexpr int turns = test::thread_sanitizer ? 2 : 4;

struct Buffers {
  unsigned char *out, *in;
  int *wrong;
};

__device__ void verify(const MPI_Status &status, int source, int tag, int bytes, int *wrong) {
  int count = -1;
  MPI_Get_count(&status, MPI_BYTE, &count);
  if (status.MPI_SOURCE != source || status.MPI_TAG != tag || count != bytes)
    atomicAdd(wrong, 1);
}

/// There and back, so that the next one may not be ahead.
__global__ void pingpong(Buffers b, int bytes, int in_shift, int out_shift, int rank) {
  unsigned char *const in = b.in + in_shift, *const out = b.out + out_shift;
  for (int turn = 0; turn < turns; ++turn) {
    MPI_Status status;
    fill(out, bytes, rank, turn);
    if (rank == 0)
      MPI_Send(out, bytes, MPI_BYTE, 1, turn, MPI_COMM_WORLD);
    if (turn % 2 == 0)
      MPI_Recv(in, room - in_shift, MPI_BYTE, 1 - rank, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
    else
      MPI_Recv(in, bytes, MPI_BYTE, turn == 1 ? MPI_ANY_SOURCE : 1 - rank, turn, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
    if (turn % 2 == 0)
      verify(status, 1 - rank, turn, bytes, b.wrong);
    if (rank == 1)
      MPI_Send(out, bytes, MPI_BYTE, 0, turn, MPI_COMM_WORLD);
    verify(in, bytes, 1 - rank, turn, b.wrong);
  }
}

/// By MPI_Sendrecv, and by two calls that are left to their wait; each way another length.
__global__ void exchange(Buffers b, int bytes, int back, int shift, int rank) {
  unsigned char *const in = b.in + shift, *const out = b.out + shift;
  const int other = 1 - rank, mine = rank == 0 ? bytes : back, its = rank == 0 ? back : bytes;
  for (int turn = 0; turn < turns; ++turn) {
    MPI_Request requests[2];
    MPI_Status statuses[2];
    fill(out, mine, rank, turn);
    MPI_Sendrecv(out, mine, MPI_BYTE, other, 1, in, its, MPI_BYTE, other, 1, MPI_COMM_WORLD,
                 statuses);
    verify(statuses[0], other, 1, its, b.wrong);
    verify(in, its, other, turn, b.wrong);
    fill(out, mine, rank, turn + 20);
    MPI_Irecv(in, its, MPI_BYTE, other, 2, MPI_COMM_WORLD, requests);
    MPI_Isend(out, mine, MPI_BYTE, other, 2, MPI_COMM_WORLD, requests + 1);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    verify(in, its, other, turn + 20, b.wrong);
    fill(out, mine, rank, turn + 40);
    MPI_Isend(out, mine, MPI_BYTE, other, 3, MPI_COMM_WORLD, requests);
    MPI_Irecv(in, its, MPI_BYTE, other, MPI_ANY_TAG, MPI_COMM_WORLD, requests + 1);
    MPI_Waitall(2, requests, statuses);
    verify(statuses[1], other, 3, its, b.wrong);
    verify(in, its, other, turn + 40, b.wrong);
  }
}

enum Way { by_block, by_thread, posted, kept, probed, ways };

/// Rank 0 sends; rank 1 receives in another way than it was sent.
__global__ void otherwise(Buffers b, int bytes, Way way, int rank) {
  for (int turn = 0; turn < turns; ++turn) {
    if (rank == 0) {
      fill(b.out, bytes, rank, turn);
      MPI_Send(b.out, bytes, MPI_BYTE, 1, turn, MPI_COMM_WORLD);
      if (way == kept)
        MPI_Send(b.out, 8, MPI_BYTE, 1, 100, MPI_COMM_WORLD);
    } else if (way == posted) {
      MPI_Request request;
      MPI_Irecv(b.in, bytes, MPI_BYTE, 0, turn, MPI_COMM_WORLD, &request);
      verify(b.in + most, 0, 0, 0, b.wrong); // the wait does not come at once
      MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else if (way == kept) {
      MPI_Recv(b.in, 8, MPI_BYTE, 0, 100, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      MPI_Recv(b.in, bytes, MPI_BYTE, 0, turn, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else if (way == probed) {
      MPI_Status status;
      MPI_Probe(0, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
      verify(status, 0, turn, bytes, b.wrong);
      MPI_Recv(b.in, bytes, MPI_BYTE, 0, turn, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else if (way == by_block) {
      if (blockIdx.x == 1)
        MPI_Recv(b.in, bytes, MPI_BYTE, 0, turn, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else if (blockIdx.x == 1 && threadIdx.x == 5) {
      MPI_Recv(b.in, bytes, MPI_BYTE, 0, turn, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 1)
      verify(b.in, bytes, 0, turn, b.wrong);
    MPI_Barrier(MPI_COMM_WORLD);
  }
}

/// More of them than have places come before any is received, the last one first.
__global__ void many_kept(Buffers b, int bytes, int count, int rank) {
  for (int turn = 0; turn < turns; ++turn) {
    if (rank == 0) {
      MPI_Request requests[20];
      for (int i = 0; i < count; ++i)
        fill(b.out + i * bytes, bytes, rank, turn, i);
      for (int i = 0; i < count / 2; ++i)
        MPI_Send(b.out + i * bytes, bytes, MPI_BYTE, 1, i, MPI_COMM_WORLD);
      for (int i = count / 2; i < count; ++i)
        MPI_Isend(b.out + i * bytes, bytes, MPI_BYTE, 1, i, MPI_COMM_WORLD, requests + i);
      MPI_Waitall(count - count / 2, requests + count / 2, MPI_STATUSES_IGNORE);
    } else {
      for (int i = count / 2; i-- > 0;)
        MPI_Recv(b.in + i * bytes, bytes, MPI_BYTE, 0, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      for (int i = count; i-- > count / 2;)
        MPI_Recv(b.in + i * bytes, bytes, MPI_BYTE, 0, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      for (int i = 0; i < count; ++i)
        verify(b.in + i * bytes, bytes, 0, turn, b.wrong, i);
    }
    MPI_Barrier(MPI_COMM_WORLD);
  }
}

/// One block has fewer threads than the others.
__global__ void lacks_threads(Buffers b, int bytes, int rank) {
  if (blockIdx.x == 2 && threadIdx.x > 40)
    return;
  for (int turn = 0; turn < turns; ++turn) {
    for (int i = threadIdx.x; blockIdx.x == 0 && i < bytes; i += blockDim.x)
      b.out[i] = test::value(rank, turn, 0, i);
    MPI_Sendrecv(b.out, bytes, MPI_BYTE, 1 - rank, 1, b.in, bytes, MPI_BYTE, 1 - rank, 1,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = threadIdx.x; blockIdx.x == 0 && i < bytes; i += blockDim.x)
      if (b.in[i] != test::value(1 - rank, turn, 0, i))
        atomicAdd(b.wrong, 1);
    MPI_Barrier(MPI_COMM_WORLD);
  }
}

__global__ void truncates(Buffers b, int rank) {
  if (rank == 0)
    MPI_Send(b.out, 200000, MPI_BYTE, 1, 1, MPI_COMM_WORLD);
  else
    // TRUNCATED: gmpi: rank 1: MPI_Recv at {{.*}}peer_wide.cu:[[@LINE+1]]: the message is longer than the receive's buffer
    MPI_Recv(b.in, 199999, MPI_BYTE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv) {
  test::begin(&argc, &argv);
  const int rank = test::rank;
  test::Array<unsigned char> out(room), in(room);
  test::Array<int> wrong(1);
  const Buffers b{out.data(), in.data(), wrong.data()};
  const auto expect = [&](const char *what, int bytes) {
    test::synchronize();
    test::expect(wrong.read()[0] == 0, "%s, %d bytes: %d are wrong", what, bytes, wrong.read()[0]);
  };
  for (int bytes : {65540, 66000, 131072, 200001, 262144, 300004, 393216, most, most + 4}) {
    if (test::thread_sanitizer && bytes > 66000)
      continue;
    for (int shift : {0, 8, 4, 2}) {
      pingpong<<<blocks, threads>>>(b, bytes, shift, 16, rank);
      pingpong<<<blocks, threads>>>(b, bytes, 16, shift, rank);
      expect("there and back", bytes);
      if (bytes < most) {
        exchange<<<blocks, threads>>>(b, bytes, bytes, shift, rank);
        exchange<<<blocks, threads>>>(b, bytes, shift * 1000 + 8, shift, rank);
        expect("exchanged", bytes);
      }
    }
    if (bytes == 66000 || bytes == 262144)
      for (int way = 0; way < ways; ++way) {
        otherwise<<<blocks, threads>>>(b, bytes, static_cast<Way>(way), rank);
        expect("otherwise", way);
      }
  }
  pingpong<<<2, 50>>>(b, 131072, 0, 0, rank);
  if (!test::thread_sanitizer) {
    pingpong<<<16, 32>>>(b, 1000000, 0, 0, rank);
    expect("other grids", 1000000);
    pingpong<<<32, 32>>>(b, room, 0, 0, rank); // as long as such a message to another host may be
    expect("other grids", room);
    exchange<<<blocks, threads>>>(b, most + most / 2, 200000, 0, rank); // one is announced
    exchange<<<blocks, threads>>>(b, 100000, most + 4, 0, rank);
    expect("with a longer one", most);
  }
  many_kept<<<blocks, threads>>>(b, 80000, 13, rank);
  expect("kept", 80000);
  lacks_threads<<<blocks, threads>>>(b, 100000, rank);
  expect("without some threads", 100000);
  if (argc > 1) {
    truncates<<<blocks, threads>>>(b, rank);
    test::synchronize();
  }
  return test::end();
}
