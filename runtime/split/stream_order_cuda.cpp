// On a GPU the stream waits for a word in mapped host memory, by a stream memory operation of the
// driver API: reached through the runtime, so that programs need not link with the driver's
// library.
#include "stream_order.hpp"

#include "../proxy/report.hpp"

#include <cuda.h>

namespace gmpi::split {

namespace {

template <class F> F driver_function(const char *name) {
  void *entry = nullptr;
  cudaDriverEntryPointQueryResult found;
  if (cudaGetDriverEntryPointByVersion(name, &entry, 12000, cudaEnableDefault, &found) !=
          cudaSuccess ||
      found != cudaDriverEntryPointSuccess) {
    cudaGetLastError();
    return nullptr;
  }
  return reinterpret_cast<F>(entry);
}

using WaitValue = CUresult (*)(CUstream, CUdeviceptr, cuuint64_t, unsigned);

WaitValue wait_value() {
  static const auto function = driver_function<WaitValue>("cuStreamWaitValue64");
  return function;
}

bool device_can(int device) {
  static const auto get =
      driver_function<CUresult (*)(int *, CUdevice_attribute, CUdevice)>("cuDeviceGetAttribute");
  int can = 0;
  return get != nullptr &&
         get(&can, CU_DEVICE_ATTRIBUTE_CAN_USE_64_BIT_STREAM_MEM_OPS, device) == CUDA_SUCCESS &&
         can != 0;
}

} // namespace

struct StreamGate::State {
  std::uint64_t *word = nullptr; ///< how many times the gate has been opened
  std::uint64_t closed = 0;
};

bool StreamGate::available() {
  int device = 0;
  cudaGetDevice(&device);
  return wait_value() != nullptr && device_can(device);
}

StreamGate::StreamGate() : state_(std::make_unique<State>()) {
  void *memory = nullptr;
  if (cudaHostAlloc(&memory, 64, cudaHostAllocMapped | cudaHostAllocPortable) != cudaSuccess)
    fatal("cannot allocate page-locked memory for a split kernel");
  state_->word = static_cast<std::uint64_t *>(memory);
  *state_->word = 0;
}

StreamGate::~StreamGate() { cudaFreeHost(state_->word); }

cudaError_t StreamGate::close(cudaStream_t stream) {
  ++state_->closed;
  CUresult result = wait_value()(stream, reinterpret_cast<CUdeviceptr>(state_->word),
                                 state_->closed, CU_STREAM_WAIT_VALUE_GEQ);
  return result == CUDA_SUCCESS ? cudaSuccess : cudaErrorUnknown;
}

void StreamGate::open() { __atomic_store_n(state_->word, state_->closed, __ATOMIC_RELEASE); }

bool is_capturing(cudaStream_t stream) {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  return cudaStreamIsCapturing(stream, &status) == cudaSuccess &&
         status != cudaStreamCaptureStatusNone;
}

cudaError_t make_segment_stream(cudaStream_t *stream) {
  int least = 0, greatest = 0;
  cudaDeviceGetStreamPriorityRange(&least, &greatest);
  return cudaStreamCreateWithPriority(stream, cudaStreamNonBlocking, greatest);
}

} // namespace gmpi::split
