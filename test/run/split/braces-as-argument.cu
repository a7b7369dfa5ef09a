// Lists in braces are passed to functions that suspend: what cannot be evaluated again in them is kept.
// RUN: %gmpicxx %all-lowerings %s -o %t
// RUN: %each-lowering %ranks 1-2 %t
#include "../Inputs/check.h"

struct Part {
  int first, count;
};
struct Made {
  int sum;
  __device__ Made(int a, int b, int more = 1) : sum(a + b + more) {}
};
/// Another number whenever it is asked. (In a list, C++ has an order.)
__device__ int next(int *number) { return (*number)++; }

__device__ int of_parts(int *number, Part a, Part b) {
  MPI_Barrier(MPI_COMM_WORLD);
  const int before = next(number);
  MPI_Barrier(MPI_COMM_WORLD);
  return a.first + 10 * a.count + 100 * b.first + 1000 * b.count + 10000 * before;
}
__device__ int of_made(Made made, const Part &part) {
  MPI_Barrier(MPI_COMM_WORLD);
  return made.sum + 10 * part.first + 100 * part.count;
}
__global__ void lists(int *results) {
  const int me = blockIdx.x * blockDim.x + threadIdx.x;
  int number = 1;
  results[2 * me] = of_parts(&number, {next(&number), next(&number)}, {.first = me % 2, .count = 3});
  results[2 * me + 1] = of_made({next(&number), 3}, Part{me % 2, 7});
}

int main(int argc, char **argv) {
  test::begin(&argc, &argv);
  constexpr int threads = 64;
  test::Array<int> results(2 * threads, -1);
  lists<<<2, threads / 2>>>(results.data());
  test::synchronize();
  test::expect_each(results, [](int i) {
    const int odd = i / 2 % 2;
    return i % 2 == 0 ? 1 + 10 * 2 + 100 * odd + 1000 * 3 + 10000 * 3 : 4 + 3 + 1 + 10 * odd + 100 * 7;
  }, "lists");
  return test::end();
}
