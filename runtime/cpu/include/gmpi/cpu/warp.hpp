// Votes, shuffles, matches and reductions between the 32 threads of a warp. Fibers do not run in
// lockstep: every one of these is an exchange that waits until each living lane of the mask has
// come to the same kind of operation with the same mask, as on GPUs with independent thread
// scheduling.
#pragma once

#include "gmpi/cpu/atomics.hpp"
#include "gmpi/cpu/builtins.hpp"

namespace gmpi::cpu {

enum class WarpKind { sync, vote, shuffle, match, reduce };

// What the lanes gave. `lanes`: those that took part, the living ones of the mask; others have no
// value. `not_zero`: those that gave a value other than 0.
struct WarpValues {
  unsigned lanes, not_zero;
  unsigned long long value[32];
};
// What it returns is there until the same thread's next exchange.
const WarpValues &warp_exchange(WarpKind kind, unsigned mask, unsigned long long value,
                                Place place);

unsigned lane_id() noexcept;

// The lanes that gave a value other than 0.
inline unsigned warp_ballot(unsigned mask, bool predicate, Place place) {
  return warp_exchange(WarpKind::vote, mask, predicate, place).not_zero;
}

// A shuffle within segments of `width` lanes. `source` gives the lane to read, relative to the
// calling lane's segment; lanes outside of the segment, or not taking part, leave the own value.
template <class T, class F>
T warp_shuffle(unsigned mask, T value, int width, Place place, F source) {
  static_assert(sizeof(T) == 2 || sizeof(T) == 4 || sizeof(T) == 8,
                "shuffles take 2, 4 or 8 bytes");
  const WarpValues &all = warp_exchange(WarpKind::shuffle, mask, bits<Word<T>>(value), place);
  const int lane = static_cast<int>(lane_id());
  const int first = lane & ~(width - 1);
  const int from = source(lane - first);
  if (from < 0 || from >= width || !(all.lanes >> (first + from) & 1))
    return value;
  return bits<T>(static_cast<Word<T>>(all.value[first + from]));
}

template <class T, class F> T warp_reduce(unsigned mask, T value, Place place, F f) {
  const WarpValues &all = warp_exchange(WarpKind::reduce, mask, bits<Word<T>>(value), place);
  bool first = true;
  T result{};
  for (unsigned lane = 0; lane < 32; ++lane) {
    if (!(all.lanes >> lane & 1))
      continue;
    const T next = bits<T>(static_cast<Word<T>>(all.value[lane]));
    result = first ? next : static_cast<T>(f(result, next));
    first = false;
  }
  return result;
}

} // namespace gmpi::cpu

inline void __syncwarp(unsigned mask = 0xffffffffu, GMPI_CPU_HERE) {
  gmpi::cpu::warp_exchange(gmpi::cpu::WarpKind::sync, mask, 0, {file, line});
}
// No two fibers are ever known to be converged, and CUDA promises no more: the caller alone.
inline unsigned __activemask() { return 1u << gmpi::cpu::lane_id(); }

inline unsigned __ballot_sync(unsigned mask, int predicate, GMPI_CPU_HERE) {
  return gmpi::cpu::warp_ballot(mask, predicate, {file, line});
}
inline int __any_sync(unsigned mask, int predicate, GMPI_CPU_HERE) {
  return gmpi::cpu::warp_ballot(mask, predicate, {file, line}) != 0;
}
inline int __all_sync(unsigned mask, int predicate, GMPI_CPU_HERE) {
  return gmpi::cpu::warp_ballot(mask, !predicate, {file, line}) == 0;
}
inline int __uni_sync(unsigned mask, int predicate, GMPI_CPU_HERE) {
  const auto &all =
      gmpi::cpu::warp_exchange(gmpi::cpu::WarpKind::vote, mask, predicate != 0, {file, line});
  return all.not_zero == 0 || all.not_zero == all.lanes;
}

template <class T>
T __shfl_sync(unsigned mask, T value, int source, int width = warpSize, GMPI_CPU_HERE) {
  return gmpi::cpu::warp_shuffle(mask, value, width, {file, line},
                                 [=](int) { return source & (width - 1); });
}
template <class T>
T __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = warpSize, GMPI_CPU_HERE) {
  return gmpi::cpu::warp_shuffle(mask, value, width, {file, line},
                                 [=](int lane) { return lane - static_cast<int>(delta); });
}
template <class T>
T __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = warpSize, GMPI_CPU_HERE) {
  return gmpi::cpu::warp_shuffle(mask, value, width, {file, line},
                                 [=](int lane) { return lane + static_cast<int>(delta); });
}
template <class T>
T __shfl_xor_sync(unsigned mask, T value, int lanes, int width = warpSize, GMPI_CPU_HERE) {
  return gmpi::cpu::warp_shuffle(mask, value, width, {file, line},
                                 [=](int lane) { return lane ^ lanes; });
}

template <class T> unsigned __match_any_sync(unsigned mask, T value, GMPI_CPU_HERE) {
  const auto mine = gmpi::cpu::bits<gmpi::cpu::Word<T>>(value);
  const auto &all = gmpi::cpu::warp_exchange(gmpi::cpu::WarpKind::match, mask, mine, {file, line});
  unsigned same = 0;
  for (unsigned lane = 0; lane < 32; ++lane)
    if (all.lanes >> lane & 1 && all.value[lane] == mine)
      same |= 1u << lane;
  return same;
}
template <class T>
unsigned __match_all_sync(unsigned mask, T value, int *predicate, GMPI_CPU_HERE) {
  const auto mine = gmpi::cpu::bits<gmpi::cpu::Word<T>>(value);
  const auto &all = gmpi::cpu::warp_exchange(gmpi::cpu::WarpKind::match, mask, mine, {file, line});
  *predicate = 1;
  for (unsigned lane = 0; lane < 32; ++lane)
    if (all.lanes >> lane & 1 && all.value[lane] != mine)
      *predicate = 0;
  return *predicate ? all.lanes : 0;
}

#define GMPI_CPU_REDUCE(name, T, expression)                                                       \
  inline T name(unsigned mask, T value, GMPI_CPU_HERE) {                                           \
    return gmpi::cpu::warp_reduce(mask, value, {file, line}, [](T a, T b) { return expression; }); \
  }
GMPI_CPU_REDUCE(__reduce_add_sync, unsigned, a + b)
GMPI_CPU_REDUCE(__reduce_add_sync, int, a + b)
GMPI_CPU_REDUCE(__reduce_min_sync, unsigned, a < b ? a : b)
GMPI_CPU_REDUCE(__reduce_min_sync, int, a < b ? a : b)
GMPI_CPU_REDUCE(__reduce_max_sync, unsigned, a < b ? b : a)
GMPI_CPU_REDUCE(__reduce_max_sync, int, a < b ? b : a)
GMPI_CPU_REDUCE(__reduce_and_sync, unsigned, a &b)
GMPI_CPU_REDUCE(__reduce_or_sync, unsigned, a | b)
GMPI_CPU_REDUCE(__reduce_xor_sync, unsigned, a ^ b)
#undef GMPI_CPU_REDUCE
