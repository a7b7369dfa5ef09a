// Calls inside the user's own switch: with break, falling through, in default, in loops around and inside.
// RUN: %gmpicxx %all-lowerings %s -o %t
// RUN: %each-lowering %ranks 1-3 %t
#include "../Inputs/shape.h"

__global__ void choose(int *out, int rank, int cases) {
  int thread = blockIdx.x * blockDim.x + threadIdx.x;
  int kept = 0;
  for (int which = 0; which < cases; ++which) {
    int mine = rank + which, sum = 0;
    switch (which) {
    case 0:
      MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
      kept += sum * thread;
      break;
    case 1: {
      int before = thread + 40;
      MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
      kept += before;
    } // falls through
    case 2:
      kept += 3;
      for (int i = 0; i < 3; ++i) {
        if (i == 2)
          break;
        MPI_Barrier(MPI_COMM_WORLD);
        kept += i + sum;
      }
      break;
    case 3:
    case 4:
      if (thread % 2)
        kept += 7;
      MPI_Barrier(MPI_COMM_WORLD);
      if (which == 3)
        break;
      kept *= 2;
      break;
    default:
      kept += 1000;
      MPI_Barrier(MPI_COMM_WORLD);
      continue;
    }
    kept += 1;
  }
  out[thread] = kept;
}

static int serial(int thread) {
  int kept = thread * test::size * (test::size - 1) / 2 + 1;
  int largest = test::size;
  kept += thread + 40 + 3 + 1 + 2 * largest + 1; // case 1 and on into 2
  kept += 3 + 1 + 1;                             // case 2
  kept += (thread % 2 ? 7 : 0) + 1;
  kept = (kept + (thread % 2 ? 7 : 0)) * 2 + 1;
  return kept + 2000;
}

int main(int argc, char **argv) {
  test::begin(&argc, &argv);
  test::check_shape<int>(
      "await-in-switch",
      [](int *out, int blocks, int threads) { choose<<<blocks, threads>>>(out, test::rank, 7); }, serial);
  return test::end();
}
