// A kernel's segments, as a translated file names them.
#pragma once

#include "segment.hpp"

#include <initializer_list>
#include <vector>

namespace gmpi {

/// Copyable. Without segments: the kernel has no such lowering.
struct SplitKernel {
  split::Sizes sizes{};
  std::vector<const void *> segments; ///< by resume point
};

template <class... P>
SplitKernel split_kernel(split::Sizes sizes,
                         std::initializer_list<void (*)(Segment, P...)> segments) {
  SplitKernel kernel{sizes, {}};
  for (auto segment : segments)
    kernel.segments.push_back(reinterpret_cast<const void *>(segment));
  return kernel;
}

} // namespace gmpi
