// Best fit among the spare buffers, if it is not far too large.
#include "pageable_pool.hpp"

#include <cstdlib>

namespace gmpi {

PageablePool::~PageablePool() {
  for (auto &[bytes, buffer] : spare_)
    std::free(buffer);
  for (auto &[buffer, bytes] : taken_)
    std::free(buffer);
}

unsigned char *PageablePool::take(std::size_t bytes) {
  std::lock_guard lock(mutex_);
  auto spare = spare_.lower_bound(bytes);
  if (spare != spare_.end() && spare->first <= 2 * bytes) {
    auto [size, buffer] = *spare;
    spare_.erase(spare);
    taken_[buffer] = size;
    return buffer;
  }
  auto *buffer = static_cast<unsigned char *>(std::malloc(bytes));
  if (buffer != nullptr)
    taken_[buffer] = bytes;
  return buffer;
}

void PageablePool::give(unsigned char *buffer) {
  std::lock_guard lock(mutex_);
  auto taken = taken_.find(buffer);
  spare_.emplace(taken->second, buffer);
  taken_.erase(taken);
  if (spare_.size() <= buffers_kept)
    return;
  std::free(spare_.begin()->second); // the smallest
  spare_.erase(spare_.begin());
}

} // namespace gmpi
