// Variables without an initializer whose constructor does something, kept in the frame and not: arrays of them, in
// templates, and ranges that point into them.
// RUN: %gmpicxx %all-lowerings %s -o %t
// RUN: %each-lowering %ranks 1-2 %t
#include "../Inputs/check.h"

struct List {
  int items[4], count = 0;
  __device__ void add(int item) { items[count++] = item; }
  __device__ int *begin() { return items; }
  __device__ int *end() { return items + count; }
};
struct Given {
  int value;
  __device__ Given(int value = 3) : value(value) {}
};
template <class T> __device__ T summed(T more) {
  T all[2], one;
  all[1] = more;
  one = T();
  T *in = &all[1], *alone = &one;
  MPI_Barrier(MPI_COMM_WORLD);
  *alone = *in;
  MPI_Barrier(MPI_COMM_WORLD);
  return one;
}
__global__ void k(int *out) {
  int *mine = out + 6 * (blockIdx.x * blockDim.x + threadIdx.x);
  List list, lists[2];
  for (int i = 1; i < 4; ++i)
    list.add(i);
  lists[1].add(5);
  for (int item : list) {
    mine[0] = 10 * mine[0] + item;
    MPI_Barrier(MPI_COMM_WORLD);
  }
  lists[1].add(6);
  mine[1] = lists[0].count + 10 * lists[1].count;
  Given given, *where = &given, kept;
  MPI_Barrier(MPI_COMM_WORLD);
  where->value += 4;
  mine[2] = given.value + 10 * kept.value;
  mine[3] = summed(7);
  mine[4] = int(2 * summed(3.5));
  mine[5] = summed(Given(8)).value;
}

int main(int argc, char **argv) {
  test::begin(&argc, &argv);
  constexpr int threads = 64, wanted[] = {123, 20, 37, 7, 7, 8};
  test::Array<int> out(6 * threads, 0);
  k<<<2, threads / 2>>>(out.data());
  test::synchronize();
  test::expect_each(out, [&](int i) { return wanted[i % 6]; }, "what is kept");
  return test::end();
}
