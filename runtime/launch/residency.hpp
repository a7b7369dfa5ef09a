// Which kernels may wait for messages at the same time. A kernel with grid-scope calls needs all its
// blocks resident. A cooperative launch guarantees that, but whether two cooperative kernels run at
// the same time is neither promised nor measured here, and two kernels on two streams may wait for
// each other across ranks. So such a kernel is launched cooperatively only where its blocks might
// not find room beside those of the kernels in flight.
#pragma once

#include <vector>

namespace gmpi::launch {

/// What a kernel needs of a device.
struct Footprint {
  unsigned long long blocks = 0;
  unsigned per_multiprocessor = 0; ///< blocks that one multiprocessor holds, when it holds no others
};

/// Whether every kernel's blocks all find room on `multiprocessors`, however those of the others
/// are placed. False does not mean that they would not: the bound counts a multiprocessor as lost as
/// soon as the others could fill it so far that no block fits beside them.
bool all_find_room(const std::vector<Footprint> &kernels, unsigned multiprocessors);

} // namespace gmpi::launch
