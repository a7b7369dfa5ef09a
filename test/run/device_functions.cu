// MPI in device functions: nested, templates, members, lambdas, in a header; the same function under
// several scopes.
// RUN: %gmpicxx %s -o %t
// RUN: %ranks 1-4 %t
// RUN: env GMPI_PEER=1 %ranks 2-3 %t
#include "Inputs/check.h"
#include "Inputs/halo.h"

__device__ void exchange(int *out, int *in, int n, int next, int previous, int tag) {
  MPI_Sendrecv(out, n, MPI_INT, next, tag, in, n, MPI_INT, previous, tag, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
}
__device__ void there_and_back(int *out, int *in, int n, int next, int previous, int tag) {
  exchange(out, in, n, next, previous, tag);
  exchange(in, out, n, previous, next, tag);
}

/// `out` comes home, `in` is the neighbour's; under three scopes.
__global__ void scopes(int *out, int *in, int next, int previous) {
  int thread = blockIdx.x * blockDim.x + threadIdx.x, n = gridDim.x * blockDim.x;
  there_and_back(out, in, n, next, previous, 0);
  int first = blockIdx.x * blockDim.x;
  there_and_back(out + n + first, in + n + first, blockDim.x, next, previous, 1000 + blockIdx.x);
  there_and_back(out + 2 * n + thread, in + 2 * n + thread, 1, next, previous, 2000 + thread);
}

template <class T> __device__ T sum_over_ranks(T value, MPI_Datatype type) {
  T sum;
  MPI_Allreduce(&value, &sum, 1, type, MPI_SUM, MPI_COMM_WORLD);
  return sum;
}

struct Ring {
  int next, previous, tag;
  __device__ void shift(int *out, int *in, int n) const {
    MPI_Sendrecv(out, n, MPI_INT, next, tag, in, n, MPI_INT, previous, tag, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
  }
};

__global__ void kinds(int *data, int rank, int next, int previous) {
  int number = sum_over_ranks(rank + 1, MPI_INT);
  double half = sum_over_ranks(0.5 * (rank + 1), MPI_DOUBLE);
  auto largest = [&](int value) {
    MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    return value;
  };
  int maximum = largest(rank);
  Ring ring{next, previous, 7};
  if (blockIdx.x == 0 && threadIdx.x == 0)
    data[0] = rank;
  ring.shift(data, data + 1, 1);
  if (blockIdx.x == 0 && threadIdx.x == 0) {
    data[2] = number;
    data[3] = int(2 * half);
    data[4] = maximum;
  }
  trade_edges(data + 5, 3, next, previous);
}

int main(int argc, char **argv) {
  test::begin(&argc, &argv);
  int rank = test::rank, n = 40;
  std::vector<int> mine(3 * n);
  for (int i = 0; i < 3 * n; ++i)
    mine[i] = 1000 * rank + i;
  test::Array<int> out(3 * n), in(3 * n, -1);
  out.write(mine);
  scopes<<<2, 20>>>(out.data(), in.data(), test::next(), test::previous());
  test::synchronize();
  test::expect_each(in, [](int i) { return 1000 * test::previous() + i; }, "in");
  test::expect_each(out, [&](int i) { return mine[i]; }, "out");

  // Behind the five results: a halo point, three points, a halo point.
  test::Array<int> data(10);
  data.write({0, 0, 0, 0, 0, -1, 10 * rank + 1, 10 * rank + 2, 10 * rank + 3, -1});
  kinds<<<2, 32>>>(data.data(), rank, test::next(), test::previous());
  test::synchronize();
  int total = test::size * (test::size + 1) / 2;
  int wanted[] = {rank, test::previous(), total, total, test::size - 1, 10 * test::previous() + 3,
                  10 * rank + 1, 10 * rank + 2, 10 * rank + 3, 10 * test::next() + 1};
  test::expect_each(data, [&](int i) { return wanted[i]; }, "data");
  return test::end();
}
