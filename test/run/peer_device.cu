// A communicator that kernels cannot carry binds kernels to no device. The program pretends that there are
// two, and rank 1 to have no file left for the memory that others would map.
// UNSUPPORTED: gpu
// RUN: %gmpicxx -Wl,--wrap=cudaGetDevice %s -o %t
// RUN: %mpiexec -n 2 %t 2>&1 | FileCheck %s
// CHECK-DAG: gmpi: rank 1: messages between kernels go by way of the host: device memory could not be allocated
// CHECK-DAG: {{^}}ok
#include "Inputs/check.h"

#include <sys/resource.h>

static int current_device = 0;

extern "C" cudaError_t __wrap_cudaGetDevice(int *device) {
  *device = current_device;
  return cudaSuccess;
}

__global__ void exchange(int *data, int next, int previous) {
  MPI_Sendrecv(data, 1, MPI_INT, next, 0, data + 1, 1, MPI_INT, previous, 0, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
}

int main(int argc, char **argv) {
  test::begin(&argc, &argv);
  rlimit files, none;
  getrlimit(RLIMIT_NOFILE, &files);
  none = files;
  none.rlim_cur = 3;
  if (test::rank == 1)
    setrlimit(RLIMIT_NOFILE, &none);
  test::assert_kernel_only(MPI_COMM_WORLD); // rank 0 has set itself up before it hears of rank 1
  setrlimit(RLIMIT_NOFILE, &files);
  current_device = 1;
  test::Array<int> data(2, test::rank);
  exchange<<<1, 32>>>(data.data(), test::next(), test::previous());
  test::synchronize();
  test::expect_equal(data.read()[1], test::previous(), "the message");
  return test::end();
}
