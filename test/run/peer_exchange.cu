// MPI_Sendrecv, or MPI_Irecv, MPI_Isend and MPI_Waitall, of long messages between grids, into memory
// that the sender cannot map: all blocks read and write at once. Of lengths that differ, at any
// address, from grids of other sizes; with ranks that send and receive one behind the other, or by one
// block, or into memory that can be mapped; in a ring of three, one of which is late; beside a posted
// receive; behind other messages; and of a rank with itself.
// LOWERINGS: queue (split kernels leave such communicators to the queue)
// RUN: %gmpicxx %s -o %t
// RUN: env GMPI_PEER=1 GMPI_STATS=1 %mpiexec -n 2 %t 2>&1 | FileCheck %s
// RUN: env GMPI_PEER=1 GMPI_STATS=1 %mpiexec -n 3 %t 2>&1 | FileCheck %s --check-prefix=THREE
// RUN: env GMPI_HOSTS_FOR_TESTS=2 GMPI_PEER=1 %mpiexec -n 3 %t 2>&1 | FileCheck %s --check-prefix=HOSTS
// CHECK-DAG: {{^}}ok{{$}}
// CHECK-DAG: rank 0: of these messages, {{[2-9][0-9]}} long ones were streamed from all blocks of a grid to all of another
// CHECK-DAG: rank 1: of these messages, {{[1-9][0-9]}} long ones were streamed
// THREE-DAG: {{^}}ok{{$}}
// THREE-DAG: rank 0: of these messages, {{1[6-9]|2[0-9]}} long ones were streamed
// THREE-DAG: rank 2: of these messages, {{1[6-9]|2[0-9]}} long ones were streamed
// HOSTS: {{^}}ok{{$}}
#include "Inputs/words.h"

#include <chrono>
#include <thread>

using test::check, test::check_status, test::clear, test::fill;
constexpr int most = 1 << 20;

__device__ int memory[most], got[most]; // no other process can map these

__device__ int length_of(int turn) { // in words of four bytes; some of several laps of a ring
  const int lengths[] = {262145, 786432 - 1, 300000, 600001, 262528, 393216, 524288 + 383};
  return lengths[turn % 7];
}

enum class Way { exchange, waitall, one_by_one, block };

/// The same as an MPI_Sendrecv.
__device__ void send_and_receive(int turn, int *from, int words, int next, int *into, int space, int incoming,
                                 int before, int tag, int *wrong) {
  MPI_Request both[2];
  const int wanted = turn % 3 == 1 ? MPI_ANY_TAG : tag;
  if (turn % 2 == 0) {
#pragma gmpi scope(grid)
    MPI_Irecv(into, space, MPI_INT, before, wanted, MPI_COMM_WORLD, &both[0]);
#pragma gmpi scope(grid)
    MPI_Isend(from, words, MPI_INT, next, tag, MPI_COMM_WORLD, &both[1]);
#pragma gmpi scope(grid)
    MPI_Waitall(2, both, MPI_STATUSES_IGNORE);
  } else {
    MPI_Status statuses[2];
#pragma gmpi scope(grid)
    MPI_Isend(from, words, MPI_INT, next, tag, MPI_COMM_WORLD, &both[0]);
#pragma gmpi scope(grid)
    MPI_Irecv(into, space, MPI_INT, before, wanted, MPI_COMM_WORLD, &both[1]);
#pragma gmpi scope(grid)
    MPI_Waitall(2, both, statuses);
    check_status(statuses[1], incoming, before, tag, wrong);
  }
}

