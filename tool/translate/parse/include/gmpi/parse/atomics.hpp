// CUDA's atomic functions, declared.
#pragma once

namespace gmpi::parse {
template <class T> struct SameType {
  using Type = T;
};
template <class T> using Same = typename SameType<T>::Type;
} // namespace gmpi::parse

#define GMPI_PARSE_ATOMIC(name)                                                                    \
  template <class T> __device__ T name(T *address, gmpi::parse::Same<T> value);                    \
  template <class T> __device__ T name##_block(T *address, gmpi::parse::Same<T> value);            \
  template <class T> __device__ T name##_system(T *address, gmpi::parse::Same<T> value);
GMPI_PARSE_ATOMIC(atomicAdd)
GMPI_PARSE_ATOMIC(atomicSub)
GMPI_PARSE_ATOMIC(atomicMin)
GMPI_PARSE_ATOMIC(atomicMax)
GMPI_PARSE_ATOMIC(atomicAnd)
GMPI_PARSE_ATOMIC(atomicOr)
GMPI_PARSE_ATOMIC(atomicXor)
GMPI_PARSE_ATOMIC(atomicInc)
GMPI_PARSE_ATOMIC(atomicDec)
GMPI_PARSE_ATOMIC(atomicExch)
#undef GMPI_PARSE_ATOMIC

#define GMPI_PARSE_ATOMIC_CAS(name)                                                                \
  template <class T>                                                                               \
  __device__ T name(T *address, gmpi::parse::Same<T> expected, gmpi::parse::Same<T> value);
GMPI_PARSE_ATOMIC_CAS(atomicCAS)
GMPI_PARSE_ATOMIC_CAS(atomicCAS_block)
GMPI_PARSE_ATOMIC_CAS(atomicCAS_system)
#undef GMPI_PARSE_ATOMIC_CAS
