// Long messages between grids, into memory that the sender cannot map, or on another host (which is
// this one): all blocks write them while all blocks of the other read. Of any length and at any
// address, into room that is longer, from grids of other sizes; where others of the rank have a say
// meanwhile, so that the sender learns of it the general way; and beside what is sent or received
// otherwise.
// LOWERINGS: queue (split kernels leave such communicators to the queue)
// RUN: %gmpicxx %s -o %t
// RUN: env GMPI_PEER=1 GMPI_STATS=1 %ranks 2 %t 2>&1 | FileCheck %s
// RUN: env GMPI_PEER=1 GMPI_STATS=1 %mpiexec -n 3 %t 2>&1 | FileCheck %s --check-prefix=THREE
// RUN: env GMPI_HOSTS_FOR_TESTS=2 GMPI_PEER=1 GMPI_STATS=1 %ranks 2 %t 2>&1 | FileCheck %s
// RUN: env GMPI_HOSTS_FOR_TESTS=3 GMPI_PEER=1 GMPI_STATS=1 %mpiexec -n 3 %t 2>&1 | FileCheck %s --check-prefix=THREE
// CHECK-DAG: {{^}}ok{{$}}
// CHECK-DAG: rank 0: of these messages, {{2[89]|[3-9][0-9]}} long ones were streamed from all blocks of a grid to all of another
// CHECK-DAG: rank 1: of these messages, {{1[4-9]|[2-9][0-9]}} long ones were streamed
// THREE-DAG: {{^}}ok{{$}}
// THREE-DAG: rank 0: of these messages, 7 long ones were streamed
#include "Inputs/words.h"

using test::check, test::check_status, test::clear, test::fill;
constexpr int most = 1 << 20;

__device__ int memory[most], got[most]; // no other process can map these

__device__ int length_of(int turn) { // in words of four bytes; some of several laps of the ring
  const int lengths[] = {262145, 262528, 300000, 393216, 786432 - 1, 600001, 524288 + 383};
  return lengths[turn % 7];
}

