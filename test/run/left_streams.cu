// Several messages longer than 1 MiB each way, left to an MPI_Waitall of grids, into memory that the
// sender cannot map: all blocks read and write them, pair by pair. With and without statuses; of lengths
// that differ; with a rank that receives and sends one behind the other, or in another order; into memory
// of one rank's, or both, that can be mapped; in a ring of three; of a rank with itself; and longer than
// what is stored together.
// LOWERINGS: queue (split kernels leave such communicators to the queue)
// RUN: %gmpicxx %s -o %t
// RUN: env GMPI_PEER=1 GMPI_STATS=1 %mpiexec -n 2 %t exchange 2>&1 | FileCheck %s --check-prefix=%if suite-thread %{FEW%} %else %{CHECK%}
// RUN: env GMPI_PEER=1 %mpiexec -n 2 %t others
// RUN: env GMPI_PEER=1 GMPI_STATS=1 %mpiexec -n 3 %t exchange 2>&1 | FileCheck %s --check-prefix=%if suite-thread %{FEW%} %else %{CHECK%}
// RUN: env GMPI_HOSTS_FOR_TESTS=2 GMPI_PEER=1 %mpiexec -n 2 %t exchange
// CHECK-DAG: {{^}}ok{{$}}
// CHECK-DAG: rank 0: of these messages, {{2[4-9]}} long ones were streamed from all blocks of a grid to all of another
// CHECK-DAG: rank 1: of these messages, {{2[4-9]}} long ones were streamed
// FEW: {{^}}ok{{$}}
#include "Inputs/words.h"

#include <cstring>

using test::check, test::check_status, test::clear, test::fill;
constexpr int each = 3, most = 3 << 17;

__device__ int memory[each * most], got[each * most]; // no other process can map these

__device__ int length_of(int number) { // in words of four bytes, all longer than 1 MiB
  const int lengths[] = {262145, 300000, 262528, 393216 - test::guard};
  return lengths[number % 4];
}

enum class Way { at_once, one_by_one, last_first, backwards };

/// All ranks in a ring, each to the next. `way`: what rank 1 does; all others do it at once.
__global__ void trade(int turns, Way way, int *to, int rank, int next, int before, int *wrong) {
  for (int turn = 0; turn < turns; ++turn) {
    for (int i = 0; i < each; ++i) {
      fill(memory + i * most, length_of(turn + i + rank), each * turn + i, rank);
      clear(to + i * most, length_of(turn + i + before));
    }
#pragma gmpi scope(grid)
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 1 && (way == Way::one_by_one || way == Way::last_first)) {
      for (int k = 0; k < each; ++k) {
        const int i = way == Way::last_first ? each - 1 - k : k;
#pragma gmpi scope(grid)
        MPI_Recv(to + i * most, most, MPI_INT, before, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
#pragma gmpi scope(grid)
        MPI_Send(memory + i * most, length_of(turn + i + rank), MPI_INT, next, i, MPI_COMM_WORLD);
      }
    } else {
      const int turned = rank == 1 && way == Way::backwards ? each - 1 : 0;
      MPI_Request all[2 * each];
      MPI_Status statuses[2 * each];
      for (int i = 0; i < each; ++i) {
#pragma gmpi scope(grid)
        MPI_Irecv(to + i * most, most, MPI_INT, before, i, MPI_COMM_WORLD, &all[i]);
      }
      for (int k = 0; k < each; ++k) {
        const int i = turned != 0 ? turned - k : k;
#pragma gmpi scope(grid)
        MPI_Isend(memory + i * most, length_of(turn + i + rank), MPI_INT, next, i, MPI_COMM_WORLD, &all[each + k]);
      }
      if (turn % 2 == 0) {
#pragma gmpi scope(grid)
        MPI_Waitall(2 * each, all, MPI_STATUSES_IGNORE);
      } else {
#pragma gmpi scope(grid)
        MPI_Waitall(2 * each, all, statuses);
        for (int i = 0; i < each; ++i)
          check_status(statuses[i], length_of(turn + i + before), before, i, wrong);
      }
    }
#pragma gmpi scope(grid)
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < each; ++i)
      check(to + i * most, length_of(turn + i + before), each * turn + i, before, wrong);
  }
}

