// One thread's calls in device functions, several deep, beside calls for the whole grid in the same
// function; functions that all threads call, and functions that only that thread calls.
// RUN: %gmpicxx %all-lowerings %s -o %t
// RUN: %each-lowering %ranks 1-3 %t
#include "../Inputs/shape.h"

__device__ int pass_on(int number, int next, int previous, int tag) {
  int got = -1, twice = 2 * number;
  MPI_Sendrecv(&number, 1, MPI_INT, next, tag, &got, 1, MPI_INT, previous, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  return got + twice;
}

__device__ int exchange(int *data, int rank, int next, int previous, int tag) {
  int thread = blockIdx.x * blockDim.x + threadIdx.x, mine = 3 * thread;
  if (thread == 0)
    data[0] = pass_on(10 * rank, next, previous, tag);
  int sum = 1;
  MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (thread == 0)
    MPI_Sendrecv(data, 1, MPI_INT, next, tag, data + 1, 1, MPI_INT, previous, tag, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
  return mine + sum;
}

__global__ void call(int *out, int *data, int rank, int next, int previous) {
  int thread = blockIdx.x * blockDim.x + threadIdx.x, kept = 5 * thread;
  for (int turn = 0; turn < 3; ++turn) {
    kept += exchange(data, rank, next, previous, turn);
    MPI_Barrier(MPI_COMM_WORLD);
    kept += data[1];
  }
  kept += exchange(data, rank, next, previous, 5);
  out[thread] = kept;
}

int main(int argc, char **argv) {
  test::begin(&argc, &argv);
  int next = test::next(), previous = test::previous();
  int before = (previous + test::size - 1) % test::size;
  test::Array<int> data(2);
  test::check_shape<int>(
      "in functions",
      [&](int *out, int blocks, int threads) {
        call<<<blocks, threads>>>(out, data.data(), test::rank, next, previous);
      },
      [&](int t) { return 5 * t + 4 * (3 * t + test::size) + 3 * (10 * before + 20 * previous); });
  test::expect_equal(data.read()[1], 10 * before + 20 * previous, "the last message");
  return test::end();
}
