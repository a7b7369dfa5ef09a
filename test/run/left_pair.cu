// One message each way, left to the grid's wait, which exchanges them as an MPI_Sendrecv does; where it
// cannot, since the buffer is no whole words, or another message comes first, or is kept, the exchange
// goes on otherwise, and what has been sent stays sent; with and without statuses; and one that is too
// long.
// RUN: %gmpicxx %s -o %t
// RUN: env GMPI_PEER=1 %ranks 1-4 %t
// RUN: env GMPI_PEER=1 GMPI_HOSTS_FOR_TESTS=2 %ranks 2 %t
// RUN: env GMPI_PEER=1 not %mpiexec -n 2 %t truncates 2>&1 | FileCheck %s
#include "Inputs/messages.h"

using test::fill, test::verify;
constexpr int turns = 6;

__device__ void verify(const MPI_Status &status, int source, int tag, int bytes, int *wrong) {
  int count = -1;
  MPI_Get_count(&status, MPI_BYTE, &count);
  if (status.MPI_SOURCE != source || status.MPI_TAG != tag || count != bytes)
    atomicAdd(wrong, 1);
}

/// The messages begin at odd addresses where `shift` says so. `sends_first`: before it receives.
/// `told`: with statuses.
__global__ void exchange(unsigned char *out, unsigned char *in, int bytes, int shift,
                         bool sends_first, bool told, int rank, int next, int previous, int *wrong) {
  MPI_Request requests[2];
  MPI_Status statuses[2];
  out += shift;
  in += shift;
  for (int turn = 0; turn < turns; ++turn) {
    fill(out, bytes, rank, turn);
    if (sends_first) {
      MPI_Isend(out, bytes, MPI_BYTE, next, turn, MPI_COMM_WORLD, requests);
      MPI_Irecv(in, bytes + turn, MPI_BYTE, previous, MPI_ANY_TAG, MPI_COMM_WORLD, requests + 1);
    } else {
      MPI_Irecv(in, bytes + turn, MPI_BYTE, previous, turn, MPI_COMM_WORLD, requests);
      MPI_Isend(out, bytes, MPI_BYTE, next, turn, MPI_COMM_WORLD, requests + 1);
    }
    if (told) {
      MPI_Waitall(2, requests, statuses);
      verify(statuses[sends_first], previous, turn, bytes, wrong);
    } else {
      MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    }
    verify(in, bytes, previous, turn, wrong);
  }
}

/// A message of another tag, and of other contents, comes before, and is asked for behind.
__global__ void others_first(unsigned char *out, unsigned char *in, int bytes, int rank, int next,
                             int previous, int *wrong) {
  MPI_Request requests[2];
  MPI_Status statuses[2];
  for (int turn = 0; turn < turns; ++turn) {
    fill(out, bytes, rank, turn);
    fill(out + 70000, 100, rank, turn + 50);
    MPI_Send(out + 70000, 100, MPI_BYTE, next, 1, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Irecv(in, bytes, MPI_BYTE, previous, 2, MPI_COMM_WORLD, requests);
    MPI_Isend(out, bytes, MPI_BYTE, next, 2, MPI_COMM_WORLD, requests + 1);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    verify(in, bytes, previous, turn, wrong);
    MPI_Irecv(in, bytes, MPI_BYTE, previous, 3, MPI_COMM_WORLD, requests);
    MPI_Isend(out, bytes, MPI_BYTE, next, 3, MPI_COMM_WORLD, requests + 1);
    MPI_Waitall(2, requests, statuses);
    verify(statuses[0], previous, 3, bytes, wrong);
    verify(in, bytes, previous, turn, wrong);
    MPI_Recv(in + 70000, 100, MPI_BYTE, previous, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    verify(in + 70000, 100, previous, turn + 50, wrong);
  }
}

/// Two calls that are no such pair.
__global__ void two_of_a_kind(unsigned char *out, unsigned char *in, int bytes, int rank, int next,
                              int previous, int *wrong) {
  MPI_Request sends[2], receives[2];
  for (int turn = 0; turn < turns; ++turn) {
    fill(out, 2 * bytes, rank, turn);
    MPI_Isend(out, bytes, MPI_BYTE, next, 1, MPI_COMM_WORLD, sends);
    MPI_Isend(out + bytes, bytes, MPI_BYTE, next, 2, MPI_COMM_WORLD, sends + 1);
    MPI_Waitall(2, sends, MPI_STATUSES_IGNORE);
    MPI_Irecv(in, bytes, MPI_BYTE, previous, 1, MPI_COMM_WORLD, receives);
    MPI_Irecv(in + bytes, bytes, MPI_BYTE, previous, 2, MPI_COMM_WORLD, receives + 1);
    MPI_Waitall(2, receives, MPI_STATUSES_IGNORE);
    verify(in, 2 * bytes, previous, turn, wrong);
  }
}

__global__ void truncates(unsigned char *out, unsigned char *in, int rank, int other) {
  MPI_Request requests[2];
  MPI_Irecv(in, 8, MPI_BYTE, other, 1, MPI_COMM_WORLD, requests);
  MPI_Isend(out, rank == 0 ? 12 : 8, MPI_BYTE, other, 1, MPI_COMM_WORLD, requests + 1);
  // CHECK: gmpi: rank 1: MPI_Irecv at {{.*}}left_pair.cu:[[@LINE+1]]: the message is longer than the receive's buffer
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
}

int main(int argc, char **argv) {
  test::begin(&argc, &argv);
  const int rank = test::rank, next = test::next(), previous = test::previous();
  test::Array<unsigned char> out(1 << 18), in(1 << 18);
  test::Array<int> wrong(1);
  for (int bytes : {8, 0, 3, 232, 236, 5000, 9001, 65536})
    for (int blocks : {1, 3}) {
      for (int shift : {0, 4, 1})
        for (bool sends_first : {false, true})
          for (bool told : {false, true})
            exchange<<<blocks, 64>>>(out.data(), in.data(), bytes, shift, sends_first, told, rank,
                                     next, previous, wrong.data());
      others_first<<<blocks, 96>>>(out.data(), in.data(), bytes, rank, next, previous, wrong.data());
      two_of_a_kind<<<blocks, 64>>>(out.data(), in.data(), bytes, rank, next, previous, wrong.data());
      test::synchronize();
      test::expect(wrong.read()[0] == 0, "%d bytes, %d blocks: %d are wrong", bytes, blocks,
                   wrong.read()[0]);
    }
  if (argc > 1) {
    truncates<<<3, 64>>>(out.data(), in.data(), rank, next);
    test::synchronize();
  }
  return test::end();
}
