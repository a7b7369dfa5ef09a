// CUDA's own mathematical functions, declared. What <math.h> has comes from there.
#pragma once

#define GMPI_PARSE_MIN_MAX(A, B, R)                                                                \
  __host__ __device__ R min(A a, B b);                                                             \
  __host__ __device__ R max(A a, B b);
GMPI_PARSE_MIN_MAX(int, int, int)
GMPI_PARSE_MIN_MAX(unsigned, unsigned, unsigned)
GMPI_PARSE_MIN_MAX(int, unsigned, unsigned)
GMPI_PARSE_MIN_MAX(unsigned, int, unsigned)
GMPI_PARSE_MIN_MAX(long, long, long)
GMPI_PARSE_MIN_MAX(unsigned long, unsigned long, unsigned long)
GMPI_PARSE_MIN_MAX(long, unsigned long, unsigned long)
GMPI_PARSE_MIN_MAX(unsigned long, long, unsigned long)
GMPI_PARSE_MIN_MAX(long long, long long, long long)
GMPI_PARSE_MIN_MAX(unsigned long long, unsigned long long, unsigned long long)
GMPI_PARSE_MIN_MAX(long long, unsigned long long, unsigned long long)
GMPI_PARSE_MIN_MAX(unsigned long long, long long, unsigned long long)
GMPI_PARSE_MIN_MAX(float, float, float)
GMPI_PARSE_MIN_MAX(double, double, double)
GMPI_PARSE_MIN_MAX(float, double, double)
GMPI_PARSE_MIN_MAX(double, float, double)
#undef GMPI_PARSE_MIN_MAX

#define GMPI_PARSE_UNARY(name)                                                                     \
  __host__ __device__ double name(double x);                                                       \
  __host__ __device__ float name##f(float x);
GMPI_PARSE_UNARY(rsqrt)
GMPI_PARSE_UNARY(rcbrt)
GMPI_PARSE_UNARY(sinpi)
GMPI_PARSE_UNARY(cospi)
GMPI_PARSE_UNARY(normcdf)
GMPI_PARSE_UNARY(normcdfinv)
GMPI_PARSE_UNARY(erfcx)
GMPI_PARSE_UNARY(erfinv)
GMPI_PARSE_UNARY(erfcinv)
#undef GMPI_PARSE_UNARY

#define GMPI_PARSE_FAST(name) __device__ float name(float x);
GMPI_PARSE_FAST(__expf)
GMPI_PARSE_FAST(__exp10f)
GMPI_PARSE_FAST(__logf)
GMPI_PARSE_FAST(__log2f)
GMPI_PARSE_FAST(__log10f)
GMPI_PARSE_FAST(__sinf)
GMPI_PARSE_FAST(__cosf)
GMPI_PARSE_FAST(__tanf)
GMPI_PARSE_FAST(__saturatef)
GMPI_PARSE_FAST(__frcp_rn)
GMPI_PARSE_FAST(__fsqrt_rn)
GMPI_PARSE_FAST(__frsqrt_rn)
#undef GMPI_PARSE_FAST
__device__ float __powf(float x, float y);
__device__ float __fdividef(float x, float y);
__device__ float __fadd_rn(float x, float y);
__device__ float __fsub_rn(float x, float y);
__device__ float __fmul_rn(float x, float y);
__device__ float __fdiv_rn(float x, float y);
__device__ float __fmaf_rn(float x, float y, float z);
__device__ double __dadd_rn(double x, double y);
__device__ double __dsub_rn(double x, double y);
__device__ double __dmul_rn(double x, double y);
__device__ double __ddiv_rn(double x, double y);
__device__ double __drcp_rn(double x);
__device__ double __dsqrt_rn(double x);
__device__ double __fma_rn(double x, double y, double z);
__device__ void __sincosf(float x, float *sine, float *cosine);
__host__ __device__ void sincospi(double x, double *sine, double *cosine);
__host__ __device__ void sincospif(float x, float *sine, float *cosine);

__device__ int __popc(unsigned x);
__device__ int __popcll(unsigned long long x);
__device__ int __clz(int x);
__device__ int __clzll(long long x);
__device__ int __ffs(int x);
__device__ int __ffsll(long long x);
__device__ unsigned __brev(unsigned x);
__device__ unsigned long long __brevll(unsigned long long x);
__device__ unsigned __byte_perm(unsigned x, unsigned y, unsigned selector);
__device__ unsigned __funnelshift_l(unsigned low, unsigned high, unsigned shift);
__device__ unsigned __funnelshift_r(unsigned low, unsigned high, unsigned shift);
__device__ int __mul24(int a, int b);
__device__ unsigned __umul24(unsigned a, unsigned b);
__device__ int __mulhi(int a, int b);
__device__ unsigned __umulhi(unsigned a, unsigned b);
__device__ long long __mul64hi(long long a, long long b);
__device__ unsigned long long __umul64hi(unsigned long long a, unsigned long long b);
__device__ unsigned __sad(int a, int b, unsigned c);
__device__ unsigned __usad(unsigned a, unsigned b, unsigned c);
__device__ int __hadd(int a, int b);
__device__ int __rhadd(int a, int b);

#define GMPI_PARSE_BITS(name, To, From) __device__ To name(From x);
GMPI_PARSE_BITS(__float_as_int, int, float)
GMPI_PARSE_BITS(__int_as_float, float, int)
GMPI_PARSE_BITS(__float_as_uint, unsigned, float)
GMPI_PARSE_BITS(__uint_as_float, float, unsigned)
GMPI_PARSE_BITS(__double_as_longlong, long long, double)
GMPI_PARSE_BITS(__longlong_as_double, double, long long)
GMPI_PARSE_BITS(__double2int_rn, int, double)
GMPI_PARSE_BITS(__double2int_rz, int, double)
GMPI_PARSE_BITS(__double2hiint, int, double)
GMPI_PARSE_BITS(__double2loint, int, double)
GMPI_PARSE_BITS(__double2float_rn, float, double)
GMPI_PARSE_BITS(__float2int_rn, int, float)
GMPI_PARSE_BITS(__float2int_rz, int, float)
GMPI_PARSE_BITS(__float2int_rd, int, float)
GMPI_PARSE_BITS(__float2int_ru, int, float)
GMPI_PARSE_BITS(__float2uint_rn, unsigned, float)
GMPI_PARSE_BITS(__float2uint_rz, unsigned, float)
GMPI_PARSE_BITS(__int2float_rn, float, int)
GMPI_PARSE_BITS(__uint2float_rn, float, unsigned)
GMPI_PARSE_BITS(__int2double_rn, double, int)
GMPI_PARSE_BITS(__ll2double_rn, double, long long)
#undef GMPI_PARSE_BITS
__device__ double __hiloint2double(int high, int low);
