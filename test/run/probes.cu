// MPI_Probe and MPI_Iprobe: of messages that are there and that are not, with wildcards, whose length the
// receiver does not know; at every scope. A probe takes nothing: the message is received afterwards, in
// its order, and a sender that waits for its match goes on waiting.
// RUN: %gmpicxx %all-lowerings %s -o %t
// RUN: %each-lowering %ranks 1-3 %t split
// RUN: env GMPI_LOWER=queue %ranks 1-4 %t
// RUN: env GMPI_LOWER=queue GMPI_PEER=1 %ranks 1-4 %t
// RUN: env GMPI_LOWER=queue GMPI_PEER=1 GMPI_HOSTS_FOR_TESTS=2 %ranks 2-3 %t
#include "Inputs/check.h"

#include <cooperative_groups.h>
namespace cg = cooperative_groups;

/// How many expectations did not hold, and a line where one did not.
struct Wrong {
  int count, line;
};
__device__ void expect(bool holds, Wrong *wrong, int line) {
  if (holds)
    return;
  atomicAdd(&wrong->count, 1);
  atomicExch(&wrong->line, line);
}

__device__ int thread_of_grid() { return blockIdx.x * blockDim.x + threadIdx.x; }

/// Whether `got` is what another rank has sent from its `data`, whose element number i is i.
__device__ void expect_received(const int *got, int count, int from, Wrong *wrong, int line) {
  for (int i = thread_of_grid(); i < count; i += gridDim.x * blockDim.x)
    expect(got[i] == from + i, wrong, line);
}

constexpr int longest = 40000;
constexpr int most_messages = test::thread_sanitizer ? 8 : 24, many = test::thread_sanitizer ? 260 : 300;
constexpr int asked = test::thread_sanitizer ? 10 : 50;

/// Around what a Reply and a warp carry, a slot holds, goes inline and is kept.
__device__ int length_of(int message) {
  switch (message % 8) {
  case 0:
    return 3;
  case 1:
    return 0;
  case 2:
    return longest;
  case 3:
    return 59;
  case 4:
    return 300;
  case 5:
    return 16385;
  case 6:
    return 16384;
  default:
    return 1;
  }
}

