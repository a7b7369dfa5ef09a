// References live across calls: to locals, elements, members, parameters, global memory, references.
// RUN: %gmpicxx %all-lowerings %s -o %t
// RUN: %each-lowering %ranks 1-3 %t
#include "../Inputs/shape.h"

struct Pair {
  int first, second;
};

__global__ void references(int *out, int rank, int offset) {
  int thread = blockIdx.x * blockDim.x + threadIdx.x;
  int a = thread, b = 2 * thread, numbers[3] = {5, 6, 7};
  Pair pair{thread + 1, thread + 2};
  int &chosen = thread % 2 ? a : b;
  int &element = numbers[thread % 3];
  int &member = pair.second;
  const int &same = chosen;
  int &result = out[thread];
  int &parameter = offset;
  auto &&pairs = pair;
  int(&all)[3] = numbers;
  int mine = rank, sum;
  MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  chosen += 100;
  element += sum;
  member *= 2;
  parameter += 1;
  result = same;
  MPI_Barrier(MPI_COMM_WORLD);
  pairs.first += element;
  all[0] += 1;
  MPI_Barrier(MPI_COMM_WORLD);
  result += 2 * a + 3 * b + 5 * pair.first + 7 * pair.second + 11 * offset + numbers[0] + numbers[1] + numbers[2];
}

static int serial(int thread) {
  int sum = test::size * (test::size - 1) / 2, a = thread, b = 2 * thread;
  (thread % 2 ? a : b) += 100;
  int first = thread + 1 + 5 + thread % 3 + sum, second = 2 * (thread + 2);
  return (thread % 2 ? a : b) + 2 * a + 3 * b + 5 * first + 7 * second + 11 * 10 + 18 + sum + 1;
}

int main(int argc, char **argv) {
  test::begin(&argc, &argv);
  test::check_shape<int>(
      "reference-bound",
      [](int *out, int blocks, int threads) { references<<<blocks, threads>>>(out, test::rank, 9); }, serial);
  return test::end();
}
