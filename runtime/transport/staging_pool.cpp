// First fit over an ordered map: pieces are few and live as long as a message.
#include "staging_pool.hpp"

#include <cassert>
#include <iterator>

namespace gmpi {

StagingPool::StagingPool(unsigned char *base, std::size_t bytes) : base_(base) {
  if (bytes / granule != 0)
    free_[0] = bytes / granule * granule;
}

unsigned char *StagingPool::take(std::size_t bytes) {
  std::size_t wanted = (bytes + granule - 1) / granule * granule;
  std::lock_guard lock(mutex_);
  for (auto hole = free_.begin(); hole != free_.end(); ++hole) {
    auto [offset, size] = *hole;
    if (size < wanted)
      continue;
    free_.erase(hole);
    if (size > wanted)
      free_[offset + wanted] = size - wanted;
    taken_[offset] = wanted;
    return base_ + offset;
  }
  return nullptr;
}

void StagingPool::give(unsigned char *piece) {
  std::lock_guard lock(mutex_);
  auto taken = taken_.find(static_cast<std::size_t>(piece - base_));
  assert(taken != taken_.end());
  auto [offset, size] = *taken;
  taken_.erase(taken);
  auto next = free_.lower_bound(offset);
  if (next != free_.end() && next->first == offset + size) {
    size += next->second;
    next = free_.erase(next);
  }
  if (next != free_.begin()) {
    auto previous = std::prev(next);
    if (previous->first + previous->second == offset) {
      previous->second += size;
      return;
    }
  }
  free_[offset] = size;
}

} // namespace gmpi
