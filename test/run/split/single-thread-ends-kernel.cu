// One thread's calls after which nothing comes but the kernel's end: all others may be gone by then; and
// paths of that thread that end while the others go on.
// RUN: %gmpicxx %all-lowerings %s -o %t
// RUN: %each-lowering %ranks 1-3 %t
#include "../Inputs/shape.h"

__global__ void only_calls(int *out, int *data, int next, int previous) {
  int thread = blockIdx.x * blockDim.x + threadIdx.x;
  out[thread] = thread;
  if (thread != 0)
    return;
  for (int i = 0; i < 3; ++i)
    MPI_Send(data + i, 1, MPI_INT, next, i, MPI_COMM_WORLD);
  int sum = 0;
  for (int i = 0; i < 3; ++i) {
    int got;
    MPI_Recv(&got, 1, MPI_INT, previous, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    sum += got;
  }
  out[thread] = sum;
}

__global__ void leaves(int *out, int *data, int next, int previous) {
  int thread = blockIdx.x * blockDim.x + threadIdx.x, turn = 0;
  for (;; ++turn) {
    if (thread == 0) {
      MPI_Sendrecv(data, 1, MPI_INT, next, turn, data + 3, 1, MPI_INT, previous, turn, MPI_COMM_WORLD,
                   MPI_STATUS_IGNORE);
      if (turn == 1) {
        out[thread] = data[3];
        return;
      }
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (turn == 3)
      break;
  }
  out[thread] = thread + turn;
}

int main(int argc, char **argv) {
  test::begin(&argc, &argv);
  int next = test::next(), previous = test::previous();
  test::Array<int> data(4);
  data.write({5, 6, 7, 0});
  test::check_shape<int>(
      "only calls",
      [&](int *out, int blocks, int threads) { only_calls<<<blocks, threads>>>(out, data.data(), next, previous); },
      [](int t) { return t == 0 ? 18 : t; });
  test::check_shape<int>(
      "leaves",
      [&](int *out, int blocks, int threads) { leaves<<<blocks, threads>>>(out, data.data(), next, previous); },
      [](int t) { return t == 0 ? 5 : t + 3; }, {{3, 5}, {3, 64}});
  return test::end();
}
