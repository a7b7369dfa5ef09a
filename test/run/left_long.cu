// Long messages among calls that are left to the next one: beside a short one, into more room than
// they need, by any tag, and received in another order than they are sent; and one that is too long.
// RUN: %gmpicxx %s -o %t
// RUN: env GMPI_PEER=1 %ranks 1-3 %t
// RUN: env GMPI_PEER=1 not %mpiexec -n 2 %t truncates 2>&1 | FileCheck %s
#include "Inputs/messages.h"

using test::fill, test::verify;
constexpr int count = 5, turns = 8;
constexpr std::size_t apart = 200000;

__device__ int length(int message) { return message == 1 ? 100 : 66000 + message * 20000; }

__global__ void mixed(unsigned char *out, unsigned char *in, int rank, int next, int previous,
                      int *wrong) {
  MPI_Request requests[2 * count];
  MPI_Status statuses[2 * count];
  for (int turn = 0; turn < turns; ++turn) {
    const bool backwards = turn % 2 == 1;
    for (int j = 0; j < count; ++j)
      fill(out + j * apart, length(j), rank, turn, j);
    for (int j = 0; j < count; ++j)
      MPI_Irecv(in + j * apart, 150000, MPI_BYTE, previous, backwards ? j : MPI_ANY_TAG,
                MPI_COMM_WORLD, requests + j);
    for (int k = 0; k < count; ++k) {
      const int j = backwards ? count - 1 - k : k;
      MPI_Isend(out + j * apart, length(j), MPI_BYTE, next, j, MPI_COMM_WORLD,
                requests + count + k);
    }
    MPI_Waitall(2 * count, requests, statuses);
    for (int j = 0; j < count; ++j) {
      int bytes = -1;
      MPI_Get_count(&statuses[j], MPI_BYTE, &bytes);
      if (bytes != length(j) || statuses[j].MPI_TAG != j || statuses[j].MPI_SOURCE != previous)
        atomicAdd(wrong, 1);
      verify(in + j * apart, length(j), previous, turn, wrong, j);
    }
  }
}

__global__ void truncates(unsigned char *out, unsigned char *in, int rank, int other) {
  MPI_Request requests[2];
  MPI_Irecv(in, 70000, MPI_BYTE, other, 1, MPI_COMM_WORLD, requests);
  MPI_Isend(out, rank == 0 ? 90000 : 70000, MPI_BYTE, other, 1, MPI_COMM_WORLD, requests + 1);
  // CHECK: gmpi: rank 1: MPI_Irecv at {{.*}}left_long.cu:[[@LINE+1]]: the message is longer than the receive's buffer
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
}

int main(int argc, char **argv) {
  test::begin(&argc, &argv);
  test::Array<unsigned char> out(count * apart), in(count * apart);
  test::Array<int> wrong(1);
  for (int i = 0; i < 3; ++i) { // the ranks map each other's buffers meanwhile
    mixed<<<3, 64>>>(out.data(), in.data(), test::rank, test::next(), test::previous(),
                     wrong.data());
    test::synchronize();
  }
  test::expect(wrong.read()[0] == 0, "%d are wrong", wrong.read()[0]);
  if (argc > 1) {
    truncates<<<3, 64>>>(out.data(), in.data(), test::rank, test::next());
    test::synchronize();
  }
  return test::end();
}
