// Lambdas without MPI in them, made before a call and called after it: capturing nothing, copies, references,
// both; as arguments of templates.
// RUN: %gmpicxx %all-lowerings %s -o %t
// RUN: %each-lowering %ranks 1-3 %t
#include "../Inputs/shape.h"

template <class F> __device__ int applied(const F &f, int n) { return f(n) + f(n + 1); }

__global__ void lambdas(int *out, int rank) {
  int thread = blockIdx.x * blockDim.x + threadIdx.x;
  int count = 0, scale = thread + 2, list[2] = {1, thread};
  auto square = [](int n) { return n * n; };
  auto scaled = [scale](int n) { return scale * n; };
  auto counted = [&count, scale](int n) {
    count += n;
    return count + scale;
  };
  auto all = [&](int n) { return list[n % 2] += scale + n; };
  auto renamed = [shift = 3 * thread](int n) mutable { return shift += n; };
  int mine = rank, sum;
  MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  int kept = square(thread) + scaled(10);
  scale += 1;
  kept += counted(5);
  MPI_Barrier(MPI_COMM_WORLD);
  kept += counted(6) + all(1);
  kept += renamed(2);
  MPI_Barrier(MPI_COMM_WORLD);
  kept += renamed(4) * 10 + all(0) + applied(scaled, 3) + applied([&](int n) { return n + sum; }, 1);
  MPI_Barrier(MPI_COMM_WORLD);
  out[thread] = kept + 100 * count + list[0] + 10 * list[1];
}

static int serial(int t) {
  int sum = test::size * (test::size - 1) / 2, scale = t + 2;
  int second = t + scale + 2, first = 1 + scale + 1;
  int kept = t * t + 10 * scale + (5 + scale) + (11 + scale) + second + (3 * t + 2);
  kept += (3 * t + 6) * 10 + first + scale * 7 + 3 + 2 * sum;
  return kept + 1100 + first + 10 * second;
}

int main(int argc, char **argv) {
  test::begin(&argc, &argv);
  test::check_shape<int>(
      "lambdas", [](int *out, int blocks, int threads) { lambdas<<<blocks, threads>>>(out, test::rank); },
      serial);
  return test::end();
}
