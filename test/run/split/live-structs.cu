// Structs live across calls: members of several sizes, nested, with member functions, assigned as a whole.
// RUN: %gmpicxx %all-lowerings %s -o %t
// RUN: %each-lowering %ranks 1-3 %t
#include "../Inputs/shape.h"

struct Point {
  double x;
  int tag;
  char name;
};
struct Line {
  Point from, to;
  int weights[3];
  __device__ double length() const { return to.x - from.x; }
  __device__ void shift(double by) {
    from.x += by;
    to.x += 2 * by;
  }
};
struct Bits {
  unsigned low : 3, high : 5;
};
union Either {
  int number;
  float real;
};

__global__ void structs(double *out, int rank) {
  int thread = blockIdx.x * blockDim.x + threadIdx.x;
  Line line{{thread * 0.5, thread, 'a'}, {thread * 2.0, rank, 'b'}, {1, 2, thread}};
  Point uniform{rank * 1.0, 5, 'u'};
  Bits bits{unsigned(thread) % 8, 9};
  Either either;
  either.real = 0.25f * thread;
  double sum;
  MPI_Allreduce(&uniform.x, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  line.shift(sum);
  Line copy = line;
  copy.weights[1] = 40;
  MPI_Barrier(MPI_COMM_WORLD);
  line.from = uniform;
  bits.high += 1;
  MPI_Barrier(MPI_COMM_WORLD);
  out[thread] = line.length() + copy.length() * 3 + copy.weights[1] + copy.weights[2] + line.weights[1] +
                line.to.tag + copy.from.tag + line.from.tag + copy.to.name + bits.low + bits.high + either.real;
}

static double serial(int thread) {
  double sum = test::size * (test::size - 1) / 2;
  double from = thread * 0.5 + sum, to = thread * 2.0 + 2 * sum;
  return (to - test::rank) + (to - from) * 3 + 40 + thread + 2 + test::rank + thread + 5 + 'b' +
         thread % 8 + 10 + 0.25 * thread;
}

int main(int argc, char **argv) {
  test::begin(&argc, &argv);
  test::check_shape<double>(
      "live-structs",
      [](double *out, int blocks, int threads) { structs<<<blocks, threads>>>(out, test::rank); }, serial);
  return test::end();
}
