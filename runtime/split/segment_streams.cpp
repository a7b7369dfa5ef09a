// The stream given back last is taken first.
#include "segment_streams.hpp"

#include "stream_order.hpp"

namespace gmpi::split {

SegmentStreams::~SegmentStreams() {
  for (cudaStream_t stream : free_)
    cudaStreamDestroy(stream);
}

cudaStream_t SegmentStreams::take() {
  std::lock_guard lock(mutex_);
  cudaStream_t stream = nullptr;
  if (free_.empty())
    return make_segment_stream(&stream) == cudaSuccess ? stream : nullptr;
  stream = free_.back();
  free_.pop_back();
  return stream;
}

void SegmentStreams::give(cudaStream_t stream) {
  std::lock_guard lock(mutex_);
  free_.push_back(stream);
}

} // namespace gmpi::split
