// More messages with their data than there is room for: beyond a rank's tokens, and the slots of its
// channel. They go as others have been read; and where the other rank waits for one that has not
// gone yet, in the general way.
// LOWERINGS: queue (split kernels leave such communicators to the queue)
// RUN: %gmpicxx %s -o %t
// Of three exchanges, five messages of twelve each have room at first.
// RUN: env GMPI_PEER=1 GMPI_STATS=1 %mpiexec -n 2 %t exchange 2>&1 | FileCheck %s
// RUN: env GMPI_PEER=1 %mpiexec -n 3 %t exchange
// RUN: env GMPI_PEER=1 %mpiexec -n 2 %t one_by_one
// RUN: env GMPI_PEER=1 %mpiexec -n 3 %t one_by_one
// CHECK-DAG: rank 0: of these messages, {{1[6-9]|[23][0-9]}} were written by all blocks of a grid
// CHECK-DAG: rank 1: of these messages, {{1[6-9]|[23][0-9]}} were written by all blocks of a grid
#include "Inputs/messages.h"

#include <cstring>

using test::fill, test::verify;
constexpr int most = 12;
constexpr std::size_t apart = 1048576;

__device__ unsigned char sent[most * apart], got[most * apart]; // no other process can map these

/// `count` messages of up to `bytes` from each rank to the next. `one_by_one`: all ranks but the first receive them so,
/// the last one first.
__global__ void exchange(int turns, int count, int bytes, bool one_by_one, int rank, int next, int previous,
                         int *wrong) {
  MPI_Request requests[2 * most];
  for (int turn = 0; turn < turns; ++turn) {
    for (int j = 0; j < count; ++j)
      fill(sent + j * apart, bytes - 4 * j, rank, turn, j);
#pragma gmpi scope(grid)
    MPI_Barrier(MPI_COMM_WORLD);
    if (!one_by_one || rank == 0) {
      for (int j = 0; j < count; ++j) {
#pragma gmpi scope(grid)
        MPI_Irecv(got + j * apart, bytes, MPI_BYTE, previous, turn % 2 ? j : MPI_ANY_TAG, MPI_COMM_WORLD, requests + j);
      }
      for (int j = 0; j < count; ++j) {
#pragma gmpi scope(grid)
        MPI_Isend(sent + j * apart, bytes - 4 * j, MPI_BYTE, next, j, MPI_COMM_WORLD, requests + count + j);
      }
#pragma gmpi scope(grid)
      MPI_Waitall(2 * count, requests, MPI_STATUSES_IGNORE);
    } else {
      for (int j = 0; j < count; ++j) {
#pragma gmpi scope(grid)
        MPI_Isend(sent + j * apart, bytes - 4 * j, MPI_BYTE, next, j, MPI_COMM_WORLD, requests + j);
      }
      for (int j = count - 1; j >= 0; --j) {
#pragma gmpi scope(grid)
        MPI_Recv(got + j * apart, bytes, MPI_BYTE, previous, j, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      }
#pragma gmpi scope(grid)
      MPI_Waitall(count, requests, MPI_STATUSES_IGNORE);
    }
    for (int j = 0; j < count; ++j)
      verify(got + j * apart, bytes - 4 * j, previous, turn, wrong, j);
  }
}

int main(int argc, char **argv) {
  test::begin(&argc, &argv);
  const bool one_by_one = argc > 1 && std::strcmp(argv[1], "one_by_one") == 0;
  test::Array<int> wrong(1);
  // (ThreadSanitizer remembers each packet.)
  const int turns = test::thread_sanitizer ? 1 : 3, bytes = test::thread_sanitizer ? 66000 : 1048576;
  exchange<<<16, 64>>>(turns, most, bytes, one_by_one, test::rank, test::next(), test::previous(), wrong.data());
  test::synchronize();
  test::expect_equal(wrong.read()[0], 0, "wrong bytes");
  return test::end();
}
