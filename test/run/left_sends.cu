// MPI_Send of a grid that is left to the next call: what it brings in every length, that its buffer is
// the program's again once that has returned, and that what is received behind it, into the same
// memory, does not come before.
// RUN: %gmpicxx %s -o %t
// RUN: %ranks 1-3 %t
// RUN: env GMPI_PEER=1 %ranks 1-4 %t
// RUN: env GMPI_STATS=1 GMPI_PEER=1 %mpiexec -n 2 %t short 2>&1 | FileCheck %s --check-prefix=SHORT
//
// Two calls a turn, of each way of waiting. (Whoever waits long for the other rank makes them the usual
// way.)
// SHORT-DAG: gmpi: rank 0: {{7[0-9]}} calls of grids were left to the next one; waits made {{[67][0-9]}} of them at once
// SHORT-DAG: {{^}}ok{{$}}
#include "Inputs/messages.h"

#include <cstring>

using test::fill, test::verify;
constexpr int turns = 12, many = 40;

/// `way`: how the receive is waited for. The message is overwritten at once then.
__global__ void exchange(unsigned char *out, unsigned char *in, int bytes, int way, int rank, int next,
                         int previous, int *wrong) {
  MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  MPI_Status status;
  for (int turn = 0; turn < turns; ++turn) {
    fill(out, bytes, rank, turn);
    MPI_Irecv(in, bytes, MPI_BYTE, previous, MPI_ANY_TAG, MPI_COMM_WORLD, requests);
    MPI_Send(out, bytes, MPI_BYTE, next, turn, MPI_COMM_WORLD);
    if (way == 0) {
      MPI_Wait(requests, MPI_STATUS_IGNORE);
    } else if (way == 1) {
      MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    } else {
      MPI_Wait(requests, &status);
      int got = -1;
      MPI_Get_count(&status, MPI_BYTE, &got);
      if (got != bytes || status.MPI_SOURCE != previous || status.MPI_TAG != turn)
        atomicAdd(wrong, 1);
    }
    if (requests[0] != MPI_REQUEST_NULL)
      atomicAdd(wrong, 1);
    fill(out, bytes, rank, turn + 1000);
    verify(in, bytes, previous, turn, wrong);
  }
}

/// All at once, more than can be left; each is overwritten behind the loop.
__global__ void gather(unsigned char *out, unsigned char *in, int bytes, int rank, int next,
                       int previous, int *wrong) {
  MPI_Request requests[many];
  for (int turn = 0; turn < 3; ++turn) {
    for (int i = 0; i < many; ++i)
      fill(out + i * bytes, bytes, rank, turn + i);
    for (int i = 0; i < many; ++i)
      MPI_Irecv(in + i * bytes, bytes, MPI_BYTE, previous, i, MPI_COMM_WORLD, requests + i);
    for (int i = 0; i < many; ++i)
      MPI_Send(out + i * bytes, bytes, MPI_BYTE, next, i, MPI_COMM_WORLD);
    fill(out, many * bytes, rank, turn + 1000);
    MPI_Waitall(many, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < many; ++i)
      verify(in + i * bytes, bytes, previous, turn + i, wrong);
  }
}

/// A token that is handed on in its buffer. `extra`: behind what is left to it, and waited for, an
/// MPI_Isend is left, too, and an MPI_Irecv cannot be.
__global__ void hand_on(unsigned char *token, int bytes, bool extra, int rank, int next, int previous,
                        int *wrong) {
  MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  for (int turn = 0; turn < turns; ++turn) {
    fill(token, bytes, rank, turn);
    if (extra) {
      MPI_Send(token, bytes, MPI_BYTE, next, turn, MPI_COMM_WORLD);
      MPI_Isend(token, 0, MPI_BYTE, next, 99, MPI_COMM_WORLD, requests + 1);
    } else {
      MPI_Send(token, bytes, MPI_BYTE, next, turn, MPI_COMM_WORLD);
    }
    MPI_Irecv(token, bytes, MPI_BYTE, previous, turn, MPI_COMM_WORLD, requests);
    MPI_Wait(requests, MPI_STATUS_IGNORE);
    verify(token, bytes, previous, turn, wrong);
    if (extra)
      MPI_Recv(nullptr, 0, MPI_BYTE, previous, 99, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Wait(requests + 1, MPI_STATUS_IGNORE);
  }
}

/// From variables, to nobody, and with nothing else on the way.
__global__ void odd(unsigned char *out, unsigned char *in, int rank, int next, int previous, int *wrong) {
  MPI_Request request;
  for (int turn = 0; turn < turns; ++turn) {
    int own = rank * 100 + turn;
    fill(out, 4, rank, turn);
    MPI_Irecv(in, 4, MPI_BYTE, previous, 1, MPI_COMM_WORLD, &request);
    MPI_Send(&own, 1, MPI_INT, next, 1, MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (*reinterpret_cast<int *>(in) != previous * 100 + turn)
      atomicAdd(wrong, 1);
    MPI_Irecv(in + 4, 4, MPI_BYTE, previous, 2, MPI_COMM_WORLD, &request);
    MPI_Send(in, 4, MPI_BYTE, MPI_PROC_NULL, 1, MPI_COMM_WORLD);
    MPI_Send(out, 4, MPI_BYTE, next, 2, MPI_COMM_WORLD);
    MPI_Send(nullptr, 0, MPI_INT, next, 3, MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    verify(in + 4, 4, previous, turn, wrong);
    MPI_Recv(nullptr, 0, MPI_INT, previous, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
}

int main(int argc, char **argv) {
  test::begin(&argc, &argv);
  const int rank = test::rank, next = test::next(), previous = test::previous();
  const bool is_short = argc > 1 && std::strcmp(argv[1], "short") == 0;
  test::Array<unsigned char> out(1 << 19), in(1 << 19);
  test::Array<int> wrong(1);
  for (int bytes : {8, 0, 5, 700, 9000, 65536, 70000, 400000}) {
    for (int way = 0; way < 3; ++way) {
      exchange<<<3, 64>>>(out.data(), in.data(), bytes, way, rank, next, previous, wrong.data());
      test::synchronize();
      test::expect(wrong.read()[0] == 0, "%d bytes, way %d: %d are wrong", bytes, way, wrong.read()[0]);
    }
    if (is_short)
      return test::end();
    exchange<<<1, 48>>>(out.data(), in.data(), bytes, 0, rank, next, previous, wrong.data());
    if (bytes <= 9000) { // the longer ones wait for their receives
      gather<<<3, 64>>>(out.data(), in.data(), bytes, rank, next, previous, wrong.data());
      for (bool extra : {false, true})
        hand_on<<<2, 64>>>(out.data(), bytes, extra, rank, next, previous, wrong.data());
    }
    test::synchronize();
    test::expect(wrong.read()[0] == 0, "%d bytes: %d are wrong", bytes, wrong.read()[0]);
  }
  odd<<<2, 64>>>(out.data(), in.data(), rank, next, previous, wrong.data());
  test::synchronize();
  test::expect(wrong.read()[0] == 0, "%d are wrong in the end", wrong.read()[0]);
  return test::end();
}
