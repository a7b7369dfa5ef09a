// Messages from kernel to kernel: matching by the receiving rank, at every scope, beyond what a channel
// holds, with data of any length at any address.
// LOWERINGS: queue (split kernels leave such communicators to the queue)
// RUN: %gmpicxx %s -o %t
// RUN: env GMPI_PEER=1 %ranks 1-3 %t
#include "Inputs/check.h"

/// The receiver asks for the tags in reverse: all but the last wait for their receives.
__global__ void reversed(int *data, int *got, int messages, int next, int previous) {
  for (int tag = 0; tag < messages; ++tag)
    MPI_Send(data + tag, 1, MPI_INT, next, tag, MPI_COMM_WORLD);
  for (int tag = messages - 1; tag >= 0; --tag)
    MPI_Recv(got + tag, 1, MPI_INT, previous, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/// More messages than a channel has slots, from both sides.
__global__ void beyond_a_channel(int *data, int *got, int messages, int next, int previous) {
  for (int i = 0; i < messages; ++i) {
    MPI_Request request;
    MPI_Isend(data + i % 64 * 1024, 1024, MPI_INT, next, i, MPI_COMM_WORLD, &request);
    MPI_Request receive;
    MPI_Irecv(got + i % 64 * 1024, 1024, MPI_INT, previous, i, MPI_COMM_WORLD, &receive);
    MPI_Wait(&receive, MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
}

/// Sends that find no room are carried on while their rank waits for something else.
__global__ void many_begun(int *data, int *got, MPI_Request *requests, int messages, int next,
                           int previous) {
  for (int i = 0; i < messages; ++i)
    MPI_Isend(data, 16000, MPI_INT, next, i, MPI_COMM_WORLD, requests + i);
  for (int i = 0; i < messages; ++i)
    MPI_Recv(got, 16000, MPI_INT, previous, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Waitall(messages, requests, MPI_STATUSES_IGNORE);
}

/// Any length, at any address.
__global__ void bytes(unsigned char *data, unsigned char *got, const int *lengths, const int *offsets,
                      int messages, int next, int previous, int *wrong) {
  for (int m = 0; m < messages; ++m) {
    int length = lengths[m], from = offsets[m], to = offsets[(m + 7) % messages];
    int thread = blockIdx.x * blockDim.x + threadIdx.x, threads = gridDim.x * blockDim.x;
    for (int i = thread; i < length; i += threads) {
      data[from + i] = static_cast<unsigned char>(i * 7 + m);
      got[to + i] = 0;
    }
    MPI_Status status;
    MPI_Sendrecv(data + from, length, MPI_BYTE, next, m, got + to, length, MPI_BYTE, previous, m,
                 MPI_COMM_WORLD, &status);
    int count = -1;
    MPI_Get_count(&status, MPI_BYTE, &count);
    for (int i = thread; i < length; i += threads)
      if (got[to + i] != static_cast<unsigned char>(i * 7 + m))
        atomicAdd(wrong, 1);
    if (count != length || status.MPI_SOURCE != previous || status.MPI_TAG != m)
      atomicAdd(wrong, 1);
    MPI_Barrier(MPI_COMM_WORLD); // the buffers are used again
  }
}

/// Each block has its own partners' messages, in an order of its own; sources and tags are wildcards.
__global__ void wildcards(int *got, int *sources, int rank, int size) {
  if (rank != 0) {
#pragma gmpi scope(block)
    MPI_Ssend(got + blockIdx.x, 1, MPI_INT, 0, 10 + blockIdx.x, MPI_COMM_WORLD);
    return;
  }
  for (int i = 0; i < size - 1; ++i) {
    MPI_Status status;
    int value = -1;
#pragma gmpi scope(block)
    MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 10 + blockIdx.x, MPI_COMM_WORLD, &status);
    if (threadIdx.x == 0) {
      sources[blockIdx.x] += status.MPI_SOURCE;
      got[blockIdx.x] += value;
    }
  }
}

/// One grid waits for what another, on another stream, has yet to send.
__global__ void one_of_two(int *data, int *got, int tag, int next, int previous) {
  MPI_Sendrecv(data, 30000, MPI_INT, next, tag, got, 30000, MPI_INT, previous, tag, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
  MPI_Sendrecv(got, 30000, MPI_INT, next, tag, data, 30000, MPI_INT, previous, tag, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
}

static void check_bytes() {
  constexpr int messages = 40, room = 400000;
  std::vector<int> lengths(messages), offsets(messages);
  unsigned state = 12345;
  for (int m = 0; m < messages; ++m) {
    state = state * 1103515245 + 12345;
    lengths[m] = m < 20 ? m : (state >> 8) % (m < 34 ? 3000 : 300000);
    offsets[m] = (state >> 16) % 64;
  }
  test::Array<unsigned char> data(room), got(room);
  test::Array<int> given(messages), at(messages), wrong(1, 0);
  given.write(lengths);
  at.write(offsets);
  bytes<<<3, 96>>>(data.data(), got.data(), given.data(), at.data(), messages, test::next(),
                   test::previous(), wrong.data());
  test::synchronize();
  test::expect_equal(wrong.read()[0], 0, "wrong bytes or statuses");
}

static void check_streams() {
  cudaStream_t streams[2];
  test::Array<int> first(30000, 100 * test::rank), second(30000, 100 * test::rank + 1);
  test::Array<int> from_first(30000, -1), from_second(30000, -1);
  for (cudaStream_t &stream : streams)
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  for (int j = 0; j < 2; ++j) {
    int i = (j + test::rank) % 2; // each rank begins with another
    one_of_two<<<2, 64, 0, streams[i]>>>((i == 0 ? first : second).data(),
                                         (i == 0 ? from_first : from_second).data(), i,
                                         test::next(), test::previous());
  }
  test::synchronize();
  test::expect_each(from_first, [](int) { return 100 * test::previous(); }, "first stream");
  test::expect_each(from_second, [](int) { return 100 * test::previous() + 1; }, "second stream");
}

int main(int argc, char **argv) {
  test::begin(&argc, &argv);
  {
    test::Array<int> data(50, 7 + test::rank), got(50, -1);
    reversed<<<2, 32>>>(data.data(), got.data(), 50, test::next(), test::previous());
    test::synchronize();
    test::expect_each(got, [](int) { return 7 + test::previous(); }, "reversed tags");
  }
  {
    // 900 take a minute and more under ThreadSanitizer; there, many_begun alone fills a channel.
    int messages = test::thread_sanitizer ? 64 : 900;
    test::Array<int> data(64 * 1024, test::rank), got(64 * 1024, -1);
    beyond_a_channel<<<2, 64>>>(data.data(), got.data(), messages, test::next(), test::previous());
    test::synchronize();
    test::expect_each(got, [](int) { return test::previous(); }, "beyond a channel");
  }
  {
    test::Array<int> data(16000, test::rank + 3), got(16000, -1);
    test::Array<MPI_Request> requests(80, MPI_REQUEST_NULL);
    many_begun<<<2, 64>>>(data.data(), got.data(), requests.data(), 80, test::next(), test::previous());
    test::synchronize();
    test::expect_each(got, [](int) { return 3 + test::previous(); }, "many begun");
  }
  {
    test::Array<int> got(8, test::rank == 0 ? 0 : 100 * test::rank), sources(8, 0);
    wildcards<<<8, 32>>>(got.data(), sources.data(), test::rank, test::size);
    test::synchronize();
    if (test::rank == 0) {
      int sum = test::size * (test::size - 1) / 2;
      test::expect_each(sources, [&](int) { return sum; }, "sources");
      test::expect_each(got, [&](int) { return 100 * sum; }, "values from any source");
    }
  }
  check_bytes();
  check_streams();
  return test::end();
}
