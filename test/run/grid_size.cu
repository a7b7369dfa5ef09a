// A grid with calls of grid scope that does not fit on the device is refused, with the numbers; one
// with calls of narrower scopes may be of any size.
// LOWERINGS: queue (it shows what is refused; under split no grid is too large)
// RUN: %gmpicxx %s -o %t
// RUN: %ranks 1 %t
// RUN: not %mpiexec -n 1 %t too-large 2>&1 | FileCheck %s
// CHECK: gmpi: rank 0: kernel of_grid ({{.*}}grid_size.cu:[[@LINE+5]]) makes MPI calls for its whole grid
// CHECK-SAME: all 100000 blocks of its grid 50000x2x1 must be resident at once
// CHECK-SAME: with 64x1x1 threads a block and 128 bytes of dynamic shared memory this device holds {{[1-9][0-9]*}}:
#include "Inputs/check.h"

__global__ void of_grid(int *value) { MPI_Allreduce(MPI_IN_PLACE, value, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD); }

__global__ void of_block(int *data) {
  int *mine = data + blockIdx.x;
  MPI_Sendrecv(mine, 1, MPI_INT, 0, blockIdx.x, mine + gridDim.x, 1, MPI_INT, 0, blockIdx.x, MPI_COMM_SELF,
               MPI_STATUS_IGNORE);
}

int main(int argc, char **argv) {
  test::begin(&argc, &argv);
  test::Array<int> value(1, 1);
  if (argc > 1) {
    of_grid<<<dim3(50000, 2), 64, 128>>>(value.data());
    test::synchronize();
    return test::end();
  }

  int *pointer = value.data();
  void *arguments[] = {&pointer};
  cudaError_t error = cudaLaunchKernel(of_grid, 100000, 64, arguments);
  test::expect(error == cudaErrorCooperativeLaunchTooLarge, "cudaLaunchKernel says: %s",
               cudaGetErrorString(error));
  cudaGetLastError();
  of_grid<<<4, 64>>>(value.data());
  test::synchronize();
  test::expect_equal(value.read()[0], 1, "the value");

  int blocks = 1000; // the cpu device holds 256 of 64 threads
  test::Array<int> data(2 * blocks);
  std::vector<int> numbers(2 * blocks);
  for (int i = 0; i < blocks; ++i)
    numbers[i] = 3 * i;
  data.write(numbers);
  of_block<<<blocks, 64>>>(data.data());
  test::synchronize();
  test::expect_each(data, [&](int i) { return 3 * (i % blocks); }, "data");
  return test::end();
}
