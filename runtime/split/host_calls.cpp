// What the guards wait for.
#include "host_calls.hpp"

#include "../proxy/backoff.hpp"
#include "../proxy/proxy.hpp"
#include "../transport/gpu_aware.hpp"
#include "driver.hpp"
#include "stream_order.hpp"

#include <atomic>

namespace gmpi::split {

namespace {

std::atomic<int> flights{0};
bool wrapped = false;
thread_local bool is_driver = false;

/// Null where nothing can be in the way.
Driver *driver_in_the_way() {
  if (flights.load(std::memory_order_relaxed) == 0 || is_driver)
    return nullptr;
  Proxy *proxy = Proxy::instance();
  return proxy != nullptr ? &proxy->split_driver() : nullptr;
}

/// The current device's queue, if kernels may wait for a proxy that makes CUDA calls (in MPI); else
/// null.
DeviceQueue *queue_in_the_way() {
  if (!gpu_aware::library_calls_cuda() || is_driver)
    return nullptr;
  Proxy *proxy = Proxy::instance();
  return proxy != nullptr && proxy->launches_in_flight() > 0 ? proxy->queue_of_known_device()
                                                             : nullptr;
}

bool anything_in_the_way() {
  return driver_in_the_way() != nullptr || queue_in_the_way() != nullptr;
}

/// Waits for all that the stream was given, if a kernel that needs the host may be among it.
void wait_for(cudaStream_t stream) {
  Driver *driver = driver_in_the_way();
  const bool behind_split = driver != nullptr && driver->is_behind_launch(stream);
  if ((!behind_split && queue_in_the_way() == nullptr) || is_capturing(stream))
    return;
  HostWait wait(stream);
  if (behind_split)
    driver->wait_for_launches(stream);
  cudaEvent_t event;
  if (cudaEventCreateWithFlags(&event, cudaEventDisableTiming) != cudaSuccess)
    return;
  if (cudaEventRecord(event, stream) == cudaSuccess)
    cudaEventSynchronize(event); // an error is the next call's, too
  cudaEventDestroy(event);
}

enum class Memory { device, page_locked, pageable };

Memory memory_of(const void *address) {
  if (address == nullptr)
    return Memory::device;
  cudaPointerAttributes attributes{};
  if (cudaPointerGetAttributes(&attributes, address) != cudaSuccess) {
    cudaGetLastError();
    return Memory::pageable;
  }
  return attributes.type == cudaMemoryTypeUnregistered ? Memory::pageable
         : attributes.type == cudaMemoryTypeHost       ? Memory::page_locked
                                                       : Memory::device;
}

bool touches_host(const void *to, const void *from, cudaMemcpyKind kind) {
  if (kind == cudaMemcpyDefault)
    return memory_of(to) != Memory::device || memory_of(from) != Memory::device;
  return kind != cudaMemcpyDeviceToDevice;
}

} // namespace

bool calls_are_wrapped() { return wrapped; }
void note_wrapped_calls() { wrapped = true; }

bool joins_legacy_stream(cudaStream_t stream) {
  unsigned flags = 0;
  return canonical(stream) == nullptr || cudaStreamGetFlags(stream, &flags) != cudaSuccess ||
         !(flags & cudaStreamNonBlocking);
}

bool comes_after(cudaStream_t stream, cudaStream_t earlier, bool earlier_joins) {
  stream = canonical(stream);
  earlier = canonical(earlier);
  if (stream == earlier)
    return true;
  if (stream == nullptr)
    return earlier_joins;
  return earlier == nullptr && joins_legacy_stream(stream);
}

void note_driver_thread() { is_driver = true; }
void count_flights(int more) { flights += more; }

DeviceWaitGuard::DeviceWaitGuard() {
  if (Driver *driver = driver_in_the_way())
    driver->wait_for_launches();
}

StreamWaitGuard::StreamWaitGuard(cudaStream_t stream) : wait_(stream) {
  if (Driver *driver = driver_in_the_way())
    driver->wait_for_launches(stream);
}

CopyGuard::CopyGuard(cudaStream_t stream, const void *to, const void *from, cudaMemcpyKind kind)
    : wait_(stream) {
  if (!anything_in_the_way())
    return;
  if (touches_host(to, from, kind))
    wait_for(stream);
  else
    before_enqueue(stream);
}

/// Up to so many bytes of pageable memory CUDA takes along and returns.
constexpr size_t taken_along = 65536;

void before_async_copy(cudaStream_t stream, const void *to, const void *from, size_t bytes) {
  if (!anything_in_the_way())
    return;
  if (memory_of(to) == Memory::pageable ||
      (bytes > taken_along && memory_of(from) == Memory::pageable))
    wait_for(stream);
  else
    before_enqueue(stream);
}

void before_free() {
  if (anything_in_the_way())
    cudaDeviceSynchronize(); // by way of its own guard
}

void before_enqueue(cudaStream_t stream) {
  if (Driver *driver = driver_in_the_way())
    driver->enqueue_behind_launches(stream);
  DeviceQueue *queue = queue_in_the_way();
  const std::uint64_t launch = queue != nullptr ? queue->enqueue_behind_launches(stream) : 0;
  if (launch == 0)
    return;
  HostWait wait(stream);
  Backoff backoff;
  while (queue->is_in_flight(launch))
    backoff.wait();
}

} // namespace gmpi::split
