// CUDA's vector types and their make_ functions, with CUDA's sizes and alignments, and dim3.
#pragma once

#define GMPI_CPU_VECTOR(base, T, align2, align4)                                                   \
  struct base##1 {                                                                                 \
    T x;                                                                                           \
  };                                                                                               \
  struct alignas(align2) base##2 {                                                                 \
    T x, y;                                                                                        \
  };                                                                                               \
  struct base##3 {                                                                                 \
    T x, y, z;                                                                                     \
  };                                                                                               \
  struct alignas(align4) base##4 {                                                                 \
    T x, y, z, w;                                                                                  \
  };                                                                                               \
  constexpr base##1 make_##base##1(T x) { return {x}; }                                            \
  constexpr base##2 make_##base##2(T x, T y) { return {x, y}; }                                    \
  constexpr base##3 make_##base##3(T x, T y, T z) { return {x, y, z}; }                            \
  constexpr base##4 make_##base##4(T x, T y, T z, T w) { return {x, y, z, w}; }                    \
  static_assert(sizeof(base##3) == 3 * sizeof(T) && sizeof(base##4) == 4 * sizeof(T), #base)

GMPI_CPU_VECTOR(char, signed char, 2, 4);
GMPI_CPU_VECTOR(uchar, unsigned char, 2, 4);
GMPI_CPU_VECTOR(short, short, 4, 8);
GMPI_CPU_VECTOR(ushort, unsigned short, 4, 8);
GMPI_CPU_VECTOR(int, int, 8, 16);
GMPI_CPU_VECTOR(uint, unsigned int, 8, 16);
GMPI_CPU_VECTOR(long, long, 16, 16);
GMPI_CPU_VECTOR(ulong, unsigned long, 16, 16);
GMPI_CPU_VECTOR(longlong, long long, 16, 16);
GMPI_CPU_VECTOR(ulonglong, unsigned long long, 16, 16);
GMPI_CPU_VECTOR(float, float, 8, 16);
GMPI_CPU_VECTOR(double, double, 16, 16);
#undef GMPI_CPU_VECTOR

struct dim3 {
  unsigned x, y, z;
  constexpr dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z) {}
  constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
  constexpr operator uint3() const { return {x, y, z}; }
};
