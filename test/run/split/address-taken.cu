// Variables whose address is kept across calls: of locals, parameters, members, elements, of pointers.
// RUN: %gmpicxx %all-lowerings %s -o %t
// RUN: %each-lowering %ranks 1-3 %t
#include "../Inputs/shape.h"

struct Node {
  int value;
  Node *next;
};

__device__ void add(int *to, int n) { *to += n; }

__global__ void addresses(int *out, int rank, int offset) {
  int thread = blockIdx.x * blockDim.x + threadIdx.x;
  int local = thread, other = 100, numbers[4] = {1, 2, 3, 4};
  int *to = thread % 2 ? &local : &other, *element = numbers + thread % 4, *end = &numbers[4];
  int **twice = &to;
  int *parameter = &offset;
  Node second{20 * thread, nullptr}, first{3, &second};
  Node *node = &first;
  int mine = rank, sum;
  int *received = &sum;
  MPI_Allreduce(&mine, received, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  *to += *received + 1;
  *element += 10;
  add(&local, 1000);
  *parameter += thread;
  MPI_Barrier(MPI_COMM_WORLD);
  node = node->next;
  node->value += 1;
  **twice += 5;
  MPI_Barrier(MPI_COMM_WORLD);
  int kept = first.next->value + local + 3 * other + offset;
  for (int *at = numbers; at != end; ++at)
    kept = 2 * kept + *at;
  out[thread] = kept;
}

static int serial(int thread) {
  int sum = test::size * (test::size - 1) / 2 + 6;
  int local = thread + 1000 + (thread % 2 ? sum : 0), other = 100 + (thread % 2 ? 0 : sum);
  int kept = 20 * thread + 1 + local + 3 * other + 7 + thread;
  for (int i = 0; i < 4; ++i)
    kept = 2 * kept + i + 1 + (i == thread % 4 ? 10 : 0);
  return kept;
}

int main(int argc, char **argv) {
  test::begin(&argc, &argv);
  test::check_shape<int>(
      "address-taken",
      [](int *out, int blocks, int threads) { addresses<<<blocks, threads>>>(out, test::rank, 7); }, serial);
  return test::end();
}
