// What the guards wait for.
#include "host_calls.hpp"

#include "../proxy/proxy.hpp"
#include "driver.hpp"
#include "stream_order.hpp"

#include <atomic>

namespace gmpi::split {

namespace {

std::atomic<int> flights{0};
thread_local bool is_driver = false;

/// Null where nothing can be in the way.
Driver *driver_in_the_way() {
  if (flights.load(std::memory_order_relaxed) == 0 || is_driver)
    return nullptr;
  Proxy *proxy = Proxy::instance();
  return proxy != nullptr ? &proxy->split_driver() : nullptr;
}

/// Waits for all that the stream was given, if a split kernel is among it.
void wait_for(cudaStream_t stream) {
  Driver *driver = driver_in_the_way();
  if (driver == nullptr || !driver->is_behind_launch(stream) || is_capturing(stream))
    return;
  HostWait wait(stream);
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
  if (driver_in_the_way() == nullptr)
    return;
  if (touches_host(to, from, kind))
    wait_for(stream);
  else
    before_enqueue(stream);
}

/// Up to so many bytes of pageable memory CUDA takes along and returns.
constexpr size_t taken_along = 65536;

void before_async_copy(cudaStream_t stream, const void *to, const void *from, size_t bytes) {
  if (driver_in_the_way() == nullptr)
    return;
  if (memory_of(to) == Memory::pageable ||
      (bytes > taken_along && memory_of(from) == Memory::pageable))
    wait_for(stream);
  else
    before_enqueue(stream);
}

void before_free() {
  if (driver_in_the_way() != nullptr)
    cudaDeviceSynchronize(); // by way of its own guard
}

void before_enqueue(cudaStream_t stream) {
  if (Driver *driver = driver_in_the_way())
    driver->enqueue_behind_launches(stream);
}

} // namespace gmpi::split
