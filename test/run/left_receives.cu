// MPI_Recv of a grid that is left to the wait behind it, with what has been sent before: what it brings
// in every length, also among others that are received, from nobody, from another rank, and where it
// is not left after all; and one that is too long, and one that nobody sends.
// RUN: %gmpicxx %s -o %t
// RUN: %mpiexec -n 2 %t
// RUN: env GMPI_PEER=1 %ranks 1-4 %t
// RUN: env GMPI_PEER=1 GMPI_HOSTS_FOR_TESTS=2 %ranks 2 %t
// RUN: env GMPI_STATS=1 GMPI_PEER=1 %mpiexec -n 2 %t short 2>&1 | FileCheck %s --check-prefix=SHORT
// RUN: env GMPI_PEER=1 not %mpiexec -n 2 %t truncates 2>&1 | FileCheck %s --check-prefix=TRUNCATES
// RUN: env GMPI_STALL=1 GMPI_PEER=1 not %mpiexec -n 2 %t hangs 2>&1 | FileCheck %s --check-prefix=HANGS
//
// Two calls a turn. (Whoever waits long for the other rank makes them the usual way.)
// SHORT-DAG: gmpi: rank 0: 12 calls of grids were left to the next one; waits made {{[0-9]+}} of them at once
// SHORT-DAG: {{^}}ok{{$}}
#include "Inputs/messages.h"

#include <cstring>

using test::fill, test::verify;
constexpr int turns = 6, many = 5;

