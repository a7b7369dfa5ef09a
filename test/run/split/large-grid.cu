// A grid that does not fit on the device is split without being asked, and says so once.
// REQUIRES: lower-split
// Half a million fibers take ThreadSanitizer longer than a test may last.
// UNSUPPORTED: suite-thread
// RUN: %gmpicxx %all-lowerings %s -o %t
// RUN: env GMPI_LOWER=split %ranks 1-2 %t
// RUN: env -u GMPI_LOWER %mpiexec -n 1 %t 2>&1 | FileCheck %s
// RUN: %gmpicxx --lower=split %s -o %t
// RUN: %ranks 1-2 %t
// CHECK: gmpi: {{.*}}sums{{.*}}split
// CHECK-NOT: gmpi:
// CHECK: large-grid: sum
#include "../Inputs/shape.h"

__global__ void sums(int *out, int rank, int steps) {
  __shared__ int of_block;
  int thread = blockIdx.x * blockDim.x + threadIdx.x, kept = thread;
  if (threadIdx.x == 0)
    of_block = blockIdx.x;
  for (int step = 0; step < steps; ++step) {
    int mine = rank + step, sum;
    MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    kept += sum;
  }
  out[thread] = kept + 3 * of_block;
}

int main(int argc, char **argv) {
  test::begin(&argc, &argv);
  test::check_shape<int>(
      "large-grid", [](int *out, int blocks, int threads) { sums<<<blocks, threads>>>(out, test::rank, 3); },
      [](int t) {
        int kept = t + t / 64 * 3;
        for (int step = 0; step < 3; ++step)
          kept += test::over_ranks([&](int r) { return r + step; });
        return kept;
      },
      {{5000, 64}, {6000, 64}}); // a GPU of 132 multiprocessors holds 4224 such blocks at most
  return test::end();
}
