// What device functions with calls return: structs, bool, pointers, references, nothing; used and ignored.
// RUN: %gmpicxx %all-lowerings %s -o %t
// RUN: %each-lowering %ranks 1-3 %t
#include "../Inputs/shape.h"

struct Pair {
  int first;
  double second;
};

__device__ Pair pair_of(int value, int own) {
  Pair pair{0, 0.5 * own};
  MPI_Allreduce(&value, &pair.first, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  return pair;
}
__device__ bool all_agree(int value) {
  int all;
  MPI_Allreduce(&value, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  return all == value;
}
__device__ const int *element(const int *list, int at) {
  MPI_Barrier(MPI_COMM_WORLD);
  return list + at;
}
__device__ auto deduced(int value) {
  MPI_Barrier(MPI_COMM_WORLD);
  return value * 1.5;
}
__device__ void nothing(int when) {
  if (when == 0)
    return;
  MPI_Barrier(MPI_COMM_WORLD);
}

__global__ void returns(double *out, const int *list, int rank) {
  int thread = blockIdx.x * blockDim.x + threadIdx.x;
  Pair pair = pair_of(rank, thread);
  pair_of(3, thread);
  auto [first, second] = pair_of(1, 2 * thread);
  double kept = pair.first + pair.second + first * second;
  if (all_agree(4))
    kept += 1;
  if (!all_agree(rank))
    kept += 10;
  kept += *element(list, thread % 2) + element(list, 1)[0] + pair_of(2, thread).second;
  for (int i = 0; i < 3; ++i)
    nothing(i % 2);
  const int &bound = *element(list, 0);
  kept += deduced(thread);
  out[thread] = kept + bound;
}

int main(int argc, char **argv) {
  test::begin(&argc, &argv);
  test::Array<int> list(2);
  list.write({50, 60});
  test::check_shape<double>(
      "device-function-return",
      [&](double *out, int blocks, int threads) {
        returns<<<blocks, threads>>>(out, list.data(), test::rank);
      },
      [](int t) {
        double kept = test::size * (test::size - 1) / 2 + 0.5 * t + test::size * t + 1;
        kept += test::rank == 0 ? 0 : 10;
        return kept + (t % 2 ? 60 : 50) + 60 + 0.5 * t + 1.5 * t + 50;
      });
  return test::end();
}
