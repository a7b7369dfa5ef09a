// Calls inside a range-for over an array, by value and by reference, and over a class with iterators.
// RUN: %gmpicxx %all-lowerings %s -o %t
// RUN: %each-lowering %ranks 1-3 %t
#include "../Inputs/shape.h"

struct Countdown {
  int from;
  struct Iterator {
    int at;
    __device__ int operator*() const { return at; }
    __device__ Iterator &operator++() {
      --at;
      return *this;
    }
    __device__ bool operator!=(const Iterator &other) const { return at != other.at; }
  };
  __device__ Iterator begin() const { return {from}; }
  __device__ Iterator end() const { return {0}; }
};

__global__ void loops(int *out, int rank) {
  int thread = blockIdx.x * blockDim.x + threadIdx.x;
  int factors[] = {2, 3, 5}, kept = 0;
  for (int factor : factors) {
    int mine = rank * factor, sum;
    MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    kept += factor * thread + sum;
  }
  for (auto &factor : factors) {
    MPI_Barrier(MPI_COMM_WORLD);
    factor += thread;
  }
  for (int at : Countdown{3}) {
    MPI_Barrier(MPI_COMM_WORLD);
    kept = 2 * kept + at;
  }
  out[thread] = kept + factors[0] + 10 * factors[1] + 100 * factors[2];
}

int main(int argc, char **argv) {
  test::begin(&argc, &argv);
  test::check_shape<int>(
      "await-range-for",
      [](int *out, int blocks, int threads) { loops<<<blocks, threads>>>(out, test::rank); },
      [](int thread) {
        int kept = 10 * thread + 10 * (test::size * (test::size - 1) / 2);
        return 8 * kept + 3 * 4 + 2 * 2 + 1 + 532 + 111 * thread;
      });
  return test::end();
}
