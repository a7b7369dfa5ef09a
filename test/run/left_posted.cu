// A grid's wait for what was left and made before other work: what comes in every length, in another
// order, from two ranks, behind a message for nobody, while others are posted, too, in parts; and a
// message that is too long, and one that nobody sends.
// RUN: %gmpicxx %s -o %t
// RUN: env GMPI_PEER=1 %ranks 1-4 %t
// RUN: env GMPI_STATS=1 GMPI_PEER=1 %mpiexec -n 2 %t short 2>&1 | FileCheck %s --check-prefix=SHORT
// RUN: env GMPI_PEER=1 not %mpiexec -n 2 %t truncates 2>&1 | FileCheck %s --check-prefix=TRUNCATES
// RUN: env GMPI_STALL=1 GMPI_PEER=1 not %mpiexec -n 2 %t hangs 2>&1 | FileCheck %s --check-prefix=HANGS
//
// Six calls a turn. (Whoever waits long for the other rank goes the usual way.)
// SHORT-DAG: gmpi: rank 0: 36 calls of grids were left to the next one; waits made 0 of them at once, and received for {{[123][0-9]}} made before
// SHORT-DAG: {{^}}ok{{$}}
#include "Inputs/messages.h"

#include <cstring>

using test::fill, test::verify;
constexpr int turns = 6, many = 3;

/// `way` 0: all at once; 1: the other rank's last one first; 2: a wait each; 3: with statuses.
__global__ void exchange(unsigned char *out, unsigned char *in, int bytes, int way, int rank, int next,
                         int previous, int *work, int *wrong) {
  MPI_Request requests[2 * many];
  MPI_Status statuses[2 * many];
  for (int turn = 0; turn < turns; ++turn) {
    for (int i = 0; i < many; ++i)
      fill(out + i * bytes, bytes, rank, turn, i);
    for (int i = 0; i < many; ++i)
      MPI_Irecv(in + i * bytes, bytes, MPI_BYTE, previous, i, MPI_COMM_WORLD, requests + i);
    for (int i = 0; i < many; ++i) {
      const int message = way == 1 ? many - 1 - i : i;
      MPI_Isend(out + message * bytes, bytes, MPI_BYTE, next, message, MPI_COMM_WORLD,
                requests + many + i);
    }
    atomicAdd(work, 1);
    if (way == 3) {
      MPI_Waitall(2 * many, requests, statuses);
      if (statuses[1].MPI_SOURCE != previous || statuses[1].MPI_TAG != 1)
        atomicAdd(wrong, 1);
    } else if (way == 2) {
      for (int i = 0; i < 2 * many; ++i)
        MPI_Wait(requests + i, MPI_STATUS_IGNORE);
    } else {
      MPI_Waitall(2 * many, requests, MPI_STATUSES_IGNORE);
    }
    for (int i = 0; i < many; ++i)
      verify(in + i * bytes, bytes, previous, turn, wrong, i);
  }
}

/// One message each way with both neighbours, any tag, one of them sent before by MPI_Send.
__global__ void neighbours(unsigned char *out, unsigned char *in, int bytes, int rank, int next,
                           int previous, int *work, int *wrong) {
  MPI_Request requests[3];
  for (int turn = 0; turn < turns; ++turn) {
    fill(out, bytes, rank, turn);
    MPI_Irecv(in, bytes + turn, MPI_BYTE, previous, 4, MPI_COMM_WORLD, requests);
    MPI_Irecv(in + 70000, bytes, MPI_BYTE, next, 5, MPI_COMM_WORLD, requests + 1);
    MPI_Isend(out, bytes, MPI_BYTE, next, 4, MPI_COMM_WORLD, requests + 2);
    for (int i = 0; i < 1; ++i)
      MPI_Send(out, bytes, MPI_BYTE, previous, 5, MPI_COMM_WORLD);
    atomicAdd(work, 1);
    MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
    verify(in, bytes, previous, turn, wrong);
    verify(in + 70000, bytes, next, turn, wrong);
  }
}

