// MPI_Barrier, MPI_Bcast, MPI_Reduce and MPI_Allreduce (also in place) at every scope.
// RUN: %gmpicxx %s -o %t
// RUN: %ranks 1-4 %t
// RUN: env GMPI_PEER=1 %ranks 2-3 %t
#include "Inputs/check.h"

#include <chrono>

__device__ int total(int size) { return size * (size + 1) / 2; } // of rank + 1

__global__ void grid_calls(int *data, int *sums, int n, int rank, int size) {
  int root = size - 1;
  int first = blockIdx.x * blockDim.x + threadIdx.x, step = gridDim.x * blockDim.x;
  if (rank == root)
    for (int i = first; i < n; i += step)
      data[i] = 7 * i;
  MPI_Bcast(data, n, MPI_INT, root, MPI_COMM_WORLD);
  for (int i = first; i < n; i += step)
    data[i] += rank + 1;
  MPI_Reduce(data, sums, n, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD); // sums: 7 i size + total, on rank 0
  MPI_Bcast(sums, n, MPI_INT, 0, MPI_COMM_WORLD);
  for (int i = first; i < n; i += step)
    sums[i] -= 7 * i * size;
  MPI_Allreduce(MPI_IN_PLACE, sums, n, MPI_INT, MPI_SUM, MPI_COMM_WORLD); // size * total
  MPI_Allreduce(sums, data, n, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  MPI_Barrier(MPI_COMM_WORLD);
}

__global__ void reduce_in_place(double *data, int n, int rank, int root) {
  if (rank == root)
    MPI_Reduce(MPI_IN_PLACE, data, n, MPI_DOUBLE, MPI_PROD, root, MPI_COMM_WORLD);
  else
    MPI_Reduce(data, nullptr, n, MPI_DOUBLE, MPI_PROD, root, MPI_COMM_WORLD);
}

/// Each block has a communicator of its own.
__global__ void block_calls(int *data, int n, int rank, MPI_Comm first, MPI_Comm second) {
  MPI_Comm mine = blockIdx.x == 0 ? first : second;
  int *part = data + blockIdx.x * n;
  for (int i = threadIdx.x; i < n; i += blockDim.x)
    part[i] = (rank + 1) * (blockIdx.x + 1);
  MPI_Barrier(mine);
  MPI_Allreduce(MPI_IN_PLACE, part, n, MPI_INT, MPI_SUM, mine);
  MPI_Bcast(part, n, MPI_INT, 0, mine);
  for (int i = threadIdx.x; i < n; i += blockDim.x)
    part[i] += i;
}

__global__ void one_thread(int *data, int rank, int size) {
  if (threadIdx.x == 0) {
    int mine = rank + 1, sum = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Reduce(&mine, &sum, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    MPI_Bcast(&sum, 1, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Allreduce(&mine, data, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    data[1] = sum - total(size);
  }
}

/// Barrier: nobody is through before the last has come. Rank 0 comes last.
__global__ void barrier(double *when, int rank) {
  if (rank == 0)
    for (double begin = MPI_Wtime(); MPI_Wtime() - begin < 0.05;)
      ;
  double before = MPI_Wtime();
  MPI_Barrier(MPI_COMM_WORLD);
  double after = MPI_Wtime();
  if (blockIdx.x == 0 && threadIdx.x == 0) {
    when[0] = before;
    when[1] = after;
  }
}

static void check_grid(int n, int blocks) {
  test::Array<int> data(n), sums(n);
  grid_calls<<<blocks, 32>>>(data.data(), sums.data(), n, test::rank, test::size);
  test::synchronize();
  int wanted = test::size * test::size * (test::size + 1) / 2;
  test::expect_each(sums, [&](int) { return wanted; }, "sums");
  test::expect_each(data, [&](int) { return wanted; }, "data");

  int root = test::size / 2;
  test::Array<double> product(n, test::rank + 1.0);
  reduce_in_place<<<blocks, 32>>>(product.data(), n, test::rank, root);
  test::synchronize();
  double factorial = 1;
  for (int i = 1; i <= test::size; ++i)
    factorial *= i;
  test::expect_each(
      product, [&](int) { return test::rank == root ? factorial : test::rank + 1.0; }, "product");
}

int main(int argc, char **argv) {
  test::begin(&argc, &argv);
  for (int blocks : {1, 3}) {
    check_grid(1, blocks);
    check_grid(100, blocks);
    check_grid(40000, blocks);
  }

  MPI_Comm first, second;
  MPI_Comm_dup(MPI_COMM_WORLD, &first);
  MPI_Comm_dup(MPI_COMM_WORLD, &second);
  test::Array<int> blocks(80);
  block_calls<<<2, 32>>>(blocks.data(), 40, test::rank, first, second);
  test::synchronize();
  int total = test::size * (test::size + 1) / 2;
  test::expect_each(blocks, [&](int i) { return total * (i / 40 + 1) + i % 40; }, "blocks");
  MPI_Comm_free(&first);
  MPI_Comm_free(&second);

  test::Array<int> one(2, -1);
  one_thread<<<1, 32>>>(one.data(), test::rank, test::size);
  test::synchronize();
  test::expect_equal(one.read()[0], 1, "the minimum");
  test::expect_equal(one.read()[1], 0, "the sum, less what it should be");

  test::Array<double> when(2);
  double launched = MPI_Wtime();
  barrier<<<2, 32>>>(when.data(), test::rank);
  test::synchronize();
  double ended = MPI_Wtime(), mine[2] = {when.read()[0], -when.read()[1]}, latest[2];
  test::expect(launched - 1e-3 <= mine[0] && mine[0] <= -mine[1] && -mine[1] <= ended + 1e-3,
               "MPI_Wtime in the kernel: %g s after its launch, %g s before its end",
               mine[0] - launched, ended + mine[1]);
  // Each rank has an MPI_Wtime of its own; the host's clock is the same for all.
  auto now = std::chrono::steady_clock::now().time_since_epoch();
  double shift = std::chrono::duration<double>(now).count() - MPI_Wtime();
  mine[0] += shift;
  mine[1] -= shift;
  MPI_Allreduce(mine, latest, 2, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  test::expect(latest[0] <= -latest[1] + 1e-3, "a rank was through %g s before the last had come",
               latest[0] + latest[1]);
  return test::end();
}
