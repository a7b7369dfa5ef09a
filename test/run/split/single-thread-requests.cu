// One thread's requests, begun before the grid meets and completed behind it: in a variable of its own, in
// global memory, in another kernel.
// RUN: %gmpicxx %all-lowerings %s -o %t
// RUN: %each-lowering %ranks 1-3 %t
#include "../Inputs/shape.h"

#include <cooperative_groups.h>
namespace cg = cooperative_groups;

__global__ void own_requests(int *out, int *data, int next, int previous, int turns) {
  int thread = blockIdx.x * blockDim.x + threadIdx.x, sum = 0;
  MPI_Request requests[2];
  for (int turn = 0; turn < turns; ++turn) {
    if (thread == 0) {
      data[0] = 10 + turn;
      MPI_Irecv(data + 1, 1, MPI_INT, previous, turn, MPI_COMM_WORLD, &requests[0]);
      MPI_Isend(data, 1, MPI_INT, next, turn, MPI_COMM_WORLD, &requests[1]);
    }
    cg::this_grid().sync();
    sum += data[0];
    if (thread == 0) {
      if (turn % 2) {
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
      } else {
        MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
        MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
      }
    }
    cg::this_grid().sync();
    sum += data[1];
  }
  out[thread] = thread + sum;
}

__global__ void begin(int *data, MPI_Request *requests, int next, int previous) {
  if (threadIdx.x == 0 && blockIdx.x == 0) {
    MPI_Irecv(data + 1, 1, MPI_INT, previous, 0, MPI_COMM_WORLD, requests);
    MPI_Isend(data, 1, MPI_INT, next, 0, MPI_COMM_WORLD, requests + 1);
  }
}
__global__ void finish(int *out, int *data, MPI_Request *requests) {
  int thread = blockIdx.x * blockDim.x + threadIdx.x;
  if (thread == 0)
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  cg::this_grid().sync();
  out[thread] = thread + data[1];
}

int main(int argc, char **argv) {
  test::begin(&argc, &argv);
  int next = test::next(), previous = test::previous();
  test::Array<int> data(2);
  test::Array<MPI_Request> requests(2);
  int *memory = data.data();
  MPI_Request *made = requests.data();
  test::check_shape<int>(
      "own requests",
      [&](int *out, int blocks, int threads) {
        int turns = 4;
        void *arguments[] = {&out, &memory, &next, &previous, &turns};
        CUDA_CHECK(cudaLaunchCooperativeKernel(own_requests, blocks, threads, arguments));
      },
      [&](int t) { return t + 2 * (10 + 11 + 12 + 13); });
  test::check_shape<int>(
      "in another kernel",
      [&](int *out, int blocks, int threads) {
        data.write({100 + test::rank, -1});
        begin<<<blocks, threads>>>(memory, made, next, previous);
        void *arguments[] = {&out, &memory, &made};
        CUDA_CHECK(cudaLaunchCooperativeKernel(finish, blocks, threads, arguments));
      },
      [&](int t) { return t + 100 + previous; });
  return test::end();
}
