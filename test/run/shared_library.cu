// Kernels with MPI in a shared library, which a program is linked with or loads. There is one runtime and one
// Context, also where the library makes MPI calls of a scope that the program's own kernels do not make.
// UNSUPPORTED: gpu
// RUN: %gmpicxx -shared -fPIC %S/Inputs/shared_library.cu -o %t.so
// RUN: %gmpicxx %s -o %t %t.so
// RUN: %ranks 1-2 %t
// RUN: env GMPI_PEER=1 %ranks 2 %t
// RUN: %gmpicxx %s -o %t.loads -rdynamic
// RUN: %ranks 1-2 %t.loads %t.so
// RUN: env GMPI_PEER=1 %ranks 2 %t.loads %t.so
#include "Inputs/check.h"

#include <dlfcn.h>

extern "C" __attribute__((weak)) void launch_sum_of_ranks(int *data);

__global__ void pass_on(int *data, int value, int next, int previous) {
  if (threadIdx.x == 0)
    MPI_Sendrecv(&value, 1, MPI_INT, next, 0, data, 1, MPI_INT, previous, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
}

int main(int argc, char **argv) {
  test::begin(&argc, &argv);
  auto *launch = &launch_sum_of_ranks;
  if (argc > 1) {
    void *library = dlopen(argv[1], RTLD_NOW);
    if (!test::expect(library != nullptr, "%s", dlerror()))
      return test::end();
    launch = reinterpret_cast<void (*)(int *)>(dlsym(library, "launch_sum_of_ranks"));
  }
  test::Array<int> data(2);
  launch(data.data());
  pass_on<<<1, 32>>>(data.data() + 1, test::rank, test::next(), test::previous());
  test::synchronize();
  test::expect_equal(data.read()[0], test::size * (test::size + 1) / 2, "the sum");
  test::expect_equal(data.read()[1], test::previous(), "what was passed on");
  return test::end();
}
