// Pointers swapped in every step, as Jacobi's iteration does: parameters and locals.
// RUN: %gmpicxx %all-lowerings %s -o %t
// RUN: %each-lowering %ranks 1-3 %t
#include "../Inputs/shape.h"

/// u and v have n points, and one of each neighbour's before and behind them.
__global__ void relax(double *u, double *v, int n, int steps, int next, int previous) {
  for (int step = 0; step < steps; ++step) {
    for (int i = 1 + blockIdx.x * blockDim.x + threadIdx.x; i <= n; i += gridDim.x * blockDim.x)
      v[i] = 0.5 * (u[i - 1] + u[i + 1]);
    MPI_Sendrecv(v + n, 1, MPI_DOUBLE, next, 0, v, 1, MPI_DOUBLE, previous, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    MPI_Sendrecv(v + 1, 1, MPI_DOUBLE, previous, 1, v + n + 1, 1, MPI_DOUBLE, next, 1, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    double *t = u;
    u = v;
    v = t;
  }
}

int main(int argc, char **argv) {
  test::begin(&argc, &argv);
  const int n = 10, steps = 7, all = n * test::size;
  auto start = [&](int i) { return double((i + all) % all * 16 % 64); };
  std::vector<double> serial(all), mine(n + 2);
  for (int i = 0; i < all; ++i)
    serial[i] = start(i);
  for (int step = 0; step < steps; ++step) {
    std::vector<double> old = serial;
    for (int i = 0; i < all; ++i)
      serial[i] = 0.5 * (old[(i + all - 1) % all] + old[(i + 1) % all]);
  }
  for (test::Grid grid : test::grids) {
    for (int i = 0; i < n + 2; ++i)
      mine[i] = start(test::rank * n + i - 1);
    test::Array<double> u(n + 2), v(n + 2);
    u.write(mine);
    relax<<<grid.blocks, grid.threads>>>(u.data(), v.data(), n, steps, test::next(), test::previous());
    test::synchronize();
    std::vector<double> got = v.read(); // after an odd number of steps
    for (int i = 0; i < n; ++i)
      test::expect_equal(got[i + 1], serial[test::rank * n + i], "swapped-pointers");
  }
  return test::end();
}
