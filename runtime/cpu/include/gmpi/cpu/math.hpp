// CUDA's integer and floating-point intrinsics and the functions that C's <math.h> does not have,
// as math.def lists them.
#pragma once

#include <math.h>
#include <stdlib.h>

#include <cmath>
#include <limits>

#include "gmpi/cpu/atomics.hpp"

namespace gmpi::cpu {
template <class T> constexpr T lesser(T a, T b) { return a < b ? a : b; }
template <class T> constexpr T greater(T a, T b) { return a < b ? b : a; }

inline unsigned long long reversed_bits(unsigned long long x) {
  unsigned long long r = 0;
  for (int i = 0; i < 64; ++i, x >>= 1)
    r = r << 1 | (x & 1);
  return r;
}

inline unsigned picked_bytes(unsigned x, unsigned y, unsigned selector) {
  const unsigned long long both = static_cast<unsigned long long>(y) << 32 | x;
  unsigned r = 0;
  for (int i = 0; i < 4; ++i) {
    const unsigned nibble = selector >> 4 * i;
    unsigned byte = static_cast<unsigned>(both >> 8 * (nibble & 7)) & 0xff;
    if (nibble & 8) // replicate the sign
      byte = byte & 0x80 ? 0xff : 0;
    r |= byte << 8 * i;
  }
  return r;
}

// Out of range gives the nearest value, NaN gives 0, as on a GPU.
template <class To, class From> To convert(From rounded) {
  if (rounded != rounded)
    return 0;
  if (rounded >= std::ldexp(From(1), std::numeric_limits<To>::digits))
    return std::numeric_limits<To>::max();
  if (rounded <= static_cast<From>(std::numeric_limits<To>::min()))
    return std::numeric_limits<To>::min();
  return static_cast<To>(rounded);
}
} // namespace gmpi::cpu

#define GMPI_MATH(side, result, name, parameters, ...)                                             \
  inline result name parameters { return __VA_ARGS__; }
// glibc's own declarations are noexcept.
#define GMPI_MATH_C(side, result, name, parameters, ...)                                           \
  extern "C" inline result name parameters noexcept { return __VA_ARGS__; }
#define GMPI_MATH_MISSING(side, result, name, parameters)
#define GMPI_MIN_MAX(A, B, R)                                                                      \
  constexpr R min(A a, B b) { return gmpi::cpu::lesser<R>(a, b); }                                 \
  constexpr R max(A a, B b) { return gmpi::cpu::greater<R>(a, b); }
#define GMPI_MIN_MAX_FLOAT(A, B, R, f)                                                             \
  inline R min(A a, B b) { return fmin##f(a, b); }                                                 \
  inline R max(A a, B b) { return fmax##f(a, b); }
#define GMPI_ROUND(from, From, to, To)                                                             \
  inline To __##from##2##to##_rn(From x) { return gmpi::cpu::convert<To>(std::nearbyint(x)); }     \
  inline To __##from##2##to##_rz(From x) { return gmpi::cpu::convert<To>(std::trunc(x)); }         \
  inline To __##from##2##to##_rd(From x) { return gmpi::cpu::convert<To>(std::floor(x)); }         \
  inline To __##from##2##to##_ru(From x) { return gmpi::cpu::convert<To>(std::ceil(x)); }
#include "gmpi/cpu/math.def"
