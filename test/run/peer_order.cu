// Messages from kernel to kernel keep their order, whichever channel each takes: those of one block,
// by whatever length and call, and those of several that wait for each other. What a kernel leaves
// behind, the next one finds.
// LOWERINGS: queue (split kernels leave such communicators to the queue)
// RUN: %gmpicxx %s -o %t
// RUN: env GMPI_PEER=1 %ranks 1-3 %t
#include "Inputs/check.h"

constexpr int most = 20000;

/// Around what a warp carries, a slot holds, a block carries at once, and what is announced.
__device__ int length_of(int message) {
  const int lengths[] = {1, 57, 58, 59, 314, 315, 0, 1024, 2, 250, 251, 16384, 3, 16385, 5};
  return lengths[message % 15];
}

/// Each block with its own partner; nothing but their order tells messages apart.
__global__ void by_block(int *data, int *got, int messages, int next, int previous, int *wrong) {
  int *mine = data + blockIdx.x * most, *its = got + blockIdx.x * most;
  for (int m = 0; m < messages; ++m) {
    int length = length_of(m + blockIdx.x), more = m % 7 == 3, from = (m % 5 == 4);
    for (int i = threadIdx.x; i < length; i += blockDim.x)
      mine[from + i] = 1000 * m + i % 1000;
    MPI_Request request;
    if (more) {
#pragma gmpi scope(block)
      MPI_Isend(mine + from, length, MPI_INT, next, blockIdx.x, MPI_COMM_WORLD, &request);
    } else if (length <= 16384 && m % 11 != 5) {
#pragma gmpi scope(block)
      MPI_Send(mine + from, length, MPI_INT, next, blockIdx.x, MPI_COMM_WORLD);
    } else {
#pragma gmpi scope(block)
      MPI_Isend(mine + from, length, MPI_INT, next, blockIdx.x, MPI_COMM_WORLD, &request);
      more = 1;
    }
    if (m % 3 == 0) {
      MPI_Status status;
#pragma gmpi scope(block)
      MPI_Recv(its, most, MPI_INT, previous, blockIdx.x, MPI_COMM_WORLD, &status);
      int count = -1;
      MPI_Get_count(&status, MPI_INT, &count);
      if (count != length || status.MPI_SOURCE != previous)
        atomicAdd(wrong, 1);
    } else {
#pragma gmpi scope(block)
      MPI_Recv(its, length, MPI_INT, previous, blockIdx.x, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    for (int i = threadIdx.x; i < length; i += blockDim.x)
      if (its[i] != 1000 * m + i % 1000)
        atomicAdd(wrong, 1);
    if (more) {
#pragma gmpi scope(block)
      MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    __syncthreads();
  }
}

/// Several blocks begin sends of the same tag, one after the other, and the grid between them.
__global__ void by_turns(int *data, int *got, int turns, int next, int previous) {
  for (int turn = 0; turn < turns; ++turn) {
    for (unsigned sender = 0; sender < gridDim.x; ++sender) {
      if (blockIdx.x == sender) {
#pragma gmpi scope(block)
        MPI_Send(data + turn * 4 + sender, 1, MPI_INT, next, 5, MPI_COMM_WORLD);
      }
      MPI_Send(data + 1000, 0, MPI_INT, next, 6, MPI_COMM_WORLD); // all have met
    }
    MPI_Send(data + turn * 4 + 3, 1, MPI_INT, next, 5, MPI_COMM_WORLD);
  }
  for (int turn = 0; turn < turns; ++turn)
    for (int i = 0; i < 4; ++i)
      MPI_Recv(got + turn * 4 + i, 1, MPI_INT, previous, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  for (int i = 0; i < 3 * turns; ++i)
    MPI_Recv(got + 1000, 0, MPI_INT, previous, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/// Takes three times as many slots as a channel has, one and two in turn: so at the end of one of the laps a
/// message has the last slot and the first.
__global__ void many(int *data, int *got, int messages, int next, int previous, int *wrong) {
  for (int m = 0; m < messages; ++m) {
    const int length = m % 2 == 0 ? 2 : 300;
    for (int i = threadIdx.x; i < length; i += blockDim.x)
      data[i] = m + i;
    __syncthreads();
    MPI_Sendrecv(data, length, MPI_INT, next, 7, got, length, MPI_INT, previous, 7, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    for (int i = threadIdx.x; i < length; i += blockDim.x)
      if (got[i] != m + i)
        atomicAdd(wrong, 1);
    __syncthreads();
  }
}

/// Each thread with its own partner, and all of a block's with one channel.
__global__ void by_thread(double *data, double *got, int messages, int next, int previous, int *wrong) {
  const int thread = blockIdx.x * blockDim.x + threadIdx.x;
  double *mine = data + 40 * thread, *its = got + 40 * thread;
  for (int m = 0; m < messages; ++m) {
    const int length = m % 4 == 3 ? 31 : m % 4; // 31: more than goes by a route
    for (int i = 0; i < length; ++i)
      mine[i] = m + 0.5 * i;
#pragma gmpi scope(thread)
    MPI_Send(mine, length, MPI_DOUBLE, next, thread, MPI_COMM_WORLD);
#pragma gmpi scope(thread)
    MPI_Recv(its, length, MPI_DOUBLE, previous, thread, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < length; ++i)
      if (its[i] != m + 0.5 * i)
        atomicAdd(wrong, 1);
  }
}

/// Some threads are gone when all blocks carry a long round, and then a whole block is.
__global__ void without_some(int *data, int *sums, int n, int leaves) {
  if (threadIdx.x % 3 == 1)
    return;
  MPI_Allreduce(data, sums, n, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (static_cast<int>(blockIdx.x) == leaves)
    return;
  MPI_Allreduce(MPI_IN_PLACE, sums, n, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}

/// Empty messages of a datatype whose size kernels do not know, among others.
__global__ void empty(int *data, int *got, MPI_Datatype pair, int next, int previous) {
  for (int m = 0; m < 4; ++m) {
    MPI_Request request;
    MPI_Isend(data, 0, pair, next, 8, MPI_COMM_WORLD, &request);
    MPI_Recv(got, 0, pair, previous, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Send(data, 1, MPI_INT, next, 8, MPI_COMM_WORLD);
    MPI_Recv(got, 1, MPI_INT, previous, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
}

int main(int argc, char **argv) {
  test::begin(&argc, &argv);
  const int messages = test::thread_sanitizer ? 30 : 90;
  test::Array<int> data(3 * most, 0), got(3 * most, -1), wrong(1, 0);
  for (int again = 0; again < 2; ++again)
    by_block<<<3, 64>>>(data.data(), got.data(), messages, test::next(), test::previous(),
                        wrong.data());
  test::synchronize();
  test::expect_equal(wrong.read()[0], 0, "wrong messages of blocks");

  const int turns = 20;
  test::Array<int> numbers(2000), order(2000, -1);
  std::vector<int> counted(2000);
  for (int i = 0; i < 2000; ++i)
    counted[i] = i;
  numbers.write(counted);
  for (int again = 0; again < 3; ++again) {
    by_turns<<<3, 32>>>(numbers.data(), order.data(), turns, test::next(), test::previous());
    test::synchronize();
    std::vector<int> arrived = order.read();
    for (int i = 0; i < 4 * turns; ++i)
      test::expect_equal(arrived[i], i, "a message of the one after the other");
  }

  many<<<1, 32>>>(data.data(), got.data(), test::thread_sanitizer ? 100 : 8300, test::next(),
                  test::previous(), wrong.data());
  test::synchronize();
  test::expect_equal(wrong.read()[0], 0, "wrong among many messages");

  MPI_Datatype pair;
  MPI_Type_contiguous(2, MPI_INT, &pair);
  MPI_Type_commit(&pair);
  empty<<<2, 32>>>(data.data(), got.data(), pair, test::next(), test::previous());
  test::synchronize();
  MPI_Type_free(&pair);

  test::Array<double> doubles(40 * 80), doubled(40 * 80);
  for (int threads : {1, 40}) {
    by_thread<<<2, threads>>>(doubles.data(), doubled.data(), test::thread_sanitizer ? 8 : 40,
                              test::next(), test::previous(), wrong.data());
    test::synchronize();
    test::expect_equal(wrong.read()[0], 0, "wrong messages of threads");
  }

  test::Array<int> ones(30001, 1), sums(30001, -1);
  without_some<<<4, 64>>>(ones.data(), sums.data(), 30001, 2);
  test::synchronize();
  test::expect_each(sums, [](int) { return test::size * test::size; }, "sums without some");
  return test::end();
}
