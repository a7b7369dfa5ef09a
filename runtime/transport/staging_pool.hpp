// Page-locked host memory for messages that do not fit beside their Attribute, handed out in
// pieces. Allocated once, when the device is set up: never while a kernel waits.
//
// Invariant: pieces are disjoint, multiples of `granule`, and free neighbours are merged.
#pragma once

#include <cstddef>
#include <map>
#include <mutex>

namespace gmpi {

class StagingPool {
public:
  static constexpr std::size_t granule = 4096;

  /// Hands out [base, base + bytes); the caller keeps ownership of the memory itself.
  StagingPool(unsigned char *base, std::size_t bytes);

  /// A piece of at least `bytes`, or null where none is free. Any thread.
  unsigned char *take(std::size_t bytes);
  /// Gives back what take() returned. Any thread.
  void give(unsigned char *piece);

private:
  std::mutex mutex_;
  unsigned char *base_;
  std::map<std::size_t, std::size_t> free_;  ///< offset → bytes
  std::map<std::size_t, std::size_t> taken_; ///< offset → bytes
};

} // namespace gmpi