constexpr int longer = (17 << 18) + 3, longer_each = 4; // words, more than what is stored with others

/// Messages that are so long, to and from one rank. (The first are stored while others go through a ring.)
__global__ void trade_longer(int turns, int *from, int *to, int rank, int partner, int *wrong) {
  for (int turn = 0; turn < turns; ++turn) {
    MPI_Request all[2 * longer_each];
    for (int i = 0; i < longer_each; ++i) {
      fill(from + i * longer, longer, longer_each * turn + i, rank);
      clear(to + i * (longer + test::guard), longer);
    }
#pragma gmpi scope(grid)
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < longer_each; ++i) {
#pragma gmpi scope(grid)
      MPI_Irecv(to + i * (longer + test::guard), longer, MPI_INT, partner, i, MPI_COMM_WORLD, &all[i]);
    }
    for (int i = 0; i < longer_each; ++i) {
#pragma gmpi scope(grid)
      MPI_Isend(from + i * longer, longer, MPI_INT, partner, i, MPI_COMM_WORLD, &all[longer_each + i]);
    }
#pragma gmpi scope(grid)
    MPI_Waitall(2 * longer_each, all, MPI_STATUSES_IGNORE);
#pragma gmpi scope(grid)
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < longer_each; ++i)
      check(to + i * (longer + test::guard), longer, longer_each * turn + i, partner, wrong);
  }
}

int main(int argc, char **argv) {
  test::begin(&argc, &argv);
  const int turns = test::thread_sanitizer ? 2 : 4, rank = test::rank, size = test::size;
  const int next = (rank + 1) % size, before = (rank + size - 1) % size;
  const bool exchanges = argc > 1 && std::strcmp(argv[1], "exchange") == 0;
  test::Array<int> wrong(1, 0), mapped(each * most, 0);
  auto result = [&](const char *what) {
    test::synchronize();
    test::expect_equal(wrong.read()[0], 0, what);
  };
  int *unmapped;
  CUDA_CHECK(cudaGetSymbolAddress(reinterpret_cast<void **>(&unmapped), got));
  if (exchanges) {
    for (int blocks = 2; blocks <= (test::thread_sanitizer ? 2 : 5); blocks += 3) {
      trade<<<blocks + rank, 64 << rank % 2>>>(turns, Way::at_once, unmapped, rank, next, before, wrong.data());
      result("wrong words of an exchange");
    }
    return test::end();
  }
  trade<<<4, 64>>>(turns, Way::one_by_one, unmapped, rank, next, before, wrong.data());
  result("wrong words of an exchange with who receives and sends one by one");
  trade<<<4, 64>>>(turns, Way::last_first, unmapped, rank, next, before, wrong.data());
  result("wrong words of an exchange with who begins with the last one");
  trade<<<4, 64>>>(turns, Way::backwards, unmapped, rank, next, before, wrong.data());
  result("wrong words of an exchange with who sends backwards");
  trade<<<4, 64>>>(turns, Way::at_once, rank == 0 ? mapped.data() : unmapped, rank, next, before, wrong.data());
  result("wrong words where one of them can be stored where it belongs");
  trade<<<4, 64>>>(turns, Way::at_once, mapped.data(), rank, next, before, wrong.data());
  result("wrong words where both can be");
  trade<<<3, 64>>>(turns, Way::at_once, unmapped, rank, rank, rank, wrong.data());
  result("wrong words of an exchange with itself");
  if (test::thread_sanitizer)
    return test::end();
  test::Array<int> from(longer_each * longer, 0), to(longer_each * (longer + test::guard), 0);
  trade_longer<<<4, 64>>>(turns, from.data(), to.data(), rank, next, wrong.data());
  result("wrong words of longer ones");
  return test::end();
}
