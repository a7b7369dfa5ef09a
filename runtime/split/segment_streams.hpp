// The streams that segments run on. A launch takes one when its turn comes and gives it back at its
// end, so there are as many as launches run at a time, however many wait: CUDA maps streams to a
// handful of hardware queues, and one that shared its queue with a stream that waits at a gate
// would wait with it.
#pragma once

#include <cuda_runtime.h>

#include <mutex>
#include <vector>

namespace gmpi::split {

/// One device's. Any thread; the device is current.
class SegmentStreams {
public:
  ~SegmentStreams();
  /// A stream with nothing to do; null where CUDA refuses one.
  cudaStream_t take();
  void give(cudaStream_t stream);

private:
  std::mutex mutex_;
  std::vector<cudaStream_t> free_;
};

} // namespace gmpi::split
