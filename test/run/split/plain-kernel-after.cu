// Plain kernels before and after kernels with MPI, on the default stream: thousands of launches in order, none waiting
// inside CUDA.
// RUN: %gmpicxx %all-lowerings %s -o %t
// RUN: %each-lowering %ranks 1-3 %t
#include "../Inputs/shape.h"

__global__ void add_one(int *value) { ++*value; }

__global__ void pass_on(int *value, int next, int previous) {
  int own = *value + 1, got;
  MPI_Sendrecv(value, 1, MPI_INT, next, 0, &got, 1, MPI_INT, previous, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  if (blockIdx.x == 0 && threadIdx.x == 0)
    *value = got == own - 1 ? own : -1000000;
}

int main(int argc, char **argv) {
  test::begin(&argc, &argv);
  int launches = argc > 1 ? std::atoi(argv[1]) : 1000;
  test::Array<int> value(1, 0);
  for (int i = 0; i < launches; ++i) {
    pass_on<<<2, 8>>>(value.data(), test::next(), test::previous());
    add_one<<<1, 1>>>(value.data());
  }
  test::synchronize();
  test::expect_equal(value.read()[0], 2 * launches, "the value");
  return test::end();
}
