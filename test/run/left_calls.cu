// What GMPI_STATS says of calls that are left to the next one: an exchange in whatever order is made
// at once; behind a loop it is made before what is computed; what nobody may leave is not.
// RUN: %gmpicxx %s -o %t
// RUN: env GMPI_STATS=1 GMPI_PEER=1 %mpiexec -n 2 %t together 2>&1 | FileCheck %s --check-prefix=TOGETHER
// RUN: env GMPI_STATS=1 GMPI_PEER=1 %mpiexec -n 2 %t backwards 2>&1 | FileCheck %s --check-prefix=TOGETHER
// RUN: env GMPI_STATS=1 GMPI_PEER=1 %mpiexec -n 2 %t told 2>&1 | FileCheck %s --check-prefix=TOGETHER
// RUN: env GMPI_STATS=1 GMPI_PEER=1 %mpiexec -n 2 %t each 2>&1 | FileCheck %s --check-prefix=TOGETHER
// RUN: env GMPI_STATS=1 GMPI_PEER=1 %mpiexec -n 2 %t rim 2>&1 | FileCheck %s --check-prefix=RIM
// RUN: env GMPI_STATS=1 GMPI_PEER=1 %mpiexec -n 2 %t apart 2>&1 | FileCheck %s --check-prefix=APART
// RUN: env GMPI_STATS=1 GMPI_PEER=1 %mpiexec -n 2 %t block 2>&1 | FileCheck %s --check-prefix=TOGETHER
// RUN: env GMPI_STATS=1 GMPI_PEER=1 %mpiexec -n 2 %t long 2>&1 | FileCheck %s --check-prefix=LONG
// RUN: env GMPI_STATS=1 %mpiexec -n 2 %t together 2>&1 | FileCheck %s --check-prefix=QUEUE
//
// Twelve calls a turn, or six. (Whoever waits long for the other rank makes them the usual way.)
// TOGETHER-DAG: gmpi: rank 0: 120 calls of grids were left to the next one; waits made {{1[012][0-9]}} of them at once
// TOGETHER-DAG: {{^}}ok{{$}}
// RIM-DAG: gmpi: rank 0: 60 calls of grids were left to the next one; waits made {{[456][0-9]}} of them at once
// RIM-DAG: {{^}}ok{{$}}
// APART-DAG: gmpi: rank 0: 120 calls of grids were left to the next one; waits made 0 of them at once, and received for {{1?[0-9][0-9]+}} made before
// APART-DAG: {{^}}ok{{$}}
// (At first it is not known where long messages can be stored: they are made the usual way.)
// LONG-DAG: gmpi: rank 0: 240 calls of grids were left to the next one; waits made {{1[0-9][0-9]|2[0-9][0-9]}} of them at once
// LONG-DAG: gmpi: rank 0: of these messages, {{[0-9]+}} long ones were stored where they belong
// LONG-DAG: {{^}}ok{{$}}
// QUEUE-NOT: were left to the next one
// QUEUE: {{^}}ok{{$}}
// QUEUE-NOT: were left to the next one
#include "Inputs/check.h"

#include <chrono>
#include <cstring>
#include <thread>

constexpr int count = 6, turns = 10;

__device__ int message(int rank, int turn, int j, int i) {
  return rank * 100000 + turn * 1000 + j * 100 + i;
}
__device__ void fill(int *out, int n, int rank, int turn) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count * n; i += gridDim.x * blockDim.x)
    out[i] = message(rank, turn, i / n, i % n);
}
/// `from`: where each message is from; nobody: none has come.
__device__ void verify(const int *in, int n, int from, int turn, int first, int last, int *wrong) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count * n; i += gridDim.x * blockDim.x)
    if (i / n >= first && i / n < last && in[i] != message(from, turn, i / n, i % n))
      atomicAdd(wrong, 1);
}

__global__ void together(int *out, int *in, int n, int rank, int other, bool backwards,
                         int *wrong) {
  MPI_Request requests[2 * count];
  for (int turn = 0; turn < turns; ++turn) {
    fill(out, n, rank, turn);
    for (int j = 0; j < count; ++j)
      MPI_Irecv(in + j * n, n, MPI_INT, other, j, MPI_COMM_WORLD, requests + j);
    for (int j = 0; j < count; ++j) {
      const int k = backwards ? count - 1 - j : j;
      MPI_Isend(out + k * n, n, MPI_INT, other, k, MPI_COMM_WORLD, requests + count + j);
    }
    MPI_Waitall(2 * count, requests, MPI_STATUSES_IGNORE);
    verify(in, n, other, turn, 0, count, wrong);
  }
}