/// A message that is asked for behind the others comes before some of them.
__global__ void others_between(unsigned char *out, unsigned char *in, int bytes, int rank, int next,
                               int previous, int *work, int *wrong) {
  MPI_Request requests[5];
  for (int turn = 0; turn < turns; ++turn) {
    fill(out, bytes, rank, turn);
    for (int i = 0; i < 2; ++i)
      MPI_Irecv(in + i * 70000, bytes, MPI_BYTE, previous, i, MPI_COMM_WORLD, requests + i);
    for (int i = 0; i < 3; ++i) // tags 0, 9, 1
      MPI_Isend(out, bytes, MPI_BYTE, next, i == 1 ? 9 : i / 2, MPI_COMM_WORLD, requests + 2 + i);
    atomicAdd(work, 1);
    if (turn % 2 == 0) {
      MPI_Waitall(5, requests, MPI_STATUSES_IGNORE);
    } else {
      MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
      MPI_Waitall(3, requests + 2, MPI_STATUSES_IGNORE);
    }
    for (int i = 0; i < 2; ++i)
      verify(in + i * 70000, bytes, previous, turn, wrong);
    MPI_Recv(in, bytes, MPI_BYTE, previous, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    verify(in, bytes, previous, turn, wrong);
  }
}

/// Two lots, and a block's own receive, before a wait for all of them.
__global__ void several(unsigned char *out, unsigned char *in, int bytes, int rank, int next,
                        int previous, int *work, int *wrong) {
  MPI_Request requests[4], own = MPI_REQUEST_NULL;
  for (int turn = 0; turn < turns; ++turn) {
    fill(out, bytes, rank, turn);
    MPI_Irecv(in, bytes, MPI_BYTE, previous, 0, MPI_COMM_WORLD, requests);
    MPI_Isend(out, bytes, MPI_BYTE, next, 0, MPI_COMM_WORLD, requests + 1);
    atomicAdd(work, 1);
    if (turn % 2 != 0 && blockIdx.x == 0)
      MPI_Irecv(in + 140000, bytes, MPI_BYTE, previous, 7, MPI_COMM_WORLD, &own);
    MPI_Irecv(in + 70000, bytes, MPI_BYTE, previous, 1, MPI_COMM_WORLD, requests + 2);
    MPI_Isend(out, bytes, MPI_BYTE, next, 1, MPI_COMM_WORLD, requests + 3);
    atomicAdd(work, 1);
    if (turn < turns / 2) {
      MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
    } else {
      MPI_Waitall(2, requests + 2, MPI_STATUSES_IGNORE);
      MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    }
    for (int i = 0; i < 2; ++i)
      verify(in + i * 70000, bytes, previous, turn, wrong);
    if (turn % 2 != 0) {
      if (blockIdx.x == 0) {
        MPI_Send(out, bytes, MPI_BYTE, next, 7, MPI_COMM_WORLD);
        MPI_Wait(&own, MPI_STATUS_IGNORE);
      }
      MPI_Barrier(MPI_COMM_WORLD);
      verify(in + 140000, bytes, previous, turn, wrong);
    }
  }
}

__global__ void fails(unsigned char *out, unsigned char *in, int bytes, int tag, int other, int *work) {
  MPI_Request requests[2];
  MPI_Irecv(in, 8, MPI_BYTE, other, tag, MPI_COMM_WORLD, requests);
  MPI_Isend(out, bytes, MPI_BYTE, other, 0, MPI_COMM_WORLD, requests + 1);
  atomicAdd(work, 1);
  // TRUNCATES: gmpi: rank 1: MPI_Irecv at {{.*}}left_posted.cu:[[@LINE+2]]: the message is longer than the receive's buffer
  // HANGS: gmpi: rank 0: deadlock: rank 0 waits in MPI_Irecv from rank 1, tag 7 (grid scope, {{[^ ]*}}left_posted.cu:[[@LINE+1]]
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
}

int main(int argc, char **argv) {
  test::begin(&argc, &argv);
  const int rank = test::rank, next = test::next(), previous = test::previous();
  const auto is = [&](const char *word) { return argc > 1 && std::strcmp(argv[1], word) == 0; };
  test::Array<unsigned char> out(1 << 18), in(1 << 18);
  test::Array<int> work(1), wrong(1);
  for (int bytes : {40, 0, 5, 8, 1200, 9000, 65536, 70000}) {
    for (int blocks : {3, 1}) {
      for (int way = 0; way < 4; ++way) {
        exchange<<<blocks, 64>>>(out.data(), in.data(), bytes, way, rank, next, previous, work.data(),
                                 wrong.data());
        if (is("short"))
          break;
      }
      if (argc > 1)
        break;
      neighbours<<<blocks, 64>>>(out.data(), in.data(), bytes, rank, next, previous, work.data(),
                                 wrong.data());
      if (bytes <= 65536) // a longer one waits for its receive
        others_between<<<blocks, 96>>>(out.data(), in.data(), bytes, rank, next, previous, work.data(),
                                       wrong.data());
      several<<<blocks, 64>>>(out.data(), in.data(), bytes, rank, next, previous, work.data(),
                              wrong.data());
      test::synchronize();
      test::expect(wrong.read()[0] == 0, "%d bytes, %d blocks: %d are wrong", bytes, blocks,
                   wrong.read()[0]);
    }
    if (argc > 1)
      break;
  }
  if (is("truncates") || is("hangs"))
    fails<<<2, 64>>>(out.data(), in.data(), is("truncates") && rank == 0 ? 12 : 8, is("hangs") ? 7 : 0,
                     next, work.data());
  test::synchronize();
  test::expect(wrong.read()[0] == 0, "%d are wrong in the end", wrong.read()[0]);
  return test::end();
}
