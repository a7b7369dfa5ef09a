// CUDA's atomic functions, and their _block and _system forms, on host atomics. They are stronger
// than CUDA's (sequentially consistent), which costs nothing on x86 and lets ThreadSanitizer follow
// them. Each tells the scheduler what it found, so that a loop that waits on atomics lets others
// run.
#pragma once

#include <cstring>
#include <type_traits>

#include "gmpi/cpu/builtins.hpp"

namespace gmpi::cpu {

template <std::size_t Bytes> struct WordOf;
template <> struct WordOf<2> { using Type = unsigned short; };
template <> struct WordOf<4> { using Type = unsigned; };
template <> struct WordOf<8> { using Type = unsigned long long; };
template <class T> using Word = typename WordOf<sizeof(T)>::Type;

// Not deduced: atomicAdd(&x, 1) takes its type from x, as CUDA's overloads do by conversion.
template <class T> struct SameType { using Type = T; };
template <class T> using Same = typename SameType<T>::Type;

template <class To, class From> To bits(From from) {
  static_assert(sizeof(To) == sizeof(From) && std::is_trivially_copyable_v<From>);
  To to;
  std::memcpy(&to, &from, sizeof to);
  return to;
}

// Replaces *p by f(*p) and returns what stood there.
template <class T, class F> T atomic_update(T *p, F f) {
  using W = Word<T>;
  auto *word = reinterpret_cast<W *>(p);
  W seen = __atomic_load_n(word, __ATOMIC_SEQ_CST);
  while (!__atomic_compare_exchange_n(word, &seen, bits<W>(static_cast<T>(f(bits<T>(seen)))), false,
                                      __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) {
  }
  note_atomic(p, seen);
  return bits<T>(seen);
}

template <class T> T atomic_exchange(T *p, T value) {
  using W = Word<T>;
  W seen = __atomic_exchange_n(reinterpret_cast<W *>(p), bits<W>(value), __ATOMIC_SEQ_CST);
  note_atomic(p, seen);
  return bits<T>(seen);
}

template <class T> T atomic_compare_exchange(T *p, T expected, T value) {
  using W = Word<T>;
  W seen = bits<W>(expected);
  __atomic_compare_exchange_n(reinterpret_cast<W *>(p), &seen, bits<W>(value), false,
                              __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
  note_atomic(p, seen);
  return bits<T>(seen);
}

} // namespace gmpi::cpu

#define GMPI_CPU_ATOMIC(name, condition, expression)                                               \
  template <class T> T name(T *p, gmpi::cpu::Same<T> value) {                                      \
    static_assert(condition, #name " does not take this type");                                    \
    return gmpi::cpu::atomic_update(p, [&]([[maybe_unused]] T old) { return expression; });        \
  }
#define GMPI_CPU_ATOMICS(name, condition, expression)                                              \
  GMPI_CPU_ATOMIC(name, condition, expression)                                                     \
  GMPI_CPU_ATOMIC(name##_block, condition, expression)                                             \
  GMPI_CPU_ATOMIC(name##_system, condition, expression)

GMPI_CPU_ATOMICS(atomicAdd, std::is_arithmetic_v<T>, static_cast<T>(old + value))
GMPI_CPU_ATOMICS(atomicSub, std::is_arithmetic_v<T>, static_cast<T>(old - value))
GMPI_CPU_ATOMICS(atomicMin, std::is_arithmetic_v<T>, old < value ? old : value)
GMPI_CPU_ATOMICS(atomicMax, std::is_arithmetic_v<T>, old < value ? value : old)
GMPI_CPU_ATOMICS(atomicAnd, std::is_integral_v<T>, static_cast<T>(old &value))
GMPI_CPU_ATOMICS(atomicOr, std::is_integral_v<T>, static_cast<T>(old | value))
GMPI_CPU_ATOMICS(atomicXor, std::is_integral_v<T>, static_cast<T>(old ^ value))
GMPI_CPU_ATOMICS(atomicInc, (std::is_same_v<T, unsigned>), old >= value ? T(0) : old + 1)
GMPI_CPU_ATOMICS(atomicDec, (std::is_same_v<T, unsigned>),
                 old == 0 || old > value ? value : old - 1)
#undef GMPI_CPU_ATOMICS
#undef GMPI_CPU_ATOMIC

#define GMPI_CPU_EXCHANGE(suffix)                                                                  \
  template <class T> T atomicExch##suffix(T *p, gmpi::cpu::Same<T> value) {                        \
    return gmpi::cpu::atomic_exchange<T>(p, value);                                                \
  }                                                                                                \
  template <class T>                                                                               \
  T atomicCAS##suffix(T *p, gmpi::cpu::Same<T> expected, gmpi::cpu::Same<T> value) {               \
    return gmpi::cpu::atomic_compare_exchange<T>(p, expected, value);                              \
  }
GMPI_CPU_EXCHANGE()
GMPI_CPU_EXCHANGE(_block)
GMPI_CPU_EXCHANGE(_system)
#undef GMPI_CPU_EXCHANGE