/// All ranks in a ring, each to the next. `way`: rank 0's is `waitall` or `exchange`. What comes is
/// put where `to` is, and `pending` is as in peer_streams.cu.
__global__ void shift(int turns, Way way, bool pending, int *to, int rank, int next, int before, int *wrong) {
  for (int turn = 0; turn < turns; ++turn) {
    const int words = length_of(turn + rank), offset = 2 * (turn % 3), tag = turn % 5;
    const int incoming = length_of(turn + before), space = incoming + turn % 2 * 100;
    int *const from = memory + offset, *const into = to + 2 * (turn % 2);
    int small = turn, done;
    MPI_Request request;
    fill(from, words, turn, rank);
    clear(into, incoming);
#pragma gmpi scope(grid)
    MPI_Barrier(MPI_COMM_WORLD); // one block may receive alone
    if (pending && rank == 0) {
#pragma gmpi scope(grid)
      MPI_Irecv(memory + most - 1, 1, MPI_INT, before, 7, MPI_COMM_WORLD, &request);
    }
    if (way == Way::waitall) {
      send_and_receive(turn, from, words, next, into, space, incoming, before, tag, wrong);
    } else if (way == Way::exchange || rank == 0) {
      if (turn % 3 == 0) {
        MPI_Status status;
#pragma gmpi scope(grid)
        MPI_Sendrecv(from, words, MPI_INT, next, tag, into, space, MPI_INT, before, tag, MPI_COMM_WORLD, &status);
        check_status(status, incoming, before, tag, wrong);
      } else {
#pragma gmpi scope(grid)
        MPI_Sendrecv(from, words, MPI_INT, next, tag, into, space, MPI_INT, before,
                     turn % 3 == 1 ? MPI_ANY_TAG : tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      }
    } else if (way == Way::one_by_one) {
#pragma gmpi scope(grid)
      MPI_Recv(into, space, MPI_INT, before, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
#pragma gmpi scope(grid)
      MPI_Send(from, words, MPI_INT, next, tag, MPI_COMM_WORLD);
    } else if (blockIdx.x == 0) {
      MPI_Request both[2];
#pragma gmpi scope(block)
      MPI_Isend(from, words, MPI_INT, next, tag, MPI_COMM_WORLD, &both[0]);
#pragma gmpi scope(block)
      MPI_Irecv(into, space, MPI_INT, before, tag, MPI_COMM_WORLD, &both[1]);
#pragma gmpi scope(block)
      MPI_Waitall(2, both, MPI_STATUSES_IGNORE);
    }
    if (pending && next == 0) {
#pragma gmpi scope(grid)
      MPI_Send(&small, 1, MPI_INT, next, 7, MPI_COMM_WORLD);
    }
    if (pending && rank == 0) {
#pragma gmpi scope(grid)
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      if (memory[most - 1] != turn)
        atomicAdd(wrong, 1);
    }
#pragma gmpi scope(grid)
    MPI_Barrier(MPI_COMM_WORLD);
    check(into, incoming, turn, before, wrong);
#pragma gmpi scope(grid)
    MPI_Sendrecv(&small, 1, MPI_INT, next, 8, &done, 1, MPI_INT, before, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
}

/// The same with what is short one way.
__global__ void beside_short(int turns, int rank, int *wrong) {
  const int partner = rank ^ 1, shorts[] = {1, 5000, 16384, 16386, 262144};
  for (int turn = 0; turn < turns; ++turn) {
    const int few = shorts[turn % 5], many = length_of(turn);
    const bool sends_few = turn / 5 % 2 == rank;
    const int words = sends_few ? few : many, incoming = sends_few ? many : few;
    fill(memory, words, turn, rank);
    clear(got, incoming);
#pragma gmpi scope(grid)
    MPI_Sendrecv(memory, words, MPI_INT, partner, 3, got, incoming, MPI_INT, partner, 3, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    check(got, incoming, turn, partner, wrong);
#pragma gmpi scope(grid)
    MPI_Barrier(MPI_COMM_WORLD);
  }
}

/// Exchanges, each behind a short message that is received after it.
__global__ void behind_others(int turns, int rank, int next, int before, int *wrong) {
  for (int turn = 0; turn < turns; ++turn) {
    const int words = length_of(turn + rank), incoming = length_of(turn + before);
    int small = turn, other = -1;
    fill(memory, words, turn, rank);
    clear(got, incoming);
#pragma gmpi scope(grid)
    MPI_Send(&small, 1, MPI_INT, next, 9, MPI_COMM_WORLD);
    __syncthreads(); // so that it is not left to the next one
#pragma gmpi scope(grid)
    MPI_Sendrecv(memory, words, MPI_INT, next, 3, got, incoming, MPI_INT, before, 3, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
#pragma gmpi scope(grid)
    MPI_Recv(&other, 1, MPI_INT, before, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (other != turn)
      atomicAdd(wrong, 1);
    check(got, incoming, turn, before, wrong);
#pragma gmpi scope(grid)
    MPI_Barrier(MPI_COMM_WORLD);
  }
}

int main(int argc, char **argv) {
  test::begin(&argc, &argv);
  const int turns = test::thread_sanitizer ? 2 : 7, rank = test::rank, size = test::size;
  const int next = (rank + 1) % size, before = (rank + size - 1) % size;
  test::Array<int> wrong(1, 0), mapped(most, 0);
  auto result = [&](const char *what) {
    test::synchronize();
    test::expect_equal(wrong.read()[0], 0, what);
  };
  int *unmapped;
  CUDA_CHECK(cudaGetSymbolAddress(reinterpret_cast<void **>(&unmapped), got));
  const Way ways[] = {Way::exchange, Way::waitall};
  if (size == 3) {
    for (const Way way : ways) {
      shift<<<4, 64>>>(turns, way, false, unmapped, rank, next, before, wrong.data());
      result("wrong words in a ring of three");
      if (rank == 2) // its predecessor waits for the answer, and is being written to
        std::this_thread::sleep_for(std::chrono::milliseconds(1500));
      shift<<<4, 64>>>(1, way, false, unmapped, rank, next, before, wrong.data());
      result("wrong words where one of the ring is late");
    }
    shift<<<4, 64>>>(turns, Way::waitall, false, mapped.data(), rank, next, before, wrong.data());
    result("wrong words in a ring of three, stored where they belong");
    behind_others<<<4, 64>>>(turns, rank, next, before, wrong.data());
    result("wrong words in a ring of three, behind other messages");
    return test::end();
  }
  for (const Way way : ways) {
    for (int blocks : {2, 5}) {
      shift<<<blocks + rank, 64 << rank>>>(turns, way, false, unmapped, rank, next, before, wrong.data());
      result("wrong words of an exchange");
    }
    shift<<<4, 64>>>(turns, way, true, unmapped, rank, next, before, wrong.data());
    result("wrong words beside a posted receive");
    shift<<<4, 64>>>(turns, way, false, rank == 0 ? mapped.data() : unmapped, rank, next, before, wrong.data());
    result("wrong words where one of them can be stored where it belongs");
    shift<<<3, 64>>>(turns, way, false, unmapped, rank, rank, rank, wrong.data());
    result("wrong words of an exchange with itself");
  }
  shift<<<4, 64>>>(turns, rank == 0 ? Way::exchange : Way::waitall, false, unmapped, rank, next, before, wrong.data());
  result("wrong words of different calls");
  shift<<<4, 64>>>(turns, Way::waitall, false, mapped.data(), rank, next, before, wrong.data());
  result("wrong words that are stored where they belong");
  shift<<<4, 64>>>(turns, Way::one_by_one, false, unmapped, rank, next, before, wrong.data());
  result("wrong words where the other rank receives first");
  shift<<<4, 64>>>(turns, Way::block, false, unmapped, rank, next, before, wrong.data());
  result("wrong words where one block of the other rank receives");
  beside_short<<<4, 64>>>(turns + 3, rank, wrong.data());
  result("wrong words beside what is short");
  return test::end();
}
