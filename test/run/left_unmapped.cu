// Exchanges of long messages, left to an MPI_Waitall of grids, where one rank's can be stored and the
// other's cannot yet: it knows where, but who sends it has not mapped that. They come through the channel
// instead, and nobody waits for them elsewhere until its patience ends, which takes a second.
// LOWERINGS: queue (split kernels leave such communicators to the queue)
// RUN: %gmpicxx %s -o %t
// RUN: env GMPI_PEER=1 GMPI_STATS=1 %mpiexec -n 2 %t 2>&1 | FileCheck %s
// CHECK-DAG: {{^}}ok{{$}}
// CHECK-DAG: rank 0: of these messages, {{[1-9][0-9]*}} long ones were stored where they belong, and {{[1-9][0-9]*}} went through a ring
#include "Inputs/words.h"

#include <chrono>
#include <thread>

constexpr int count = 3, words = 24576, rounds = 8;

/// `sends` and `receives`: whether it does.
__global__ void exchange(int *from, int *to, int rank, int other, bool sends, bool receives, int turn, int *wrong) {
  constexpr int stride = words + test::guard;
  for (int i = 0; i < count; ++i) {
    test::fill(from + i * stride, words, count * turn + i, rank);
    if (receives)
      test::clear(to + i * stride, words);
  }
  const int incoming = receives ? count : 0, outgoing = sends ? count : 0;
  MPI_Request all[2 * count];
#pragma gmpi scope(grid)
  MPI_Barrier(MPI_COMM_SELF);
  for (int i = 0; i < incoming; ++i) {
#pragma gmpi scope(grid)
    MPI_Irecv(to + i * stride, words, MPI_INT, other, i, MPI_COMM_WORLD, &all[i]);
  }
  for (int i = 0; i < outgoing; ++i) {
#pragma gmpi scope(grid)
    MPI_Isend(from + i * stride, words, MPI_INT, other, i, MPI_COMM_WORLD, &all[incoming + i]);
  }
#pragma gmpi scope(grid)
  MPI_Waitall(incoming + outgoing, all, MPI_STATUSES_IGNORE);
  for (int i = 0; i < incoming; ++i)
    test::check(to + i * stride, words, count * turn + i, other, wrong);
}

int main(int argc, char **argv) {
  test::begin(&argc, &argv);
  const int rank = test::rank, other = 1 - rank;
  const auto begin = std::chrono::steady_clock::now();
  test::Array<int> wrong(1, 0);
  for (int round = 0; round < rounds; ++round) {
    test::Array<int> from(count * (words + test::guard)), to(count * (words + test::guard));
    const auto launch = [&](int with, bool sends, bool receives) {
      exchange<<<4, 64>>>(from.data(), to.data(), rank, with, sends, receives, round, wrong.data());
      test::synchronize();
      std::this_thread::sleep_for(std::chrono::milliseconds(20)); // the hosts have time to offer and map
      MPI_Barrier(MPI_COMM_WORLD);
    };
    for (int i = 0; i < 3; ++i) // where rank 0 receives, rank 1 has mapped
      launch(other, rank == 1, rank == 0);
    for (int i = 0; i < 3; ++i) // where rank 1 receives, it alone knows
      launch(rank, true, true);
    launch(other, true, true);
  }
  test::expect_equal(wrong.read()[0], 0, "wrong words");
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  test::expect(test::thread_sanitizer || seconds < rounds, "%d exchanges took %.1f s", rounds, seconds);
  return test::end();
}
