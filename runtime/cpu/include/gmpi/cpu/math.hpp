// CUDA's integer and floating-point intrinsics and the functions that C's <math.h> does not have.
// The fast intrinsics (__expf ...) are the exact functions.
#pragma once

#include <math.h>
#include <stdlib.h>

#include <cmath>
#include <limits>

#include "gmpi/cpu/atomics.hpp"

namespace gmpi::cpu {
template <class T> constexpr T lesser(T a, T b) { return a < b ? a : b; }
template <class T> constexpr T greater(T a, T b) { return a < b ? b : a; }
} // namespace gmpi::cpu

// min and max: CUDA has them in the global namespace, for mixed signs too.
#define GMPI_CPU_MIN_MAX(A, B, R)                                                                  \
  constexpr R min(A a, B b) { return gmpi::cpu::lesser<R>(a, b); }                                 \
  constexpr R max(A a, B b) { return gmpi::cpu::greater<R>(a, b); }
GMPI_CPU_MIN_MAX(int, int, int)
GMPI_CPU_MIN_MAX(unsigned, unsigned, unsigned)
GMPI_CPU_MIN_MAX(int, unsigned, unsigned)
GMPI_CPU_MIN_MAX(unsigned, int, unsigned)
GMPI_CPU_MIN_MAX(long, long, long)
GMPI_CPU_MIN_MAX(unsigned long, unsigned long, unsigned long)
GMPI_CPU_MIN_MAX(long, unsigned long, unsigned long)
GMPI_CPU_MIN_MAX(unsigned long, long, unsigned long)
GMPI_CPU_MIN_MAX(long long, long long, long long)
GMPI_CPU_MIN_MAX(unsigned long long, unsigned long long, unsigned long long)
GMPI_CPU_MIN_MAX(long long, unsigned long long, unsigned long long)
GMPI_CPU_MIN_MAX(unsigned long long, long long, unsigned long long)
#undef GMPI_CPU_MIN_MAX
#define GMPI_CPU_FLOAT_MIN_MAX(A, B, R, f)                                                         \
  inline R min(A a, B b) { return fmin##f(a, b); }                                                 \
  inline R max(A a, B b) { return fmax##f(a, b); }
GMPI_CPU_FLOAT_MIN_MAX(float, float, float, f)
GMPI_CPU_FLOAT_MIN_MAX(double, double, double, )
GMPI_CPU_FLOAT_MIN_MAX(float, double, double, )
GMPI_CPU_FLOAT_MIN_MAX(double, float, double, )
#undef GMPI_CPU_FLOAT_MIN_MAX

// Integers.
inline int __popc(unsigned x) { return __builtin_popcount(x); }
inline int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
inline int __clz(int x) { return x == 0 ? 32 : __builtin_clz(static_cast<unsigned>(x)); }
inline int __clzll(long long x) {
  return x == 0 ? 64 : __builtin_clzll(static_cast<unsigned long long>(x));
}
inline int __ffs(int x) { return __builtin_ffs(x); }
inline int __ffsll(long long x) { return __builtin_ffsll(x); }
inline unsigned long long __brevll(unsigned long long x) {
  unsigned long long r = 0;
  for (int i = 0; i < 64; ++i, x >>= 1)
    r = r << 1 | (x & 1);
  return r;
}
inline unsigned __brev(unsigned x) { return static_cast<unsigned>(__brevll(x) >> 32); }
inline unsigned __byte_perm(unsigned x, unsigned y, unsigned selector) {
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
inline unsigned __funnelshift_l(unsigned low, unsigned high, unsigned shift) {
  return static_cast<unsigned>(
      (static_cast<unsigned long long>(high) << 32 | low) << (shift & 31) >> 32);
}
inline unsigned __funnelshift_r(unsigned low, unsigned high, unsigned shift) {
  return static_cast<unsigned>((static_cast<unsigned long long>(high) << 32 | low) >> (shift & 31));
}
inline int __mul24(int a, int b) { return (a << 8 >> 8) * (b << 8 >> 8); }
inline unsigned __umul24(unsigned a, unsigned b) { return (a & 0xffffff) * (b & 0xffffff); }
inline int __mulhi(int a, int b) { return static_cast<int>(static_cast<long long>(a) * b >> 32); }
inline unsigned __umulhi(unsigned a, unsigned b) {
  return static_cast<unsigned>(static_cast<unsigned long long>(a) * b >> 32);
}
inline long long __mul64hi(long long a, long long b) {
  return static_cast<long long>(static_cast<__int128>(a) * b >> 64);
}
inline unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
  return static_cast<unsigned long long>(static_cast<unsigned __int128>(a) * b >> 64);
}
inline unsigned __sad(int a, int b, unsigned c) { return (a < b ? b - a : a - b) + c; }
inline unsigned __usad(unsigned a, unsigned b, unsigned c) { return (a < b ? b - a : a - b) + c; }
inline int __hadd(int a, int b) { return static_cast<int>((static_cast<long long>(a) + b) >> 1); }

// Bits of floating-point numbers.
inline int __float_as_int(float x) { return gmpi::cpu::bits<int>(x); }
inline unsigned __float_as_uint(float x) { return gmpi::cpu::bits<unsigned>(x); }
inline float __int_as_float(int x) { return gmpi::cpu::bits<float>(x); }
inline float __uint_as_float(unsigned x) { return gmpi::cpu::bits<float>(x); }
inline long long __double_as_longlong(double x) { return gmpi::cpu::bits<long long>(x); }
inline double __longlong_as_double(long long x) { return gmpi::cpu::bits<double>(x); }
inline int __double2hiint(double x) { return static_cast<int>(__double_as_longlong(x) >> 32); }
inline int __double2loint(double x) { return static_cast<int>(__double_as_longlong(x)); }
inline double __hiloint2double(int high, int low) {
  return __longlong_as_double(static_cast<long long>(high) << 32 | static_cast<unsigned>(low));
}

// Conversions with a rounding: to nearest even (the host's own mode), towards zero, down, up.
// Out of range gives the nearest value, NaN gives 0, as on a GPU.
namespace gmpi::cpu {
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
#define GMPI_CPU_ROUND(from, From, to, To)                                                         \
  inline To __##from##2##to##_rn(From x) { return gmpi::cpu::convert<To>(std::nearbyint(x)); }     \
  inline To __##from##2##to##_rz(From x) { return gmpi::cpu::convert<To>(std::trunc(x)); }         \
  inline To __##from##2##to##_rd(From x) { return gmpi::cpu::convert<To>(std::floor(x)); }         \
  inline To __##from##2##to##_ru(From x) { return gmpi::cpu::convert<To>(std::ceil(x)); }
GMPI_CPU_ROUND(float, float, int, int)
GMPI_CPU_ROUND(float, float, uint, unsigned)
GMPI_CPU_ROUND(float, float, ll, long long)
GMPI_CPU_ROUND(float, float, ull, unsigned long long)
GMPI_CPU_ROUND(double, double, int, int)
GMPI_CPU_ROUND(double, double, uint, unsigned)
GMPI_CPU_ROUND(double, double, ll, long long)
GMPI_CPU_ROUND(double, double, ull, unsigned long long)
#undef GMPI_CPU_ROUND
inline float __int2float_rn(int x) { return static_cast<float>(x); }
inline float __uint2float_rn(unsigned x) { return static_cast<float>(x); }
inline float __ll2float_rn(long long x) { return static_cast<float>(x); }
inline float __double2float_rn(double x) { return static_cast<float>(x); }
inline double __int2double_rn(int x) { return x; }
inline double __uint2double_rn(unsigned x) { return x; }
inline double __ll2double_rn(long long x) { return static_cast<double>(x); }
inline double __ull2double_rn(unsigned long long x) { return static_cast<double>(x); }

// Arithmetic rounded to nearest, never contracted with what stands around it.
inline float __fadd_rn(float a, float b) { return a + b; }
inline float __fsub_rn(float a, float b) { return a - b; }
inline float __fmul_rn(float a, float b) { return a * b; }
inline float __fdiv_rn(float a, float b) { return a / b; }
inline float __fmaf_rn(float a, float b, float c) { return fmaf(a, b, c); }
inline float __frcp_rn(float a) { return 1.0f / a; }
inline float __fsqrt_rn(float a) { return sqrtf(a); }
inline double __dadd_rn(double a, double b) { return a + b; }
inline double __dsub_rn(double a, double b) { return a - b; }
inline double __dmul_rn(double a, double b) { return a * b; }
inline double __ddiv_rn(double a, double b) { return a / b; }
inline double __fma_rn(double a, double b, double c) { return fma(a, b, c); }
inline double __drcp_rn(double a) { return 1.0 / a; }
inline double __dsqrt_rn(double a) { return sqrt(a); }

// Functions that C does not have. (glibc declares some of the __names for itself: hence noexcept.)
inline float rsqrtf(float x) { return 1.0f / sqrtf(x); }
inline double rsqrt(double x) { return 1.0 / sqrt(x); }
inline float rsqrt(float x) { return rsqrtf(x); }
inline float rcbrtf(float x) { return 1.0f / cbrtf(x); }
inline double rcbrt(double x) { return 1.0 / cbrt(x); }
inline float __frsqrt_rn(float x) { return rsqrtf(x); }
inline float rhypotf(float x, float y) { return 1.0f / hypotf(x, y); }
inline double rhypot(double x, double y) { return 1.0 / hypot(x, y); }
inline float norm3df(float x, float y, float z) { return sqrtf(x * x + y * y + z * z); }
inline double norm3d(double x, double y, double z) { return sqrt(x * x + y * y + z * z); }
inline float rnorm3df(float x, float y, float z) { return 1.0f / norm3df(x, y, z); }
inline double rnorm3d(double x, double y, double z) { return 1.0 / norm3d(x, y, z); }
inline float saturate(float x) { return x != x || x < 0 ? 0 : x > 1 ? 1 : x; }
inline float __saturatef(float x) { return saturate(x); }
inline float fdividef(float a, float b) { return a / b; }
inline float __fdividef(float a, float b) { return a / b; }
inline double normcdf(double x) { return erfc(-x / 1.41421356237309504880) / 2; }
inline float normcdff(float x) { return static_cast<float>(normcdf(x)); }

extern "C" {
inline float __expf(float x) noexcept { return expf(x); }
inline float __logf(float x) noexcept { return logf(x); }
inline float __log2f(float x) noexcept { return log2f(x); }
inline float __log10f(float x) noexcept { return log10f(x); }
inline float __exp10f(float x) noexcept { return powf(10.0f, x); }
inline float __sinf(float x) noexcept { return sinf(x); }
inline float __cosf(float x) noexcept { return cosf(x); }
inline float __tanf(float x) noexcept { return tanf(x); }
inline float __powf(float x, float y) noexcept { return powf(x, y); }
inline void __sincosf(float x, float *s, float *c) noexcept { *s = sinf(x), *c = cosf(x); }
inline float sinpif(float x) noexcept { return sinf(x * 3.14159265358979323846f); }
inline float cospif(float x) noexcept { return cosf(x * 3.14159265358979323846f); }
inline double sinpi(double x) noexcept { return sin(x * 3.14159265358979323846); }
inline double cospi(double x) noexcept { return cos(x * 3.14159265358979323846); }
}
