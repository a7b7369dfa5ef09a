#include "kernel.hpp"

#include <cstring>

namespace gmpi::cpu {

Kernel::Kernel(KernelLaunch from)
    : launch(std::move(from)), threads(launch.block.x * launch.block.y * launch.block.z),
      blocks(1ull * launch.grid.x * launch.grid.y * launch.grid.z),
      grid(static_cast<unsigned>(blocks)) {}

uint3 Kernel::block_index(unsigned long long rank) const {
  const dim3 &g = launch.grid;
  return {static_cast<unsigned>(rank % g.x), static_cast<unsigned>(rank / g.x % g.y),
          static_cast<unsigned>(rank / g.x / g.y)};
}

unsigned GridBarrier::arrive(Place place) {
  std::lock_guard lock(mutex_);
  const unsigned round = round_.load(std::memory_order_relaxed);
  if (arrived_++ == 0)
    first_ = place;
  else if (first_.line != place.line || std::strcmp(first_.file, place.file) != 0)
    fail("divergent grid barrier: some blocks are at %s:%u, this one is at %s:%u", first_.file,
         first_.line, place.file, place.line);
  open_if_complete();
  return round;
}

void GridBarrier::leave() {
  std::lock_guard lock(mutex_);
  --living_;
  open_if_complete();
}

void GridBarrier::open_if_complete() {
  if (arrived_ == 0 || arrived_ < living_)
    return;
  arrived_ = 0;
  round_.fetch_add(1, std::memory_order_release);
}

} // namespace gmpi::cpu
