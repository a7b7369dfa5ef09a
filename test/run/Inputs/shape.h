// What the programs of test/run/split share: a kernel of one shape, run on several grids, each thread's
// result compared with a serial computation.
#pragma once

#include "check.h"

#include <type_traits>

namespace test {

struct Grid {
  int blocks, threads;
};

/// One thread, blocks smaller than a warp, blocks of two warps.
inline const std::vector<Grid> grids = {{1, 1}, {3, 5}, {3, 64}};

/// For each grid, launch(out, blocks, threads) fills an array that has one element a thread; element
/// i is to be wanted(i), or wanted(i, grid). Prints a sum, which every lowering is to print alike.
template <class T, class Launch, class Wanted>
void check_shape(const char *name, Launch launch, Wanted wanted, const std::vector<Grid> &on = grids) {
  double sum = 0;
  for (Grid grid : on) {
    Array<T> out(grid.blocks * grid.threads, T(-1));
    launch(out.data(), grid.blocks, grid.threads);
    synchronize();
    auto serial = [&](int i) {
      if constexpr (std::is_invocable_v<Wanted, int, Grid>)
        return wanted(i, grid);
      else
        return wanted(i);
    };
    expect_each(out, serial, name);
    for (T value : out.read())
      sum += double(value);
  }
  if (rank == 0)
    std::printf("%s: sum %.17g\n", name, sum);
}

/// What MPI_SUM makes of value(rank) on every rank, serially.
template <class Value> auto over_ranks(Value value) {
  decltype(value(0)) sum{};
  for (int r = 0; r < size; ++r)
    sum += value(r);
  return sum;
}

} // namespace test
