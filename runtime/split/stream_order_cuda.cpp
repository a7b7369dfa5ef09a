// On a GPU streams wait for words in mapped host memory, and write them, by stream memory
// operations of the driver API.
#include "stream_order.hpp"

#include "../launch/driver_function.hpp"
#include "../proxy/report.hpp"

#include <atomic>
#include <cuda.h>

namespace gmpi::split {

namespace {

using launch::driver_function;
using StreamValue = CUresult (*)(CUstream, CUdeviceptr, cuuint64_t, unsigned);

StreamValue wait_value() {
  static const auto function = driver_function<StreamValue>("cuStreamWaitValue64");
  return function;
}
StreamValue write_value() {
  static const auto function = driver_function<StreamValue>("cuStreamWriteValue64");
  return function;
}

std::uint64_t *allocate_word() {
  void *memory = nullptr;
  if (cudaHostAlloc(&memory, 64, cudaHostAllocMapped | cudaHostAllocPortable) != cudaSuccess)
    fatal("cannot allocate page-locked memory for a split kernel");
  *static_cast<std::uint64_t *>(memory) = 0;
  return static_cast<std::uint64_t *>(memory);
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
  std::uint64_t *word = allocate_word(); ///< how many times the gate has been opened
  std::uint64_t closed = 0;
};

bool StreamGate::available() {
  constexpr int devices = 64;
  static std::atomic<signed char> known[devices]; // 1: yes, -1: no
  int device = 0;
  cudaGetDevice(&device);
  if (device >= devices)
    return false;
  if (known[device] == 0)
    known[device] = wait_value() != nullptr && device_can(device) ? 1 : -1;
  return known[device] > 0;
}

StreamGate::StreamGate() : state_(std::make_unique<State>()) {}

StreamGate::~StreamGate() { cudaFreeHost(state_->word); }

cudaError_t StreamGate::close(cudaStream_t stream) {
  ++state_->closed;
  CUresult result = wait_value()(stream, reinterpret_cast<CUdeviceptr>(state_->word),
                                 state_->closed, CU_STREAM_WAIT_VALUE_GEQ);
  return result == CUDA_SUCCESS ? cudaSuccess : cudaErrorUnknown;
}

void StreamGate::open() { __atomic_store_n(state_->word, state_->closed, __ATOMIC_RELEASE); }

/// The word is polled, which costs nothing; where a kernel has failed it is never written, so the
/// stream is asked now and then. Without stream memory operations it is asked always.
struct StreamMark::State {
  std::uint64_t *word = allocate_word(); ///< the last mark that the stream has passed
  std::uint64_t marks = 0;
  cudaStream_t stream = nullptr;
  bool writes = false;
  unsigned polls = 0;
};

StreamMark::StreamMark() : state_(std::make_unique<State>()) {}
StreamMark::~StreamMark() { cudaFreeHost(state_->word); }

void StreamMark::set(cudaStream_t stream) {
  state_->stream = stream;
  state_->polls = 0;
  error_ = cudaSuccess;
  state_->writes = StreamGate::available() && write_value() != nullptr &&
                   write_value()(stream, reinterpret_cast<CUdeviceptr>(state_->word),
                                 ++state_->marks, CU_STREAM_WRITE_VALUE_DEFAULT) == CUDA_SUCCESS;
}

bool StreamMark::is_passed() {
  constexpr unsigned between_queries = 4096;
  if (state_->writes && __atomic_load_n(state_->word, __ATOMIC_ACQUIRE) == state_->marks)
    return true;
  if (state_->writes && ++state_->polls % between_queries != 0)
    return false;
  cudaError_t error = cudaStreamQuery(state_->stream);
  error_ = error == cudaErrorNotReady ? cudaSuccess : error;
  return error != cudaErrorNotReady;
}

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