__global__ void exchange(unsigned char *out, unsigned char *in, int bytes, int rank, int next,
                         int previous, int *wrong) {
  MPI_Request request;
  for (int turn = 0; turn < turns; ++turn) {
    fill(out, bytes, rank, turn);
    MPI_Isend(out, bytes, MPI_BYTE, next, turn, MPI_COMM_WORLD, &request);
    MPI_Recv(in, bytes + turn, MPI_BYTE, previous, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (request != MPI_REQUEST_NULL)
      atomicAdd(wrong, 1);
    verify(in, bytes, previous, turn, wrong);
  }
}

/// The last one by MPI_Recv, which is the first to come where `first` is so.
__global__ void gather(unsigned char *out, unsigned char *in, int bytes, bool first, int rank, int next,
                       int previous, int *wrong) {
  MPI_Request requests[2 * many - 1];
  for (int turn = 0; turn < turns; ++turn) {
    fill(out, many * bytes, rank, turn);
    for (int i = 0; i < many - 1; ++i)
      MPI_Irecv(in + i * bytes, bytes, MPI_BYTE, previous, i, MPI_COMM_WORLD, requests + i);
    for (int i = 0; i < many; ++i) {
      const int message = first ? many - 1 - i : i;
      MPI_Isend(out + message * bytes, bytes, MPI_BYTE, next, message, MPI_COMM_WORLD,
                requests + many - 1 + i);
    }
    MPI_Recv(in + (many - 1) * bytes, bytes, MPI_BYTE, previous, many - 1, MPI_COMM_WORLD,
             MPI_STATUS_IGNORE);
    MPI_Waitall(2 * many - 1, requests, MPI_STATUSES_IGNORE);
    verify(in, many * bytes, previous, turn, wrong);
  }
}

/// What has come is sent on in its buffer: the calls behind an MPI_Recv wait for it.
__global__ void hand_on(unsigned char *token, int bytes, int rank, int next, int previous, int ranks,
                        int *wrong) {
  MPI_Request requests[2];
  for (int turn = 0; turn < turns; ++turn) {
    fill(token, bytes, rank, turn);
    MPI_Isend(token, bytes, MPI_BYTE, next, turn, MPI_COMM_WORLD, requests);
    MPI_Recv(token + bytes, bytes, MPI_BYTE, previous, turn, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Wait(requests, MPI_STATUS_IGNORE);
    MPI_Isend(token + bytes, bytes, MPI_BYTE, next, turn, MPI_COMM_WORLD, requests);
    MPI_Recv(token + 2 * bytes, bytes, MPI_BYTE, previous, turn, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Isend(token + 2 * bytes, bytes, MPI_BYTE, next, turn, MPI_COMM_WORLD, requests + 1);
    MPI_Recv(token + 3 * bytes, bytes, MPI_BYTE, previous, turn, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    verify(token + bytes, bytes, previous, turn, wrong);
    verify(token + 3 * bytes, bytes, (previous + 2 * (ranks - 1)) % ranks, turn, wrong);
  }
}

/// To and from nobody, with a request begun before other work, and into a variable that the translator
/// does not see.
__global__ void odd(unsigned char *out, unsigned char *in, int rank, int next, int previous, int *wrong) {
  MPI_Request requests[2];
  for (int turn = 0; turn < turns; ++turn) {
    int own = -1;
    int *const hidden = turn % 2 == 0 ? &own : reinterpret_cast<int *>(in + 8);
    fill(out, 8, rank, turn);
    MPI_Irecv(in, 4, MPI_BYTE, previous, 1, MPI_COMM_WORLD, requests);
    MPI_Isend(out, 4, MPI_BYTE, next, 1, MPI_COMM_WORLD, requests + 1);
    MPI_Recv(in + 50, 4, MPI_BYTE, MPI_PROC_NULL, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    verify(in, 4, previous, turn, wrong);
    MPI_Isend(out, 4, MPI_BYTE, next, 2, MPI_COMM_WORLD, requests);
    if (test::number() == 0)
      *reinterpret_cast<int *>(out + 200) = rank * 1000 + turn;
    MPI_Isend(out + 4, 4, MPI_BYTE, MPI_PROC_NULL, 3, MPI_COMM_WORLD, requests + 1);
    MPI_Recv(in, 4, MPI_BYTE, previous, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    verify(in, 4, previous, turn, wrong);
    MPI_Isend(out + 200, 1, MPI_INT, next, 4, MPI_COMM_WORLD, requests);
    MPI_Recv(hidden, 1, MPI_INT, previous, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Wait(requests, MPI_STATUS_IGNORE);
    if (*hidden != previous * 1000 + turn)
      atomicAdd(wrong, 1);
  }
}

__global__ void fails(unsigned char *out, unsigned char *in, int bytes, int tag, int other) {
  MPI_Request request;
  MPI_Isend(out, bytes, MPI_BYTE, other, 0, MPI_COMM_WORLD, &request);
  // TRUNCATES: gmpi: rank 1: MPI_Recv at {{.*}}left_receives.cu:[[@LINE+2]]: the message is longer than the receive's buffer
  // HANGS: gmpi: rank 0: deadlock: rank 0 waits in MPI_Recv from rank 1, tag 7 (grid scope, {{[^ ]*}}left_receives.cu:[[@LINE+1]]
  MPI_Recv(in, 8, MPI_BYTE, other, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv) {
  test::begin(&argc, &argv);
  const int rank = test::rank, next = test::next(), previous = test::previous();
  const auto is = [&](const char *word) { return argc > 1 && std::strcmp(argv[1], word) == 0; };
  test::Array<unsigned char> out(1 << 21), in(1 << 21);
  test::Array<int> wrong(1);
  for (int bytes : {8, 0, 5, 700, 9000, 65536, 70000, 400000}) {
    for (int blocks : {3, 1}) {
      exchange<<<blocks, 64>>>(out.data(), in.data(), bytes, rank, next, previous, wrong.data());
      if (is("short"))
        break;
      for (bool first : {false, true})
        gather<<<blocks, 64>>>(out.data(), in.data(), bytes, first, rank, next, previous, wrong.data());
      hand_on<<<blocks, 48>>>(out.data(), bytes, rank, next, previous, test::size, wrong.data());
    }
    test::synchronize();
    test::expect(wrong.read()[0] == 0, "%d bytes: %d are wrong", bytes, wrong.read()[0]);
    if (argc > 1)
      break;
  }
  if (argc == 1)
    odd<<<2, 64>>>(out.data(), in.data(), rank, next, previous, wrong.data());
  else if (!is("short"))
    fails<<<2, 64>>>(out.data(), in.data(), is("truncates") && rank == 0 ? 12 : 8, is("hangs") ? 7 : 0, next);
  test::synchronize();
  test::expect(wrong.read()[0] == 0, "%d are wrong in the end", wrong.read()[0]);
  return test::end();
}