/// To and fro between ranks 0 and 1. `pending`: while rank 0 has posted a receive, whose message comes
/// last: so what it receives does not come as a stream, and what it sends is waited for the general way.
__global__ void exchange(int turns, int first, bool pending, int rank, int *wrong) {
  const int partner = rank ^ 1;
  for (int turn = first; turn < first + turns; ++turn) {
    const int words = length_of(turn), offset = 2 * (turn % 3), space = words + turn % 2 * 100;
    int *const from = memory + offset, *const to = got + 2 * (turn % 2);
    int small = turn;
    MPI_Request request;
    fill(from, words, turn, rank);
    clear(to, words);
    if (pending && rank == 0) {
#pragma gmpi scope(grid)
      MPI_Irecv(memory + most - 1, 1, MPI_INT, partner, 7, MPI_COMM_WORLD, &request);
    }
    for (int half = 0; half < 2; ++half) {
      if (half == rank) {
#pragma gmpi scope(grid)
        MPI_Send(from, words, MPI_INT, partner, turn % 5, MPI_COMM_WORLD);
      } else if (turn % 3 == 0) {
        MPI_Status status;
#pragma gmpi scope(grid)
        MPI_Recv(to, space, MPI_INT, partner, turn % 5, MPI_COMM_WORLD, &status);
        check_status(status, words, partner, turn % 5, wrong);
      } else {
#pragma gmpi scope(grid)
        MPI_Recv(to, space, MPI_INT, partner, turn % 4 == 1 ? MPI_ANY_TAG : turn % 5, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
      }
    }
    if (pending && rank == 1) {
#pragma gmpi scope(grid)
      MPI_Send(&small, 1, MPI_INT, partner, 7, MPI_COMM_WORLD);
    }
    if (pending && rank == 0) {
#pragma gmpi scope(grid)
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      if (memory[most - 1] != turn)
        atomicAdd(wrong, 1);
    }
    check(to, words, turn, partner, wrong);
    int done;
#pragma gmpi scope(grid)
    MPI_Sendrecv(&small, 1, MPI_INT, partner, 8, &done, 1, MPI_INT, partner, 8, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
  }
}

/// Rank 0's blocks carry a message to rank 1 together while they wait for rank 2, which is late, and
/// then stream to that.
__global__ void meanwhile(int turns, int rank, int *wrong) {
  for (int turn = 0; turn < turns; ++turn) {
    const int words = length_of(turn);
    if (rank == 0) {
      fill(memory, words, turn, 0);
      MPI_Request request;
#pragma gmpi scope(grid)
      MPI_Isend(memory, words, MPI_INT, 1, 3, MPI_COMM_WORLD, &request);
      __syncthreads(); // so that none of these calls is left to the next one
#pragma gmpi scope(grid)
      MPI_Send(memory, words, MPI_INT, 2, 3, MPI_COMM_WORLD);
      __syncthreads();
#pragma gmpi scope(grid)
      MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else if (rank < 3) {
      clear(got, words);
      int token = turn;
      if (rank == 2) { // when rank 1 has its message
#pragma gmpi scope(grid)
        MPI_Recv(&token, 1, MPI_INT, 1, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      }
#pragma gmpi scope(grid)
      MPI_Recv(got, words, MPI_INT, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      check(got, words, turn, 0, wrong);
      if (rank == 1) {
#pragma gmpi scope(grid)
        MPI_Send(&token, 1, MPI_INT, 2, 4, MPI_COMM_WORLD);
      }
    }
#pragma gmpi scope(grid)
    MPI_Barrier(MPI_COMM_WORLD);
  }
}

__device__ int twice[2][2][most / 2]; // by kernel: what is sent, and what is received

/// One of two kernels at once, each with the one of that number of a rank, or of this one: to and fro,
/// or one way.
__global__ void one_of_two(int kernel, int turns, int partner, int rank, bool sends, bool receives, int *wrong) {
  int *const from = twice[kernel][0], *const to = twice[kernel][1];
  for (int turn = 0; turn < turns; ++turn) {
    const int number = sends && receives ? kernel : 0, words = 260000 + length_of(turn + number) / 3;
    fill(from, words, turn + number, rank);
    clear(to, words);
    for (int half = 0; half < 2; ++half)
      if (half == (rank + kernel) % 2 && sends) {
#pragma gmpi scope(grid)
        MPI_Send(from, words, MPI_INT, partner, 10 + number, MPI_COMM_WORLD);
      } else if (half != (rank + kernel) % 2 && receives) {
#pragma gmpi scope(grid)
        MPI_Recv(to, words, MPI_INT, partner, 10 + number, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        check(to, words, turn + number, partner, wrong);
      }
  }
}

/// Sent by all calls that send, received by all that receive.
__global__ void otherwise(int turns, int rank, int *wrong) {
  const int partner = rank ^ 1;
  for (int turn = 0; turn < turns; ++turn) {
    const int words = length_of(turn);
    fill(memory, words, turn, rank);
    clear(got, words);
#pragma gmpi scope(grid)
    MPI_Barrier(MPI_COMM_WORLD); // one block may receive alone
    if (turn % 4 == 0) {
#pragma gmpi scope(grid)
      MPI_Sendrecv(memory, words, MPI_INT, partner, 3, got, words, MPI_INT, partner, 3, MPI_COMM_WORLD,
                   MPI_STATUS_IGNORE);
    } else {
      for (int half = 0; half < 2; ++half) {
        MPI_Request request;
        if (half == rank && turn % 4 == 1) {
#pragma gmpi scope(grid)
          MPI_Isend(memory, words, MPI_INT, partner, 3, MPI_COMM_WORLD, &request);
#pragma gmpi scope(grid)
          MPI_Wait(&request, MPI_STATUS_IGNORE);
        } else if (half == rank) {
#pragma gmpi scope(grid)
          MPI_Send(memory, words, MPI_INT, partner, 3, MPI_COMM_WORLD);
        } else if (turn % 4 == 2) {
#pragma gmpi scope(grid)
          MPI_Irecv(got, words, MPI_INT, partner, 3, MPI_COMM_WORLD, &request);
#pragma gmpi scope(grid)
          MPI_Wait(&request, MPI_STATUS_IGNORE);
        } else if (turn % 4 == 3) {
          if (blockIdx.x == 0) {
#pragma gmpi scope(block)
            MPI_Recv(got, words, MPI_INT, MPI_ANY_SOURCE, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
          }
        } else {
#pragma gmpi scope(grid)
          MPI_Recv(got, words, MPI_INT, partner, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
      }
    }
#pragma gmpi scope(grid)
    MPI_Barrier(MPI_COMM_WORLD);
    check(got, words, turn, partner, wrong);
#pragma gmpi scope(grid)
    MPI_Barrier(MPI_COMM_WORLD);
  }
}

int main(int argc, char **argv) {
  test::begin(&argc, &argv);
  const int turns = test::thread_sanitizer ? 2 : 7;
  test::Array<int> wrong(1, 0);
  auto result = [&](const char *what) {
    test::synchronize();
    test::expect_equal(wrong.read()[0], 0, what);
  };
  if (test::size == 3) {
    meanwhile<<<4, 64>>>(turns, test::rank, wrong.data());
    result("wrong words of a stream that begins late");
    return test::end();
  }
  for (int blocks : {2, 5})
    for (bool pending : {false, true}) {
      exchange<<<blocks + test::rank, 64 << test::rank>>>(turns, blocks, pending, test::rank,
                                                          wrong.data());
      result(pending ? "wrong words beside a posted receive" : "wrong words of a stream");
    }
  cudaStream_t streams[2];
  for (cudaStream_t &stream : streams)
    CUDA_CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  for (int kernel : {0, 1})
    one_of_two<<<3, 64, 0, streams[kernel]>>>(kernel, turns, 1 - test::rank, test::rank, true, true,
                                              wrong.data());
  result("wrong words of two kernels at once");
  for (int kernel : {0, 1}) // the first sends, the second receives
    one_of_two<<<3, 64, 0, streams[kernel]>>>(kernel, turns, test::rank, test::rank, kernel == 0, kernel == 1,
                                              wrong.data());
  result("wrong words of what this rank has sent to itself");
  otherwise<<<4, 64>>>(2 * turns, test::rank, wrong.data());
  result("wrong words of other calls");
  return test::end();
}
