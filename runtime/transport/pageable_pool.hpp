// Ordinary host memory for messages that the staging pool has no room for. Buffers are kept for
// the next such message: memory fresh from the system costs more time than the message itself.
#pragma once

#include <cstddef>
#include <map>
#include <mutex>

namespace gmpi {

class PageablePool {
public:
  PageablePool() = default;
  PageablePool(const PageablePool &) = delete;
  ~PageablePool();

  /// At least `bytes`; null where the system has no more memory. Any thread.
  unsigned char *take(std::size_t bytes);
  /// Gives back what take() returned. Any thread.
  void give(unsigned char *buffer);

private:
  static constexpr std::size_t buffers_kept = 4;

  std::mutex mutex_;
  std::multimap<std::size_t, unsigned char *> spare_; ///< by size
  std::map<unsigned char *, std::size_t> taken_;
};

} // namespace gmpi
