// Two stencils as codes have them: Laplace's equation on a square (5 points, hardly anything to
// compute), and the Himeno benchmark's pressure equation in a cube (19 points, 14 arrays).
//
// Each has n points in every dimension and a layer of cells around them, which stays as it is. The
// dimension called x counts fastest, and points side by side in it make a row. A sweep reads the
// cells `from` and writes those at `to`, the array behind it.
#pragma once

#include <cstddef>

struct Square {
  using Value = double;
  static constexpr int arrays = 2;
  static constexpr const char *name = "Laplace, 5 points on a square";

  Value *from, *to;
  int n;

  __host__ __device__ std::size_t cells() const { return std::size_t(n + 2) * (n + 2); }
  __host__ __device__ int rows() const { return n; }
  /// The cell of a row's first point.
  __host__ __device__ int row(int number) const { return (number + 1) * (n + 2) + 1; }

  __host__ __device__ Value relaxed(int i) const {
    return 0.25 * ((from[i - n - 2] + from[i + n + 2]) + (from[i - 1] + from[i + 1]));
  }

  /// What element i of all arrays is at first.
  Value given(std::size_t i) const { return 0.01 * (i % 97); }
};

struct Cube {
  using Value = float;
  static constexpr int arrays = 14;
  static constexpr const char *name = "Himeno, 19 points in a cube";
  /// Behind `from` and `to`: the matrix's coefficients, the source term, the boundary's mask.
  enum Array { a = 2, b = 6, c = 9, source = 12, mask = 13 };

  Value *from, *to;
  int n;

  __host__ __device__ std::size_t cells() const { return std::size_t(n + 2) * (n + 2) * (n + 2); }
  __host__ __device__ int rows() const { return n * n; }
  __host__ __device__ int row(int number) const {
    return ((number / n + 1) * (n + 2) + number % n + 1) * (n + 2) + 1;
  }

  __host__ __device__ Value factor(int array, int i) const { return from[array * cells() + i]; }

  __host__ __device__ Value relaxed(int i) const {
    const int y = n + 2, z = (n + 2) * (n + 2);
    const Value *p = from + i;
    Value sum = factor(a, i) * p[1] + factor(a + 1, i) * p[y] + factor(a + 2, i) * p[z] +
                factor(b, i) * (p[1 + y] - p[1 - y] - p[y - 1] + p[-1 - y]) +
                factor(b + 1, i) * (p[y + z] - p[y - z] - p[z - y] + p[-y - z]) +
                factor(b + 2, i) * (p[1 + z] - p[1 - z] - p[z - 1] + p[-1 - z]) +
                factor(c, i) * p[-1] + factor(c + 1, i) * p[-y] + factor(c + 2, i) * p[-z] +
                factor(source, i);
    return *p + Value(0.8) * ((sum * factor(a + 3, i) - *p) * factor(mask, i));
  }

  Value given(std::size_t i) const {
    return i / cells() == a + 3 ? Value(1) / 6 : Value(0.01) * (i % 89);
  }
};
