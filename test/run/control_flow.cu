// MPI calls in conditions, branches, loops, switches, and under values that came from MPI; return
// values used and ignored.
// RUN: %gmpicxx %s -o %t
// RUN: %ranks 2-4 %t
// RUN: env GMPI_PEER=1 %ranks 2-3 %t
#include "Inputs/check.h"

/// Passes a token around until it has been everywhere `laps` times.
__global__ void token(int *value, int laps, int rank, int next, int previous, int *errors) {
  int failed = 0;
  for (int lap = 0; lap < laps; ++lap) {
    if (rank == 0) {
      if (MPI_Send(value, 1, MPI_INT, next, lap, MPI_COMM_WORLD) != MPI_SUCCESS)
        ++failed;
      int error = MPI_Recv(value, 1, MPI_INT, previous, lap, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      failed += error != MPI_SUCCESS;
    } else {
      MPI_Recv(value, 1, MPI_INT, previous, lap, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      if (blockIdx.x == 0 && threadIdx.x == 0)
        *value += rank;
      (void)MPI_Send(value, 1, MPI_INT, next, lap, MPI_COMM_WORLD);
    }
  }
  if (blockIdx.x == 0 && threadIdx.x == 0)
    *errors = failed;
}

/// Halves until the sum over all ranks is small: the condition is MPI's result.
__global__ void until_small(double start, int *steps) {
  double mine = start, sum;
  int step = 0;
  do {
    mine /= 2;
    ++step;
    MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  } while (sum > 1e-3);
  if (blockIdx.x == 0 && threadIdx.x == 0)
    *steps = step;
}

__global__ void choose(int *value, int what, int rank, int next, int previous) {
  switch (what) {
  case 0:
    MPI_Bcast(value, 1, MPI_INT, 0, MPI_COMM_WORLD);
    break;
  case 1: {
    int one = 1;
    MPI_Allreduce(&one, value, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    break;
  }
  case 2:
    if (rank == 0 && MPI_Send(value, 1, MPI_INT, next, 5, MPI_COMM_WORLD) == MPI_SUCCESS)
      MPI_Recv(value, 1, MPI_INT, previous, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank != 0) {
      MPI_Recv(value, 1, MPI_INT, previous, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      MPI_Send(value, 1, MPI_INT, next, 5, MPI_COMM_WORLD);
    }
    break;
  default:
    break;
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

/// Rank 0 says how many messages each rank gets; the loop's bound comes out of a message.
__global__ void as_told(int *counts, int *sums, int rank, int size) {
  if (rank == 0) {
    for (int to = 1; to < size; ++to) {
      MPI_Send(counts + to, 1, MPI_INT, to, 0, MPI_COMM_WORLD);
      for (int i = 0; i < to; ++i)
        MPI_Send(counts + i, 1, MPI_INT, to, 1, MPI_COMM_WORLD);
    }
    return;
  }
  int count, value, sum = 0;
  MPI_Recv(&count, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  while (count-- > 0) {
    MPI_Recv(&value, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    sum += value;
  }
  sums[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

int main(int argc, char **argv) {
  test::begin(&argc, &argv);
  int rank = test::rank, size = test::size;
  test::Array<int> value(1, 5), errors(1, -1);
  token<<<3, 20>>>(value.data(), 4, rank, test::next(), test::previous(), errors.data());
  test::synchronize();
  int round = size * (size - 1) / 2;
  test::expect_equal(value.read()[0], rank == 0 ? 5 + 4 * round : 5 + 3 * round + rank * (rank + 1) / 2,
                     "the token");
  test::expect_equal(errors.read()[0], 0, "errors");

  test::Array<int> steps(1);
  until_small<<<2, 32>>>(rank + 1.0, steps.data());
  test::synchronize();
  int wanted = 0;
  for (double sum = size * (size + 1) / 2; sum > 1e-3; sum /= 2)
    ++wanted;
  test::expect_equal(steps.read()[0], wanted, "steps");

  for (int what = 0; what < 4; ++what) {
    value.write({100 + rank});
    choose<<<2, 32>>>(value.data(), what, rank, test::next(), test::previous());
    test::synchronize();
    test::expect_equal(value.read()[0], what == 1 ? size : what == 3 ? 100 + rank : 100, "what was chosen");
  }

  test::Array<int> counts(size), sums(64);
  std::vector<int> numbers(size);
  for (int i = 0; i < size; ++i)
    numbers[i] = i;
  counts.write(numbers);
  as_told<<<2, 32>>>(counts.data(), sums.data(), rank, size);
  test::synchronize();
  test::expect_each(sums, [&](int) { return rank * (rank - 1) / 2; }, "sums");
  return test::end();
}
