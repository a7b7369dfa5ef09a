// Reductions over a tile. All of its threads get the result.
#pragma once

#include "cooperative_groups.h"

#include <functional>

namespace cooperative_groups {

template <class T> using plus = std::plus<T>;
template <class T> using bit_and = std::bit_and<T>;
template <class T> using bit_or = std::bit_or<T>;
template <class T> using bit_xor = std::bit_xor<T>;
template <class T> struct less {
  T operator()(T a, T b) const { return a < b ? a : b; }
};
template <class T> struct greater {
  T operator()(T a, T b) const { return a < b ? b : a; }
};

template <class Group, class T, class F> T reduce(const Group &group, T value, F f, GMPI_CPU_HERE) {
  return gmpi::cpu::warp_reduce(group.mask(), value, {file, line}, f);
}

} // namespace cooperative_groups
