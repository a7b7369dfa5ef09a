// What a call gives to the one thread that makes it: data, status, flag and error in its own locals; in
// conditions, in loops, by a thread that is not the grid's first.
// RUN: %gmpicxx %all-lowerings %s -o %t
// RUN: %each-lowering %ranks 1-3 %t
#include "../Inputs/shape.h"

#include <cooperative_groups.h>
namespace cg = cooperative_groups;

__global__ void last_thread(int *out, int rank, int next, int previous, int turns) {
  int thread = blockIdx.x * blockDim.x + threadIdx.x, kept = 2 * thread, got = -1;
  double sum = 0;
  for (int turn = 0; turn < turns; ++turn) {
    int doubled = turn * 2;
    if (blockIdx.x == gridDim.x - 1 && threadIdx.x == blockDim.x - 1) {
      int sent = 100 * rank + turn;
      MPI_Status status;
      if (MPI_Sendrecv(&sent, 1, MPI_INT, next, turn, &got, 1, MPI_INT, previous, turn, MPI_COMM_WORLD,
                       &status) == MPI_SUCCESS)
        kept += status.MPI_TAG + status.MPI_SOURCE;
      double mine = got;
      MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
    cg::this_grid().sync();
    kept += doubled;
  }
  out[thread] = kept + got + int(sum);
}

__global__ void in_conditions(int *out, int *data, int next, int previous) {
  int thread = blockIdx.x * blockDim.x + threadIdx.x, tries = 0, flag = 0;
  const bool first = thread == 0;
  MPI_Request request;
  if (first && MPI_Irecv(data, 1, MPI_INT, previous, 3, MPI_COMM_WORLD, &request) == MPI_SUCCESS)
    tries = 1;
  if (first)
    for (int i = 0; i < 2; ++i)
      MPI_Send(data + 2 + i, 1, MPI_INT, next, 3 + i, MPI_COMM_WORLD);
  if (first) {
    do
      MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
    while (!flag);
    while (MPI_Recv(data + 1, 1, MPI_INT, previous, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE) != MPI_SUCCESS)
      ++tries;
  }
  MPI_Bcast(data + 4, 1, MPI_INT, 0, MPI_COMM_WORLD);
  out[thread] = thread + data[0] + data[1] + 1000 * tries + 100 * flag + data[4];
}

int main(int argc, char **argv) {
  test::begin(&argc, &argv);
  int next = test::next(), previous = test::previous(), rank = test::rank, size = test::size;
  test::check_shape<int>(
      "last thread",
      [&](int *out, int blocks, int threads) {
        int turns = 4;
        void *arguments[] = {&out, &rank, &next, &previous, &turns};
        CUDA_CHECK(cudaLaunchCooperativeKernel(last_thread, blocks, threads, arguments));
      },
      [&](int t, test::Grid grid) {
        int kept = 2 * t + 12;
        if (t != grid.blocks * grid.threads - 1)
          return kept - 1;
        return kept + 6 + 4 * previous + 100 * previous + 3 + 100 * size * (size - 1) / 2 + 3 * size;
      });
  test::Array<int> data(5);
  test::check_shape<int>(
      "in conditions",
      [&](int *out, int blocks, int threads) {
        data.write({0, 0, 7, 8, 5});
        in_conditions<<<blocks, threads>>>(out, data.data(), next, previous);
      },
      [&](int t) { return t + 7 + 8 + (t == 0 ? 1100 : 0) + 5; });
  return test::end();
}
