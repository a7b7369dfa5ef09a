// One thread's calls, followed by grid.sync(), by a call of the whole grid, by the end of the kernel.
// RUN: %gmpicxx %all-lowerings %s -o %t
// RUN: %each-lowering %ranks 1-3 %t
#include "../Inputs/shape.h"

#include <cooperative_groups.h>
namespace cg = cooperative_groups;

__global__ void then_sync(int *out, int *data, int rank, int next, int previous) {
  auto grid = cg::this_grid();
  int thread = blockIdx.x * blockDim.x + threadIdx.x, kept = 3 * thread;
  for (int turn = 0; turn < 3; ++turn) {
    int own = thread + turn;
    if (threadIdx.x == 0 && blockIdx.x == 0) {
      data[0] = 10 * rank + turn;
      MPI_Sendrecv(data, 1, MPI_INT, next, turn, data + 1, 1, MPI_INT, previous, turn, MPI_COMM_WORLD,
                   MPI_STATUS_IGNORE);
    }
    grid.sync();
    kept += data[1] + own;
    grid.sync();
  }
  out[thread] = kept;
}

__global__ void then_call(int *out, int *data, int rank, int next, int previous) {
  int thread = blockIdx.x * blockDim.x + threadIdx.x, kept = 3 * thread, error = 0;
  if (threadIdx.x == 0 && blockIdx.x == 0) {
    data[0] = rank;
    MPI_Send(data, 1, MPI_INT, next, 7, MPI_COMM_WORLD);
    error = MPI_Recv(data, 1, MPI_INT, previous, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  out[thread] = kept + data[0];
  if (thread == 0)
    MPI_Recv(data + 1, 1, MPI_INT, previous, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Bcast(data, 1, MPI_INT, 0, MPI_COMM_WORLD);
  out[thread] += data[1] * 100 + error;
  if (thread == 0)
    MPI_Send(data + 1, 1, MPI_INT, next, 9, MPI_COMM_WORLD);
}

static void launch_then_sync(int *out, int *data, int blocks, int threads) {
  int next = test::next(), previous = test::previous();
  void *arguments[] = {&out, &data, &test::rank, &next, &previous};
  CUDA_CHECK(cudaLaunchCooperativeKernel(then_sync, blocks, threads, arguments));
}

int main(int argc, char **argv) {
  test::begin(&argc, &argv);
  int next = test::next(), previous = test::previous();
  test::Array<int> data(2);
  test::check_shape<int>(
      "then grid.sync()",
      [&](int *out, int blocks, int threads) { launch_then_sync(out, data.data(), blocks, threads); },
      [&](int t) { return 3 * t + 30 * previous + 3 + 3 * t + 3; });
  test::check_shape<int>(
      "then a call of the grid",
      [&](int *out, int blocks, int threads) {
        then_call<<<blocks, threads>>>(out, data.data(), test::rank, next, previous);
        int number = 5 + test::rank, got = -1; // what the kernel waits for, and its last words
        MPI_Request requests[2];
        MPI_Isend(&number, 1, MPI_INT, next, 8, MPI_COMM_WORLD, &requests[0]);
        MPI_Irecv(&got, 1, MPI_INT, previous, 9, MPI_COMM_WORLD, &requests[1]);
        for (int done = 0; !done;) // MPICH 4.0.2 does not wake who waits for a message to itself
          MPI_Testall(2, requests, &done, MPI_STATUSES_IGNORE);
        test::expect_equal(got, 5 + (previous + test::size - 1) % test::size, "the kernel's last message");
      },
      [&](int t) { return 3 * t + previous + 100 * (5 + previous); });
  return test::end();
}
