// Lambdas that are passed to functions that suspend: by value and by reference, with what they return used or not; and
// what is made with one, once.
// RUN: %gmpicxx %all-lowerings %s -o %t
// RUN: %each-lowering %ranks 1-2 %t
#include "../Inputs/check.h"

template <class F> __device__ int by_value(F f, int value) {
  const int before = f(value);
  MPI_Barrier(MPI_COMM_WORLD);
  return before + f(value + 1);
}
template <class F> __device__ int by_constant(const F &f, int value) {
  const int before = f(value);
  MPI_Barrier(MPI_COMM_WORLD);
  return before + f(value + 1);
}
template <class F> __device__ void by_any(F &f) {
  f(1);
  MPI_Barrier(MPI_COMM_WORLD);
  f(2);
}
template <class F> struct Kept {
  F f;
  __device__ int operator()(int value) const { return f(value); }
};
template <class F> __device__ Kept<F> counted(F f, int *times) {
  ++*times;
  return {f};
}
__global__ void once(int *out) {
  const int me = blockIdx.x * blockDim.x + threadIdx.x;
  int *mine = out + 4 * me, times = 0, more = 0;
  mine[0] = by_constant(counted([=](int value) { return value + me; }, &times), 3);
  mine[1] = times;
  auto made = [&] { return ++more; }();
  int *in = &made;
  MPI_Barrier(MPI_COMM_WORLD);
  *in += 10;
  mine[2] = made;
  mine[3] = more;
}
__global__ void k(int *out, int n) {
  const int me = blockIdx.x * blockDim.x + threadIdx.x;
  int *mine = out + 4 * me;
  mine[0] = by_value([=](int value) { return value * n + me; }, 3);
  mine[1] = by_constant([n](int value) { return value - n; }, me);
  auto adds = [=](int value) { mine[2] += value * 10; };
  by_any(adds);
  auto kept = [=](int value) { return value + me; };
  mine[3] = by_constant(kept, 2) + by_value(kept, 4);
}

int main(int argc, char **argv) {
  test::begin(&argc, &argv);
  constexpr int threads = 64, n = 5;
  test::Array<int> out(4 * threads, 0);
  k<<<2, threads / 2>>>(out.data(), n);
  test::synchronize();
  test::expect_each(out, [](int i) {
    const int me = i / 4;
    const int wanted[] = {7 * n + 2 * me, 2 * me + 1 - 2 * n, 30, 14 + 4 * me};
    return wanted[i % 4];
  }, "what lambdas return");
  once<<<2, threads / 2>>>(out.data());
  test::synchronize();
  test::expect_each(out, [](int i) {
    const int wanted[] = {7 + 2 * (i / 4), 1, 11, 1};
    return wanted[i % 4];
  }, "what is made with them");
  return test::end();
}
