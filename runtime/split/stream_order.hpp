// How the driver and streams wait for each other. A split kernel's segments do not run in the
// user's stream, so that is made to wait where the kernel would have run, until the driver says
// that the last segment is over. The driver learns from a mark behind each segment that it has
// ended. One implementation for each device: stream_order_cuda.cpp, stream_order_cpu.cpp.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <memory>

namespace gmpi::split {

/// Closes one stream at a time.
class StreamGate {
public:
  /// Whether the current device has what it takes. Where not, a launch must wait for its own end.
  static bool available();

  StreamGate();
  ~StreamGate();
  StreamGate(const StreamGate &) = delete;

  /// What `stream` is given from now on waits. Does not block.
  cudaError_t close(cudaStream_t stream);
  /// Any thread; makes no CUDA call.
  void open();

private:
  struct State;
  std::unique_ptr<State> state_;
};

/// How far a stream has come. For one thread.
class StreamMark {
public:
  StreamMark();
  ~StreamMark();
  StreamMark(const StreamMark &) = delete;

  /// Behind what `stream` holds now. Replaces the mark before.
  void set(cudaStream_t stream);
  /// Whether the stream has passed it. An error of the stream counts as that, and stays in error().
  bool is_passed();
  cudaError_t error() const { return error_; }

private:
  struct State;
  std::unique_ptr<State> state_;
  cudaError_t error_ = cudaSuccess;
};

/// Whether the stream's operations are being captured into a graph.
bool is_capturing(cudaStream_t stream);

/// A stream for segments: no other stream waits for it, and no waiting stream is in its way. CUDA
/// maps streams to a few hardware queues, and a stream that waits for a gate may block others of
/// its queue; streams of another priority have queues of their own.
cudaError_t make_segment_stream(cudaStream_t *stream);

} // namespace gmpi::split
