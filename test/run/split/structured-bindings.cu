// Structured bindings live across calls: of structs and arrays, by value and by reference, in a loop.
// RUN: %gmpicxx %all-lowerings %s -o %t
// RUN: %each-lowering %ranks 1-3 %t
#include "../Inputs/shape.h"

struct Pair {
  int first;
  double second;
};
__device__ Pair make(int n) { return {n, 0.5 * n}; }

__global__ void bindings(double *out, int rank) {
  int thread = blockIdx.x * blockDim.x + threadIdx.x;
  auto [number, half] = make(thread);
  const auto [three, four] = Pair{3, 4};
  int list[2] = {thread, 7};
  auto &[front, back] = list;
  auto [copied, also] = list;
  int mine = rank, sum;
  MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  number += sum;
  front += 100;
  back += thread;
  MPI_Barrier(MPI_COMM_WORLD);
  Pair pairs[2] = {{1, 2}, {thread, 4}};
  double kept = 0;
  for (auto &[key, value] : pairs) {
    key += 1;
    MPI_Barrier(MPI_COMM_WORLD);
    value += key;
  }
  for (auto [key, value] : pairs) {
    MPI_Barrier(MPI_COMM_WORLD);
    kept = 10 * kept + key + value;
  }
  out[thread] = kept + number + half + three + four + list[0] + list[1] + 2 * copied + also;
}

int main(int argc, char **argv) {
  test::begin(&argc, &argv);
  test::check_shape<double>(
      "structured-bindings",
      [](double *out, int blocks, int threads) { bindings<<<blocks, threads>>>(out, test::rank); },
      [](int t) {
        int sum = test::size * (test::size - 1) / 2;
        double kept = 10 * (2 + 4) + (t + 1) + (t + 5);
        return kept + t + sum + 0.5 * t + 7 + t + 100 + 7 + t + 2 * t + 7;
      });
  return test::end();
}