/// All of one sender's, in its order.
__global__ void unknown_lengths(int *data, int *got, MPI_Request *requests, int messages, int next,
                                int previous, Wrong *wrong) {
  for (int m = 0; m < messages; ++m)
    MPI_Isend(data + m, length_of(m), MPI_INT, next, 10 + m % 3, MPI_COMM_WORLD, requests + m);
  for (int m = 0; m < messages; ++m) {
    MPI_Status status, received;
    int count = -1, then = -1;
    int error = MPI_Probe(m % 2 == 0 ? previous : MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
    MPI_Get_count(&status, MPI_INT, &count);
    expect(error == MPI_SUCCESS && status.MPI_SOURCE == previous && status.MPI_TAG == 10 + m % 3 &&
               count == length_of(m),
           wrong, __LINE__);
    MPI_Recv(got, count, MPI_INT, status.MPI_SOURCE, status.MPI_TAG, MPI_COMM_WORLD, &received);
    MPI_Get_count(&received, MPI_INT, &then);
    expect(then == count, wrong, __LINE__);
    expect_received(got, count, m, wrong, __LINE__);
  }
  MPI_Waitall(messages, requests, MPI_STATUSES_IGNORE);
}

/// The receiver asks for the last first, twice.
__global__ void reversed(int *data, int *got, int messages, int next, int previous, Wrong *wrong) {
  for (int tag = 0; tag < messages; ++tag)
    MPI_Send(data + tag, tag + 1, MPI_INT, next, tag, MPI_COMM_WORLD);
  for (int tag = messages - 1; tag >= 0; --tag) {
    MPI_Status status;
    int count = -1, again = -1, flag = 0;
    MPI_Probe(MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, &status);
    MPI_Get_count(&status, MPI_INT, &count);
    MPI_Iprobe(previous, tag, MPI_COMM_WORLD, &flag, &status);
    MPI_Get_count(&status, MPI_INT, &again);
    expect(count == tag + 1 && flag && again == count && status.MPI_TAG == tag, wrong, __LINE__);
    MPI_Probe(previous, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Recv(got, count, MPI_INT, previous, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    expect_received(got, count, tag, wrong, __LINE__);
  }
}

/// Nothing, then a message, then nothing.
__global__ void before_and_after(int *data, int *got, int turns, int next, int previous, Wrong *wrong) {
  for (int turn = 0; turn < turns; ++turn) {
    MPI_Status status;
    int flag = 1, count = -1;
    status.MPI_TAG = -7;
    MPI_Iprobe(previous, turn, MPI_COMM_WORLD, &flag, &status);
    expect(!flag && status.MPI_TAG == -7, wrong, __LINE__);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Send(data, 1 + turn, MPI_INT, next, turn, MPI_COMM_WORLD);
    if (turn % 2 == 0)
      do
        MPI_Iprobe(MPI_ANY_SOURCE, turn, MPI_COMM_WORLD, &flag, &status);
      while (!flag);
    else
      MPI_Probe(MPI_ANY_SOURCE, turn, MPI_COMM_WORLD, &status);
    MPI_Get_count(&status, MPI_INT, &count);
    expect(status.MPI_SOURCE == previous && status.MPI_TAG == turn && count == 1 + turn, wrong, __LINE__);
    MPI_Iprobe(previous, turns, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    expect(!flag, wrong, __LINE__);
    MPI_Recv(got, count, MPI_INT, previous, turn, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Iprobe(MPI_ANY_SOURCE, turn, MPI_COMM_WORLD, &flag, &status);
    expect(!flag, wrong, __LINE__);
    expect_received(got, count, 0, wrong, __LINE__);
  }
}

/// A receive that has been posted gets the first message, and a probe tells of the second.
__global__ void behind_a_posted_receive(int *data, int *got, int next, int previous, Wrong *wrong) {
  MPI_Request request;
  MPI_Status status;
  int count = -1;
  MPI_Irecv(got, 10, MPI_INT, previous, 3, MPI_COMM_WORLD, &request);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Send(data, 5, MPI_INT, next, 3, MPI_COMM_WORLD);
  MPI_Send(data, 6, MPI_INT, next, 3, MPI_COMM_WORLD);
  MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
  MPI_Get_count(&status, MPI_INT, &count);
  expect(count == 6, wrong, __LINE__);
  MPI_Wait(&request, &status);
  MPI_Get_count(&status, MPI_INT, &count);
  expect(count == 5, wrong, __LINE__);
  MPI_Recv(got, 10, MPI_INT, previous, 3, MPI_COMM_WORLD, &status);
  MPI_Get_count(&status, MPI_INT, &count);
  expect(count == 6, wrong, __LINE__);
}

/// What follows a synchronous send is not sent before the receive. Of two ranks, the first sends.
__global__ void synchronous(int *data, int *got, int rank, int size, int length, Wrong *wrong) {
  const int other = rank % 2 == 0 ? rank + 1 : rank - 1;
  if (other >= size)
    return;
  if (rank < other) {
    MPI_Ssend(data, length, MPI_INT, other, 1, MPI_COMM_WORLD);
    MPI_Send(data, 1, MPI_INT, other, 2, MPI_COMM_WORLD);
    return;
  }
  MPI_Status status;
  int count = -1, flag = 1;
  MPI_Probe(other, 1, MPI_COMM_WORLD, &status);
  MPI_Get_count(&status, MPI_INT, &count);
  for (int i = 0; i < asked; ++i) {
    MPI_Iprobe(other, 2, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    expect(count == length && !flag, wrong, __LINE__);
  }
  MPI_Recv(got, count, MPI_INT, other, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  expect_received(got, count, 0, wrong, __LINE__);
  MPI_Probe(other, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Recv(got, 1, MPI_INT, other, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/// Rank 0 receives from whoever comes first; of each sender, in order.
__global__ void gather(int *data, int *got, int *next_of, int rank, int size, int messages, Wrong *wrong) {
  if (rank != 0) {
    for (int m = 0; m < messages; ++m)
      MPI_Send(data + m, length_of(m + rank), MPI_INT, 0, m, MPI_COMM_WORLD);
    return;
  }
  for (int m = 0; m < messages * (size - 1); ++m) {
    MPI_Status status;
    int count = -1;
    MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
    MPI_Get_count(&status, MPI_INT, &count);
    expect(count == length_of(status.MPI_TAG + status.MPI_SOURCE), wrong, __LINE__);
    if (thread_of_grid() == 0)
      expect(next_of[status.MPI_SOURCE]++ == status.MPI_TAG, wrong, __LINE__);
    MPI_Recv(got, count, MPI_INT, status.MPI_SOURCE, status.MPI_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    expect_received(got, count, status.MPI_TAG, wrong, __LINE__);
  }
}

/// Kernels keep 256 such messages at most: of what is left in a channel a probe tells, too.
__global__ void more_than_are_kept(int *data, int *got, int messages, int next, int previous,
                                   Wrong *wrong) {
  for (int m = 0; m < messages; ++m)
    MPI_Send(data, 500, MPI_INT, next, 1, MPI_COMM_WORLD);
  MPI_Send(data + 2, 501, MPI_INT, next, 2, MPI_COMM_WORLD);
  MPI_Barrier(MPI_COMM_WORLD);
  int flag = 0, count = -1;
  MPI_Status status;
  for (int m = 0; m < messages - 256; ++m) {
    MPI_Probe(previous, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
    expect(status.MPI_TAG == 1, wrong, __LINE__);
    MPI_Recv(got, 500, MPI_INT, previous, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  do
    MPI_Iprobe(previous, 2, MPI_COMM_WORLD, &flag, &status);
  while (!flag);
  MPI_Get_count(&status, MPI_INT, &count);
  expect(count == 501, wrong, __LINE__);
  MPI_Probe(previous, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Recv(got, count, MPI_INT, previous, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  expect_received(got, count, 2, wrong, __LINE__);
  for (int m = 0; m < 256; ++m)
    MPI_Recv(got, 500, MPI_INT, previous, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/// A block's own, with a status in __shared__ memory.
__global__ void by_block(int *data, int *got, int next, int previous, Wrong *wrong) {
  const int b = blockIdx.x, mine = 1000 * b;
  __shared__ MPI_Status status;
  int flag = 0, count = -1;
  MPI_Send(data + b, 7 * b, MPI_INT, next, b, MPI_COMM_WORLD);
  MPI_Send(data + b + 1, 100 * b, MPI_INT, next, b, MPI_COMM_WORLD);
  MPI_Probe(previous, b, MPI_COMM_WORLD, &status);
  MPI_Get_count(&status, MPI_INT, &count);
  expect(count == 7 * b && status.MPI_TAG == b, wrong, __LINE__);
  MPI_Recv(got + mine, count, MPI_INT, previous, b, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  do
    MPI_Iprobe(MPI_ANY_SOURCE, b, MPI_COMM_WORLD, &flag, &status);
  while (!flag);
  MPI_Get_count(&status, MPI_INT, &count);
  expect(count == 100 * b && status.MPI_SOURCE == previous, wrong, __LINE__);
  MPI_Recv(got + mine, count, MPI_INT, previous, b, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  for (int i = threadIdx.x; i < count; i += blockDim.x)
    expect(got[mine + i] == b + 1 + i, wrong, __LINE__);
}

/// Each thread's own: half of them wait, the others ask.
__global__ void by_thread(int *data, int *got, int next, int previous, Wrong *wrong) {
  const int i = threadIdx.x + blockIdx.x * blockDim.x;
  MPI_Send(data + i, i % 40, MPI_INT, next, i, MPI_COMM_WORLD);
  MPI_Status status;
  int count = -1, flag = 0;
  if (i % 2 == 0)
    MPI_Probe(MPI_ANY_SOURCE, i, MPI_COMM_WORLD, &status);
  while (i % 2 == 1 && !flag)
    MPI_Iprobe(previous, i, MPI_COMM_WORLD, &flag, &status);
  MPI_Get_count(&status, MPI_INT, &count);
  expect(count == i % 40 && status.MPI_SOURCE == previous && status.MPI_TAG == i, wrong, __LINE__);
  MPI_Recv(got + 40 * i, count, MPI_INT, previous, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  for (int j = 0; j < count; ++j)
    expect(got[40 * i + j] == i + j, wrong, __LINE__);
}

/// One thread of the grid, between meetings of it.
__global__ void by_one_thread(int *data, int *got, int *counts, int next, int previous, Wrong *wrong) {
  const int thread = thread_of_grid();
  int flag = 1, count = -1, asked = 0;
  if (thread == 0) {
    MPI_Status status;
    MPI_Iprobe(previous, 4, MPI_COMM_WORLD, &flag, &status);
    expect(!flag, wrong, __LINE__);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Send(data, 20, MPI_INT, next, 4, MPI_COMM_WORLD);
  if (thread == 0) {
    MPI_Status status;
    do {
      MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, &status);
      ++asked;
    } while (!flag);
    MPI_Get_count(&status, MPI_INT, &count);
    expect(count == 20 && asked > 0 && status.MPI_SOURCE == previous, wrong, __LINE__);
    MPI_Recv(got, count, MPI_INT, previous, status.MPI_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  cg::this_grid().sync();
  counts[thread] = got[19] + flag;
}

/// The flag and the status in global memory; threads have left before.
__global__ void results_in_global_memory(int *data, int *got, int *flag, MPI_Status *status, int next,
                                         int previous, Wrong *wrong) {
  if (threadIdx.x % 5 == 4)
    return;
  MPI_Iprobe(previous, 9, MPI_COMM_WORLD, flag, status);
  expect(*flag == 0, wrong, __LINE__);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Send(data, 30, MPI_INT, next, 9, MPI_COMM_WORLD);
  do
    MPI_Iprobe(previous, 9, MPI_COMM_WORLD, flag, status);
  while (*flag == 0);
  int count = -1;
  MPI_Get_count(status, MPI_INT, &count);
  expect(count == 30 && status->MPI_SOURCE == previous, wrong, __LINE__);
  MPI_Probe(previous, 9, MPI_COMM_WORLD, status);
  MPI_Recv(got, 30, MPI_INT, status->MPI_SOURCE, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

__device__ void expect_null(const MPI_Status &status, int flag, Wrong *wrong, int line) {
  int count = -1;
  MPI_Get_count(&status, MPI_INT, &count);
  expect(flag == 1 && status.MPI_SOURCE == MPI_PROC_NULL && status.MPI_TAG == MPI_ANY_TAG && count == 0,
         wrong, line);
}
__global__ void nobody(int rank_null, Wrong *wrong) {
  MPI_Status status;
  int flag = 0;
  MPI_Probe(rank_null, 1, MPI_COMM_WORLD, &status);
  expect_null(status, 1, wrong, __LINE__);
  MPI_Iprobe(MPI_PROC_NULL, 1, MPI_COMM_WORLD, &flag, &status);
  expect_null(status, flag, wrong, __LINE__);
  flag = 0;
  MPI_Iprobe(rank_null, int(blockIdx.x), MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
  expect(flag == 1, wrong, __LINE__);
  MPI_Status own;
  flag = 0;
  MPI_Iprobe(rank_null, int(threadIdx.x), MPI_COMM_WORLD, &flag, &own);
  expect_null(own, flag, wrong, __LINE__);
}

static void expect_none(const test::Array<Wrong> &wrong, const char *what) {
  test::synchronize();
  Wrong host = wrong.read()[0];
  test::expect(host.count == 0, "%s: %d times, for instance in line %d", what, host.count, host.line);
}

int main(int argc, char **argv) {
  test::begin(&argc, &argv);
  const int next = test::next(), previous = test::previous(), rank = test::rank, size = test::size;
  test::Array<int> data(longest + most_messages), got(longest + 1, -1), next_of(size), flag(1, 5);
  test::Array<MPI_Request> requests(most_messages);
  test::Array<MPI_Status> status(1);
  test::Array<Wrong> wrong(1);
  std::vector<int> numbers(longest + most_messages);
  for (int i = 0; i < int(numbers.size()); ++i)
    numbers[i] = i;
  data.write(numbers);

  for (int blocks : {1, 3}) {
    nobody<<<blocks, 32>>>(MPI_PROC_NULL, wrong.data());
    expect_none(wrong, "nobody");
    unknown_lengths<<<blocks, 64>>>(data.data(), got.data(), requests.data(), most_messages, next,
                                    previous, wrong.data());
    expect_none(wrong, "unknown lengths");
    reversed<<<blocks, 64>>>(data.data(), got.data(), 9, next, previous, wrong.data());
    expect_none(wrong, "reversed");
    before_and_after<<<blocks, 40>>>(data.data(), got.data(), 4, next, previous, wrong.data());
    expect_none(wrong, "before and after");
    behind_a_posted_receive<<<blocks, 64>>>(data.data(), got.data(), next, previous, wrong.data());
    expect_none(wrong, "behind a posted receive");
    for (int length : {1, longest}) {
      synchronous<<<blocks, 64>>>(data.data(), got.data(), rank, size, length, wrong.data());
      expect_none(wrong, "synchronous");
    }
    MPI_Barrier(MPI_COMM_WORLD); // no other messages meet those of gather()
    next_of.write(std::vector<int>(size));
    gather<<<blocks, 64>>>(data.data(), got.data(), next_of.data(), rank, size, 9, wrong.data());
    expect_none(wrong, "gather");
    MPI_Barrier(MPI_COMM_WORLD);
    results_in_global_memory<<<blocks, 64>>>(data.data(), got.data(), flag.data(), status.data(), next,
                                             previous, wrong.data());
    expect_none(wrong, "results in global memory");
  }
  int *from = data.data(), *to = got.data();
  int receiver = next, sender = previous;
  test::Array<int> counts(2 * 40);
  int *its_counts = counts.data();
  Wrong *noted = wrong.data();
  void *arguments[] = {&from, &to, &its_counts, &receiver, &sender, &noted};
  CUDA_CHECK(cudaLaunchCooperativeKernel(by_one_thread, 2, 40, arguments));
  expect_none(wrong, "by one thread");
  test::expect_each(counts, [](int) { return 20; }, "what all have seen of it");
  if (argc > 1) // the kernels that can be split
    return test::end();
  more_than_are_kept<<<2, 64>>>(data.data(), got.data(), many, next, previous, wrong.data());
  expect_none(wrong, "more than are kept");
  by_block<<<3, 64>>>(data.data(), got.data(), next, previous, wrong.data());
  expect_none(wrong, "by block");
  by_thread<<<2, 48>>>(data.data(), got.data(), next, previous, wrong.data());
  expect_none(wrong, "by thread");
  return test::end();
}
