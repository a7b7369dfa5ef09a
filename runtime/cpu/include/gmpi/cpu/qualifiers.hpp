// CUDA's qualifiers as the host compiler sees them. A kernel is a plain function here and a
// __device__ or __constant__ variable a plain global. __shared__ has no meaning to a host compiler
// (its storage belongs to a block): gmpi-translate rewrites it, so it is left undefined, and what
// was not translated does not compile.
#pragma once

#ifndef GMPI_DEVICE_CPU
#define GMPI_DEVICE_CPU 1
#endif
#ifndef __CUDACC__
#define __CUDACC__ 1
#endif
#define __CUDACC_VER_MAJOR__ 13
#define __CUDACC_VER_MINOR__ 0
#define CUDART_VERSION 13000
#define CUDA_VERSION 13000

#define __global__
#define __device__
#define __host__
#define __constant__
#define __managed__
#define __grid_constant__
#define __launch_bounds__(...)
#define __maxnreg__(...)
#define __forceinline__ inline __attribute__((always_inline))
// Empty, so that the standard library's own __attribute__((__noinline__)) stays valid.
#define __noinline__
#define __align__(n) __attribute__((aligned(n)))
#define __device_builtin__
#define __cudart_builtin__
#define CUDART_CB
#define CUDARTAPI
