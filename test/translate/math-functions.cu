// The list of mathematical functions is CUDA's: nvcc knows each of them with this very type, and so do
// the translator's own CUDA headers and, but for what it lacks, the cpu device.
// RUN: rm -rf %t && split-file %s %t && cd %t
// RUN: cp %source-dir/runtime/cpu/include/gmpi/cpu/math.def .
// RUN: %gmpi-translate --cuda-path=none in.cu -o out.cu
// RUN: %compile-cuda out.cu
// RUN: %gmpi-translate --device=cpu in.cu -o cpu.cu
// RUN: %compile-cpu cpu.cu

//--- in.cu
#define GMPI_MATH(side, result, name, parameters, ...) take<result parameters>(name);
#define GMPI_MATH_C GMPI_MATH
#ifdef GMPI_DEVICE_CPU
#define GMPI_MATH_MISSING(...)
#else
#define GMPI_MATH_MISSING GMPI_MATH
#endif
#define GMPI_MIN_MAX(A, B, R) take<R(A, B)>(min), take<R(A, B)>(max);
#define GMPI_MIN_MAX_FLOAT(A, B, R, f) GMPI_MIN_MAX(A, B, R)
#define GMPI_ROUND(from, From, to, To)                                                             \
  take<To(From)>(__##from##2##to##_rn), take<To(From)>(__##from##2##to##_rz);                      \
  take<To(From)>(__##from##2##to##_rd), take<To(From)>(__##from##2##to##_ru);
template <class F> __device__ void take(F *) {}
__global__ void all() {
#include "math.def"
}
