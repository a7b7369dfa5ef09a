// Messages of 64 KiB to 1 MiB among calls that are left to the next one go with their data: beside
// short and longer ones, more than a rank has tokens for, and of bytes that are no whole words; into
// memory that the sender can map, and that it cannot; received in another order than they are sent,
// by calls that come one by one, and where nobody has asked for them yet.
// LOWERINGS: queue (split kernels leave such communicators to the queue)
// RUN: %gmpicxx %s -o %t
// RUN: env GMPI_PEER=1 GMPI_STATS=1 %mpiexec -n 2 %t 2>&1 | FileCheck %s
// RUN: env GMPI_PEER=1 %mpiexec -n 1 %t
// RUN: env GMPI_PEER=1 %mpiexec -n 3 %t
// RUN: env GMPI_HOSTS_FOR_TESTS=2 GMPI_PEER=1 %mpiexec -n 3 %t
// CHECK-DAG: rank 0: of these messages, {{[0-9]+}} were written by all blocks of a grid
// CHECK-DAG: rank 1: of these messages, {{[0-9]+}} were written by all blocks of a grid
#include "Inputs/messages.h"

using test::fill, test::verify;
constexpr int most = 12;
constexpr std::size_t apart = 1300000;

__device__ unsigned char sent[most * apart], got[most * apart]; // no other process can map these

enum class Lengths { equal, mixed, odd };
enum class Receives { together, one_by_one, late };

__device__ int length(Lengths lengths, int message) {
  const int mixed[] = {262144, 100, 1048576, 65540, 1200000, 16384, 700000, 8, 131072, 65536, 300004, 90000};
  return lengths == Lengths::mixed ? mixed[message % most] : lengths == Lengths::odd ? 70001 + 30002 * message : 200000;
}

/// `count` messages from each rank to the next.
__global__ void exchange(int turns, int count, Lengths lengths, Receives receives, unsigned char *out,
                         unsigned char *in, int rank, int next, int previous, int *wrong) {
  MPI_Request requests[2 * most];
  for (int turn = 0; turn < turns; ++turn) {
    const bool backwards = turn % 2 == 1 && receives == Receives::together, together = receives == Receives::together;
    for (int j = 0; j < count; ++j)
      fill(out + j * apart, length(lengths, j), rank, turn, j);
#pragma gmpi scope(grid)
    MPI_Barrier(MPI_COMM_WORLD);
    if (together || rank == 0) {
      for (int j = 0; j < count; ++j) {
#pragma gmpi scope(grid)
        MPI_Irecv(in + j * apart, length(lengths, j) + turn % 3 * 4, MPI_BYTE, previous,
                  backwards || turn % 4 == 2 ? j : MPI_ANY_TAG, MPI_COMM_WORLD, requests + j);
      }
      for (int k = 0; k < count; ++k) {
        const int j = backwards ? count - 1 - k : k;
#pragma gmpi scope(grid)
        MPI_Isend(out + j * apart, length(lengths, j), MPI_BYTE, next, j, MPI_COMM_WORLD, requests + count + k);
      }
      if (turn % 4 == 3) {
        MPI_Status statuses[2 * most];
#pragma gmpi scope(grid)
        MPI_Waitall(2 * count, requests, statuses);
        for (int j = 0; j < count; ++j) {
          int bytes = -1;
          MPI_Get_count(&statuses[j], MPI_BYTE, &bytes);
          if (bytes != length(lengths, j) || statuses[j].MPI_TAG != j || statuses[j].MPI_SOURCE != previous)
            atomicAdd(wrong, 1);
        }
      } else {
#pragma gmpi scope(grid)
        MPI_Waitall(2 * count, requests, MPI_STATUSES_IGNORE);
      }
    } else {
      for (int j = 0; j < count; ++j) {
#pragma gmpi scope(grid)
        MPI_Isend(out + j * apart, length(lengths, j), MPI_BYTE, next, j, MPI_COMM_WORLD, requests + j);
      }
      for (int k = 0; k < count; ++k) {
        const int j = receives == Receives::late ? count - 1 - k : k;
#pragma gmpi scope(grid)
        MPI_Recv(in + j * apart, length(lengths, j), MPI_BYTE, previous, j, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      }
#pragma gmpi scope(grid)
      MPI_Waitall(count, requests, MPI_STATUSES_IGNORE);
    }
    for (int j = 0; j < count; ++j)
      verify(in + j * apart, length(lengths, j), previous, turn, wrong, j);
  }
}

int main(int argc, char **argv) {
  test::begin(&argc, &argv);
  test::Array<unsigned char> out(most * apart), in(most * apart);
  test::Array<int> wrong(1);
  unsigned char *from, *to;
  CUDA_CHECK(cudaGetSymbolAddress(reinterpret_cast<void **>(&from), sent));
  CUDA_CHECK(cudaGetSymbolAddress(reinterpret_cast<void **>(&to), got));
  auto result = [&](const char *what) {
    test::synchronize();
    test::expect_equal(wrong.read()[0], 0, what);
  };
  const int turns = test::thread_sanitizer ? 2 : 4, few = test::thread_sanitizer ? 2 : 6;
  for (const bool maps : {false, true})
    for (const auto [count, lengths] : {std::pair(few, Lengths::equal), std::pair(most, Lengths::equal),
                                        std::pair(most, Lengths::mixed), std::pair(few - 1, Lengths::odd)}) {
      if (test::thread_sanitizer && (maps || count > 6)) // it remembers each packet
        continue;
      exchange<<<maps ? 4 : 5, 64>>>(turns, count, lengths, Receives::together, maps ? out.data() : from,
                                     maps ? in.data() : to, test::rank, test::next(), test::previous(), wrong.data());
      result("wrong bytes of an exchange");
    }
  for (const Receives receives : {Receives::one_by_one, Receives::late}) {
    const Lengths lengths = test::thread_sanitizer ? Lengths::equal : Lengths::mixed;
    exchange<<<4, 64>>>(turns, few, lengths, receives, from, to, test::rank, test::next(), test::previous(),
                        wrong.data());
    result("wrong bytes of messages that are received one by one");
  }
  return test::end();
}
