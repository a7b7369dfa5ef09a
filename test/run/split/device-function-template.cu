// Device function templates and member functions with calls: per type, per value, with if constexpr.
// RUN: %gmpicxx %all-lowerings %s -o %t
// RUN: %each-lowering %ranks 1-3 %t
#include "../Inputs/shape.h"

template <class T> __device__ T sum_over_ranks(T value, MPI_Datatype type) {
  T sum;
  MPI_Allreduce(&value, &sum, 1, type, MPI_SUM, MPI_COMM_WORLD);
  return sum;
}
template <int N, class T> __device__ T repeated(T start, MPI_Datatype type, T own) {
  T kept = own;
  for (int i = 0; i < N; ++i)
    kept += sum_over_ranks(T(start + i), type) + own;
  if constexpr (N > 2)
    MPI_Barrier(MPI_COMM_WORLD);
  return kept;
}
template <class T> struct Adder {
  T total;
  MPI_Datatype type;
  __device__ void add(T value, T own) {
    T before = total;
    total = sum_over_ranks(value, type);
    total += before + own;
  }
};

__global__ void calls(double *out, int rank) {
  int thread = blockIdx.x * blockDim.x + threadIdx.x;
  int whole = repeated<2>(rank, MPI_INT, thread);
  double real = repeated<3>(0.5 * rank, MPI_DOUBLE, 0.25 * thread);
  Adder<int> adder{thread, MPI_INT};
  adder.add(rank + 1, 2 * thread);
  adder.add(3, 1);
  out[thread] = whole + 10 * real + 100 * adder.total;
}

int main(int argc, char **argv) {
  test::begin(&argc, &argv);
  test::check_shape<double>(
      "device-function-template",
      [](double *out, int blocks, int threads) { calls<<<blocks, threads>>>(out, test::rank); },
      [](int t) {
        double ranks = test::size * (test::size - 1) / 2, n = test::size;
        double real = 0.25 * t * 4 + 1.5 * ranks + 3 * n;
        return 2 * ranks + n + 3 * t + 10 * real + 100 * (3 * t + ranks + n + 3 * n + 1);
      });
  return test::end();
}
