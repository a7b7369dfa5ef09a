// On the cpu device a stream can wait for an event that the host sets.
#include "stream_order.hpp"

#include <gmpi/cpu.hpp>

namespace gmpi::split {

struct StreamGate::State {
  std::shared_ptr<void> closed;
};

bool StreamGate::available() { return true; }

StreamGate::StreamGate() : state_(std::make_unique<State>()) {}
StreamGate::~StreamGate() = default;

cudaError_t StreamGate::close(cudaStream_t stream) {
  state_->closed = cpu::hold_stream(stream);
  return state_->closed ? cudaSuccess : cudaErrorInvalidResourceHandle;
}

void StreamGate::open() {
  cpu::release_stream(state_->closed);
  state_->closed.reset();
}

struct StreamMark::State {
  cudaStream_t stream = nullptr;
};

StreamMark::StreamMark() : state_(std::make_unique<State>()) {}
StreamMark::~StreamMark() = default;

void StreamMark::set(cudaStream_t stream) { state_->stream = stream; }

/// Nothing is put behind a mark before it is passed.
bool StreamMark::is_passed() {
  cudaError_t error = cudaStreamQuery(state_->stream);
  error_ = error == cudaErrorNotReady ? cudaSuccess : error;
  return error != cudaErrorNotReady;
}

bool is_capturing(cudaStream_t) { return false; }

cudaError_t make_segment_stream(cudaStream_t *stream) {
  return cudaStreamCreateWithFlags(stream, cudaStreamNonBlocking);
}

} // namespace gmpi::split
