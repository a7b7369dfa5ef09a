// Calls inside if constexpr, of which each instantiation has others.
// RUN: %gmpicxx %all-lowerings %s -o %t
// RUN: %each-lowering %ranks 1-3 %t
#include "../Inputs/shape.h"

template <int Kind, class T> __global__ void choose(int *out, int rank, T add) {
  int thread = blockIdx.x * blockDim.x + threadIdx.x;
  int kept = 5 * thread, mine = rank + 1, result = 0;
  if constexpr (Kind == 0) {
    MPI_Allreduce(&mine, &result, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    kept += 1;
  } else if constexpr (sizeof(T) == 8) {
    T local = add + thread;
    MPI_Allreduce(&mine, &result, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    kept += int(2 * local);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  out[thread] = kept + result + int(add);
}

int main(int argc, char **argv) {
  test::begin(&argc, &argv);
  test::check_shape<int>(
      "first branch",
      [](int *out, int blocks, int threads) { choose<0><<<blocks, threads>>>(out, test::rank, 3); },
      [](int thread) { return 5 * thread + 1 + test::size * (test::size + 1) / 2 + 3; });
  test::check_shape<int>(
      "second branch",
      [](int *out, int blocks, int threads) { choose<1><<<blocks, threads>>>(out, test::rank, 2.5); },
      [](int thread) { return 7 * thread + 5 + test::size + 2; });
  test::check_shape<int>(
      "no branch",
      [](int *out, int blocks, int threads) { choose<1><<<blocks, threads>>>(out, test::rank, 4); },
      [](int thread) { return 5 * thread + 4; });
  return test::end();
}
