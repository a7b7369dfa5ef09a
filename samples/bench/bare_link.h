// The limits of what goes from kernel to kernel: bare stores into the other ranks' memory (CUDA
// IPC). Nothing is matched, no call is made, and the blocks of a grid do not meet.
#pragma once

#include "bench.h"

#include <cstdint>

namespace bare {

/// Memory of each rank that all others have mapped, while this lives. All ranks make it, call its
/// functions and destroy it, in the same order. A function's cell is empty where it is not
/// available, or not for so many bytes.
class Link {
public:
  /// stores() takes up to so many bytes.
  explicit Link(const bench::Bench &bench, std::size_t most_stored = 0);
  ~Link();
  Link(const Link &) = delete;
  Link &operator=(const Link &) = delete;

  bool available() const { return why_not_.empty(); }
  /// Why not; empty where it is.
  const std::string &why_not() const { return why_not_; }

  /// Two ranks: microseconds that up to 64 KiB take one way, from one block to the other's, in
  /// packets that show by themselves that they are there. `compute` microseconds precede each.
  bench::Cell one_way(bench::Bench &bench, std::size_t bytes, double compute = 0);
  /// Two ranks: microseconds that as many bytes take a grid to store, one message behind the other.
  bench::Cell stores(bench::Bench &bench, std::size_t bytes);
  /// Microseconds until each rank has the sum of all ranks' doubles, up to 64 KiB of them: each
  /// thread sends its packets to all, and waits for theirs.
  bench::Cell all_reduce(bench::Bench &bench, std::size_t bytes);

private:
  void wait_for_kernel() const;

  std::string why_not_;
  int rank_, ranks_;
  std::vector<unsigned char *> memory_; ///< of each rank, as this one has it mapped
  std::uint32_t lap_ = 1;               ///< of the next packet
  unsigned *gave_up_ = nullptr;
};

} // namespace bare
