// Lanes of a warp that make calls of thread scope at the same time, by way of the proxy: they wait each for itself,
// whatever the others wait for. Messages of several lengths, statuses, questions, and calls that go nowhere, in
// whole warps and in some of their lanes, in blocks of one dimension and of three, by more threads than may wait
// at a time.
// RUN: %gmpicxx %s -o %t
// RUN: env GMPI_LOWER=queue %ranks 1-3 %t
#include "Inputs/check.h"

constexpr int room = 128;

__device__ int number() { return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z); }

/// A ball goes from rank to rank, and at each from lane to lane: all wait for it from the beginning, and whoever
/// has it sends it on.
__global__ void chain(int *ball, int rank, int size, int next, int previous) {
  const int lane = threadIdx.x;
  if (rank != 0 || lane != 0)
    MPI_Recv(ball + lane, 1, MPI_INT, previous, lane, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  else
    ball[lane] = 100;
  const int on = ball[lane] + 1, to = lane + (rank == size - 1);
  if (to < static_cast<int>(blockDim.x))
    MPI_Send(&on, 1, MPI_INT, next, to, MPI_COMM_WORLD);
}

__device__ unsigned char pattern(int thread, int i) { return static_cast<unsigned char>(7 * thread + i); }
/// What a lane carries at once, and what it does not.
__device__ int length_of(int thread) {
  const int lengths[] = {0, 4, 10, 11, 12, 36, 37, 40, 72, 76, 100, 7};
  return lengths[thread % 12];
}

/// With a status, without, and by two calls; some lanes have nobody to talk to.
__global__ void messages(unsigned char *out, unsigned char *in, int next, int previous, int *wrong) {
  const int thread = number(), length = length_of(thread);
  unsigned char *mine = out + room * thread, *its = in + room * thread;
  for (int i = 0; i < room; ++i) {
    mine[i] = pattern(thread, i);
    its[i] = 0xee;
  }
  const bool alone = thread % 7 == 3;
  const int to = alone ? MPI_PROC_NULL : next, from = alone ? MPI_PROC_NULL : previous;
  if (thread % 4 == 1) {
    MPI_Status status;
    MPI_Sendrecv(mine, length, MPI_BYTE, to, thread, its, room, MPI_BYTE, from, thread, MPI_COMM_WORLD, &status);
    int count = -1;
    MPI_Get_count(&status, MPI_BYTE, &count);
    if (count != (alone ? 0 : length) || status.MPI_SOURCE != from || (!alone && status.MPI_TAG != thread))
      atomicAdd(wrong, 1);
  } else if (thread % 4 == 2) {
    MPI_Send(mine, length, MPI_BYTE, to, thread, MPI_COMM_WORLD);
    MPI_Recv(its, room, MPI_BYTE, from, thread, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  } else {
    MPI_Sendrecv(mine, length, MPI_BYTE, to, thread, its, length, MPI_BYTE, from, thread, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
  }
  for (int i = 0; i < room; ++i)
    if (its[i] != (i < length && !alone ? pattern(thread, i) : 0xee))
      atomicAdd(wrong, 1);
}

/// Of a communicator that the GPU does not know; some lanes ask more often. So many times that lanes which have
/// come apart go on together with others.
__global__ void questions(MPI_Comm comm, int expected, int times, int *wrong) {
  for (int i = 0; i < times + number() % 3; ++i) {
    int size = -1;
    MPI_Comm_size(comm, &size);
    if (size != expected)
      atomicAdd(wrong, 1);
  }
}

int main(int argc, char **argv) {
  test::begin(&argc, &argv);
  test::Array<int> wrong(1, 0), ball(64, -1);
  auto check = [&](const char *what) {
    test::synchronize();
    test::expect_equal(wrong.read()[0], 0, what);
  };
  for (int lanes : {32, 9}) {
    chain<<<1, lanes>>>(ball.data(), test::rank, test::size, test::next(), test::previous());
    test::synchronize();
    const std::vector<int> seen = ball.read();
    for (int i = 0; i < lanes; ++i)
      test::expect_equal(seen[i], 100 + i * test::size + test::rank, "the ball");
  }

  test::Array<unsigned char> out(room * 128), in(room * 128);
  for (dim3 block : {dim3(32), dim3(100), dim3(5, 4, 6)})
    for (int again = 0; again < 3; ++again) {
      messages<<<1, block>>>(out.data(), in.data(), test::next(), test::previous(), wrong.data());
      check("wrong messages");
    }

  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  for (int blocks : {1, 8})
    for (dim3 block : {dim3(32), dim3(7, 9, 3), dim3(256)}) {
      questions<<<blocks, block>>>(comm, test::size, 3, wrong.data());
      check("wrong answers");
    }
  for (int threads : {32, 64}) {
    questions<<<1, threads>>>(comm, test::size, test::thread_sanitizer ? 20 : 1000, wrong.data());
    check("wrong answers to many");
  }
  MPI_Comm_free(&comm);
  return test::end();
}
