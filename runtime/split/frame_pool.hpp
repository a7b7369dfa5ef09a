// Device memory for the frames of split kernels.
//
// Invariant: allocated at launches only, kept for later ones, and freed at MPI_Finalize: cudaFree
// waits for all kernels, and some of them may be waiting for the driver.
#pragma once

#include "segment.hpp"

#include <cuda_runtime.h>

#include <map>
#include <memory>
#include <mutex>
#include <vector>

namespace gmpi::split {

/// Where the parts of a launch's frame lie, in bytes from its beginning.
struct FrameLayout {
  std::uint64_t thread_slots; ///< threads of the grid, in whole warps
  std::uint64_t uniform[2], threads, blocks, dynamic, elected, at, end;
};
FrameLayout layout_of(const Sizes &sizes, dim3 grid, dim3 block,
                      std::uint64_t dynamic_shared_bytes);

/// One device's.
class FramePool {
public:
  /// A frame is given back when the last launch that uses it lets it go.
  using Frame = std::shared_ptr<unsigned char>;

  /// At least `bytes` on the current device; null where there is no memory.
  Frame take(std::uint64_t bytes);
  /// Of a frame that take() returned.
  static std::uint64_t size_class(std::uint64_t bytes);
  /// Once no frame is in use.
  void free_memory();

private:
  struct Spare {
    std::mutex mutex;
    std::map<std::uint64_t, std::vector<unsigned char *>> memory; ///< by size class
  };
  std::shared_ptr<Spare> spare_ = std::make_shared<Spare>();
};

} // namespace gmpi::split
