// Local arrays live across calls: of numbers, of structs, of two dimensions, with indices known and not.
// RUN: %gmpicxx %all-lowerings %s -o %t
// RUN: %each-lowering %ranks 1-3 %t
#include "../Inputs/shape.h"

struct Entry {
  int key;
  double value;
};

__global__ void arrays(double *out, int rank) {
  int thread = blockIdx.x * blockDim.x + threadIdx.x;
  int numbers[8];
  Entry entries[2] = {{thread, 0.5 * thread}, {rank, 0.25}};
  float table[2][3] = {};
  char text[] = "split";
  for (int i = 0; i < 8; ++i)
    numbers[i] = i * thread;
  int mine = rank + 1, sum;
  MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  numbers[thread % 8] += sum;
  entries[thread % 2].value += sum;
  table[thread % 2][sum % 3] = 4;
  text[thread % 5] = 'z';
  for (int i = 0; i < 3; ++i) {
    MPI_Barrier(MPI_COMM_WORLD);
    numbers[i] += numbers[7 - i];
    table[1][i] += i;
  }
  double kept = 0;
  for (int number : numbers)
    kept = 2 * kept + number;
  for (const Entry &entry : entries)
    kept += entry.key + 10 * entry.value;
  for (auto &row : table)
    for (float cell : row)
      kept = 3 * kept + cell;
  out[thread] = kept + text[2] + text[thread % 5];
}

static double serial(int thread) {
  int sum = test::size * (test::size + 1) / 2;
  double numbers[8], values[2] = {0.5 * thread, 0.25}, table[6] = {0, 0, 0, 0, 1, 2}, kept = 0;
  for (int i = 0; i < 8; ++i)
    numbers[i] = i * thread + (i == thread % 8 ? sum : 0);
  for (int i = 0; i < 3; ++i)
    numbers[i] += numbers[7 - i];
  values[thread % 2] += sum;
  table[thread % 2 * 3 + sum % 3] += 4;
  for (double number : numbers)
    kept = 2 * kept + number;
  kept += thread + 10 * values[0] + test::rank + 10 * values[1];
  for (double cell : table)
    kept = 3 * kept + cell;
  return kept + (thread % 5 == 2 ? 'z' : 'l') + 'z';
}

int main(int argc, char **argv) {
  test::begin(&argc, &argv);
  test::check_shape<double>(
      "live-arrays",
      [](double *out, int blocks, int threads) { arrays<<<blocks, threads>>>(out, test::rank); }, serial);
  return test::end();
}
