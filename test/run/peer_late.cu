// A rank that comes late: the others wait for longer than a wait is kept from the proxy, at block and grid
// scope at once, in every kind of call that waits for another rank.
// LOWERINGS: queue (split kernels leave such communicators to the queue)
// RUN: %gmpicxx %s -o %t
// RUN: env GMPI_PEER=1 %ranks 2 %t
#include "Inputs/check.h"

#include <chrono>
#include <thread>

enum Kind { short_message, long_message, synchronous, nonblocking, both_ways, barrier, sum, long_sum, kinds };
constexpr int longest = 100000;

__host__ __device__ int count_of(int kind) { return kind == long_message || kind == long_sum ? longest : 7; }

/// Rank 0 sends, rank 1 receives.
__global__ void by_grid(int kind, int *data, int *got, int rank, MPI_Comm comm) {
  int count = count_of(kind);
  if (kind == short_message || kind == long_message) {
    if (rank == 0)
      MPI_Send(data, count, MPI_INT, 1, kind, comm);
    else
      MPI_Recv(got, count, MPI_INT, 0, kind, comm, MPI_STATUS_IGNORE);
  } else if (kind == synchronous) {
    if (rank == 0)
      MPI_Ssend(data, count, MPI_INT, 1, kind, comm);
    else
      MPI_Recv(got, count, MPI_INT, MPI_ANY_SOURCE, kind, comm, MPI_STATUS_IGNORE);
  } else if (kind == nonblocking) {
    MPI_Request request;
    if (rank == 0)
      MPI_Isend(data, count, MPI_INT, 1, kind, comm, &request);
    else
      MPI_Irecv(got, count, MPI_INT, 0, kind, comm, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  } else if (kind == both_ways) {
    MPI_Sendrecv(data, count, MPI_INT, 1 - rank, kind, got, count, MPI_INT, 1 - rank, kind, comm,
                 MPI_STATUS_IGNORE);
  } else if (kind == barrier) {
    MPI_Barrier(comm);
  } else {
    MPI_Allreduce(data, got, count, MPI_INT, MPI_SUM, comm);
  }
}

__global__ void by_block(int kind, int *data, int *got, int rank, MPI_Comm comm) {
  int count = count_of(kind);
  if (kind == short_message || kind == long_message) {
    if (rank == 0)
#pragma gmpi scope(block)
      MPI_Send(data, count, MPI_INT, 1, kind, comm);
    else
#pragma gmpi scope(block)
      MPI_Recv(got, count, MPI_INT, 0, kind, comm, MPI_STATUS_IGNORE);
  } else if (kind == synchronous) {
    if (rank == 0)
#pragma gmpi scope(block)
      MPI_Ssend(data, count, MPI_INT, 1, kind, comm);
    else
#pragma gmpi scope(block)
      MPI_Recv(got, count, MPI_INT, MPI_ANY_SOURCE, kind, comm, MPI_STATUS_IGNORE);
  } else if (kind == both_ways) {
#pragma gmpi scope(block)
    MPI_Sendrecv(data, count, MPI_INT, 1 - rank, kind, got, count, MPI_INT, 1 - rank, kind, comm,
                 MPI_STATUS_IGNORE);
  } else if (kind == sum || kind == long_sum) {
#pragma gmpi scope(block)
    MPI_Allreduce(data, got, count, MPI_INT, MPI_SUM, comm);
  }
}

static bool receives(int kind, bool grid) {
  if (kind == both_ways || kind == sum || kind == long_sum)
    return true;
  return test::rank == 1 && (kind <= synchronous || (kind == nonblocking && grid));
}

static void expect_data(test::Array<int> &got, int kind, bool grid) {
  std::vector<int> values = got.read();
  int wanted = kind == sum || kind == long_sum ? 10 + 11 : 11 - test::rank, count = count_of(kind);
  for (int i = 0; receives(kind, grid) && i < count; ++i)
    if (!test::expect(values[i] == wanted, "%s, kind %d: element %d is %d, not %d",
                      grid ? "grid" : "block", kind, i, values[i], wanted))
      return;
}

int main(int argc, char **argv) {
  test::begin(&argc, &argv);
  MPI_Comm other;
  MPI_Comm_dup(MPI_COMM_WORLD, &other);
  test::assert_kernel_only(other);
  cudaStream_t streams[2];
  for (cudaStream_t &stream : streams)
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  test::Array<int> data(longest, 10 + test::rank);
  for (int turn = 0; turn < 2 * kinds; ++turn) {
    int kind = turn / 2, late = turn % 2;
    test::Array<int> by_all(longest, -1), by_one(longest, -1);
    MPI_Barrier(MPI_COMM_WORLD);
    if (test::rank == late)
      std::this_thread::sleep_for(std::chrono::milliseconds(1150));
    by_grid<<<2, 64, 0, streams[0]>>>(kind, data.data(), by_all.data(), test::rank, MPI_COMM_WORLD);
    by_block<<<1, 64, 0, streams[1]>>>(kind, data.data(), by_one.data(), test::rank, other);
    test::synchronize();
    expect_data(by_all, kind, true);
    expect_data(by_one, kind, false);
  }
  MPI_Comm_free(&other);
  return test::end();
}
