// A kernel's segments, as a translated file names them.
#pragma once

#include "segment.hpp"

#include <vector>

namespace gmpi {

/// Copyable. Without segments: the kernel has no such lowering.
struct SplitKernel {
  split::Sizes sizes{};
  std::vector<const void *> segments; ///< by resume point
};

/// `segments`: kernels that take a Segment and the user's parameters, by resume point.
template <class... Segments> SplitKernel split_kernel(split::Sizes sizes, Segments *...segments) {
  return {sizes, {reinterpret_cast<const void *>(segments)...}};
}

} // namespace gmpi
