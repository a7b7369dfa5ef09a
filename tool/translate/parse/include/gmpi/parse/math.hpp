// CUDA's own mathematical functions, declared. What <math.h> has comes from there.
#pragma once

#define GMPI_MATH_device __device__
#define GMPI_MATH_both __host__ __device__
#define GMPI_MATH(side, result, name, parameters, ...) GMPI_MATH_##side result name parameters;
#define GMPI_MATH_C GMPI_MATH
#define GMPI_MATH_MISSING GMPI_MATH
#define GMPI_MIN_MAX(A, B, R)                                                                      \
  __host__ __device__ R min(A a, B b);                                                             \
  __host__ __device__ R max(A a, B b);
#define GMPI_MIN_MAX_FLOAT(A, B, R, f) GMPI_MIN_MAX(A, B, R)
#define GMPI_ROUND(from, From, to, To)                                                             \
  __device__ To __##from##2##to##_rn(From x);                                                      \
  __device__ To __##from##2##to##_rz(From x);                                                      \
  __device__ To __##from##2##to##_rd(From x);                                                      \
  __device__ To __##from##2##to##_ru(From x);
#include "gmpi/cpu/math.def"
#undef GMPI_MATH_device
#undef GMPI_MATH_both