__global__ void told(int *out, int *in, int n, int rank, int other, int *wrong) {
  MPI_Request requests[2 * count];
  MPI_Status statuses[2 * count];
  for (int turn = 0; turn < turns; ++turn) {
    fill(out, n, rank, turn);
    for (int j = 0; j < count; ++j)
      MPI_Irecv(in + j * n, n, MPI_INT, other, MPI_ANY_TAG, MPI_COMM_WORLD, requests + j);
    for (int j = 0; j < count; ++j)
      MPI_Isend(out + j * n, n, MPI_INT, other, j, MPI_COMM_WORLD, requests + count + j);
    MPI_Waitall(2 * count, requests, statuses);
    for (int j = 0; j < count; ++j)
      if (statuses[j].MPI_SOURCE != other || statuses[j].MPI_TAG != j)
        atomicAdd(wrong, 1);
    verify(in, n, other, turn, 0, count, wrong);
  }
}

__global__ void each(int *out, int *in, int n, int rank, int other, int *wrong) {
  MPI_Request requests[2 * count];
  for (int turn = 0; turn < turns; ++turn) {
    fill(out, n, rank, turn);
    for (int j = 0; j < count; ++j)
      MPI_Irecv(in + j * n, n, MPI_INT, other, j, MPI_COMM_WORLD, requests + j);
    for (int j = 0; j < count; ++j)
      MPI_Isend(out + j * n, n, MPI_INT, other, j, MPI_COMM_WORLD, requests + count + j);
    for (int j = 0; j < 2 * count; ++j)
      MPI_Wait(requests + j, MPI_STATUS_IGNORE);
    verify(in, n, other, turn, 0, count, wrong);
  }
}

/// Of the messages, the first half goes to the one side, and the others to the other.
__global__ void rim(int *out, int *in, int n, int rank, int other, int above, int below,
                    int *wrong) {
  MPI_Request requests[2 * count];
  for (int turn = 0; turn < turns; ++turn) {
    fill(out, n, rank, turn);
    for (int j = 0; j < count; ++j)
      MPI_Irecv(in + j * n, n, MPI_INT, j < count / 2 ? below : above, j, MPI_COMM_WORLD,
                requests + j);
    for (int j = 0; j < count; ++j)
      MPI_Isend(out + j * n, n, MPI_INT, j < count / 2 ? above : below, j, MPI_COMM_WORLD,
                requests + count + j);
    MPI_Waitall(2 * count, requests, MPI_STATUSES_IGNORE);
    verify(in, n, other, turn, below < 0 ? count / 2 : 0, above < 0 ? count / 2 : count, wrong);
  }
}

__global__ void apart(int *out, int *in, int n, int rank, int other, int *work, int *wrong) {
  MPI_Request requests[2 * count];
  for (int turn = 0; turn < turns; ++turn) {
    fill(out, n, rank, turn);
    for (int j = 0; j < count; ++j)
      MPI_Irecv(in + j * n, n, MPI_INT, other, j, MPI_COMM_WORLD, requests + j);
    for (int j = 0; j < count; ++j)
      MPI_Isend(out + j * n, n, MPI_INT, other, j, MPI_COMM_WORLD, requests + count + j);
    atomicAdd(work, 1);
    MPI_Waitall(2 * count, requests, MPI_STATUSES_IGNORE);
    verify(in, n, other, turn, 0, count, wrong);
  }
}

int main(int argc, char **argv) {
  test::begin(&argc, &argv);
  const auto is = [&](const char *name) { return argc > 1 && std::strcmp(argv[1], name) == 0; };
  const int n = is("long") ? 20000 : 60, rank = test::rank, other = test::next(), nobody = MPI_PROC_NULL;
  test::Array<int> out(count * n), in(count * n), work(1), wrong(1);
  if (is("told"))
    told<<<3, 64>>>(out.data(), in.data(), n, rank, other, wrong.data());
  else if (is("each"))
    each<<<3, 64>>>(out.data(), in.data(), n, rank, other, wrong.data());
  else if (is("rim"))
    rim<<<3, 64>>>(out.data(), in.data(), n, rank, other, rank == 0 ? nobody : other,
                   rank == 0 ? other : nobody, wrong.data());
  else if (is("apart"))
    apart<<<3, 64>>>(out.data(), in.data(), n, rank, other, work.data(), wrong.data());
  else
    together<<<is("block") ? 1 : 3, 64>>>(out.data(), in.data(), n, rank, other,
                                           is("backwards"), wrong.data());
  if (is("long")) { // once more, when the ranks have had the time to map each other's buffers
    test::synchronize();
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    together<<<3, 64>>>(out.data(), in.data(), n, rank, other, true, wrong.data());
  }
  test::synchronize();
  test::expect(wrong.read()[0] == 0, "%d are wrong", wrong.read()[0]);
  return test::end();
}
