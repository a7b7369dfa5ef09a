// Pointers declared __restrict__, as parameters and as locals, live across calls.
// RUN: %gmpicxx %all-lowerings %s -o %t
// RUN: %each-lowering %ranks 1-3 %t
#include "../Inputs/shape.h"

__global__ void add(int *__restrict__ out, const int *__restrict__ a, const int *__restrict__ const b, int rank) {
  int thread = blockIdx.x * blockDim.x + threadIdx.x;
  const int *__restrict__ mine = a + thread;
  int *__restrict__ result = out + thread;
  int uniform = rank, sum;
  *result = mine[0] + b[thread];
  MPI_Allreduce(&uniform, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  *result += sum * mine[0];
  a = b;
  MPI_Barrier(MPI_COMM_WORLD);
  *result += 1000 * a[thread];
}

int main(int argc, char **argv) {
  test::begin(&argc, &argv);
  int most = 3 * 64;
  std::vector<int> numbers(most);
  for (int i = 0; i < most; ++i)
    numbers[i] = 3 * i + 1;
  test::Array<int> a(most), b(most, 5);
  a.write(numbers);
  test::check_shape<int>(
      "restrict-pointers",
      [&](int *out, int blocks, int threads) {
        add<<<blocks, threads>>>(out, a.data(), b.data(), test::rank);
      },
      [&](int thread) { return numbers[thread] * (1 + test::size * (test::size - 1) / 2) + 5 + 5000; });
  return test::end();
}
