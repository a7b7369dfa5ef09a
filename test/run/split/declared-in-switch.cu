// Variables that are declared between a switch's labels, each case by itself and one through another.
// RUN: %gmpicxx %all-lowerings %s -o %t
// RUN: %each-lowering %ranks 1-2 %t
#include "../Inputs/check.h"

struct Pair {
  int a, b;
};
__global__ void cases(int *out, int which) {
  const int me = blockIdx.x * blockDim.x + threadIdx.x;
  int *mine = out + 2 * me;
  switch (which) {
    int early;
  case 0:
    int value, several[3];
    value = me;
    several[1] = 5;
    MPI_Barrier(MPI_COMM_WORLD);
    mine[0] = value + several[1];
    early = 1;
    break;
  case 1:
    value = 10 * me;
    [[fallthrough]];
  case 2: {
    if (which == 2)
      value = 20 * me;
    Pair pair;
    pair.b = me + 3;
    early = 7;
    MPI_Barrier(MPI_COMM_WORLD);
    mine[1] = pair.b;
  }
    MPI_Barrier(MPI_COMM_WORLD);
    mine[0] = value + early;
    break;
  default:
    several[2] = me + which;
    for (int i = 0; i < 2; ++i) {
      MPI_Barrier(MPI_COMM_WORLD);
      mine[0] += several[2];
    }
    early = 0;
  }
}

int main(int argc, char **argv) {
  test::begin(&argc, &argv);
  constexpr int threads = 64;
  for (int which = 0; which < 4; ++which) {
    test::Array<int> out(2 * threads, 0);
    cases<<<2, threads / 2>>>(out.data(), which);
    test::synchronize();
    test::expect_each(out, [=](int i) {
      const int me = i / 2;
      if (i % 2 != 0)
        return which == 1 || which == 2 ? me + 3 : 0;
      return which == 0 ? me + 5 : which == 3 ? 2 * (me + 3) : 10 * which * me + 7;
    }, "what a case leaves");
  }
  return test::end();
}
