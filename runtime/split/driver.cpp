// The driver's thread, and launches.
#include "driver.hpp"

#include "../launch/device_launch.hpp"
#include "../proxy/affinity.hpp"
#include "../proxy/backoff.hpp"
#include "../proxy/host_wait.hpp"
#include "../proxy/proxy.hpp"
#include "../proxy/report.hpp"
#include "host_calls.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace gmpi::split {

Driver::Driver() : thread_([this] { run(); }) {}

Driver::~Driver() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  thread_.join();
  for (auto &[number, device] : devices_) {
    cudaSetDevice(number);
    device->flights.clear();
    device->frames.free_memory();
  }
}

void Driver::abandon() { thread_.detach(); }

/// Why streams cannot be made to wait here; null where they can. A launch that CUDA blocks behind a
/// gate would keep the driver from opening it.
static const char *no_gates() {
  const char *blocking = std::getenv("CUDA_LAUNCH_BLOCKING");
  if (blocking != nullptr && std::strcmp(blocking, "1") == 0)
    return "CUDA_LAUNCH_BLOCKING is set";
  return StreamGate::available() ? nullptr : "there are no 64-bit stream memory operations";
}

Driver::Device &Driver::device(int number) {
  std::lock_guard lock(mutex_);
  auto &device = devices_[number];
  if (device)
    return *device;
  device = std::make_unique<Device>();
  device->progress = &Proxy::instance()->progress_of_current_device();
  const char *why = no_gates();
  device->has_gates = why == nullptr;
  if (why != nullptr)
    say("%s on device %d: launches of split kernels wait for the kernel's end", why, number);
  if (device->progress->slots().prepare() != cudaSuccess)
    fatal("cannot allocate page-locked memory for split kernels");
  return *device;
}

/// Waits while as many are in flight as may be.
Flight &Driver::take_flight(Device &device, int number) {
  std::unique_lock lock(mutex_);
  if (device.spare.empty() && device.flights.size() < launches_at_once) {
    auto slot = static_cast<std::uint32_t>(device.flights.size());
    device.flights.push_back(
        std::make_unique<Flight>(*device.progress, device.streams, number, slot));
    return *device.flights.back();
  }
  changed_.wait(lock, [&] { return !device.spare.empty(); });
  Flight &flight = *device.spare.back();
  device.spare.pop_back();
  return flight;
}

/// Launches of one stream follow each other: a later one may have the frame of an earlier one.
/// `before` becomes that earlier one.
FramePool::Frame Driver::frame_for(Device &device, const launch::KernelEntry &kernel,
                                   const launch::Configuration &configuration,
                                   const FrameLayout &layout, FlightUse &before) {
  {
    std::lock_guard lock(mutex_);
    cudaStream_t stream = canonical(configuration.stream);
    for (Flight *flight : device.in_flight)
      if (stream != cudaStreamPerThread && canonical(flight->user_stream()) == stream)
        before = {flight, flight->generation()}; // under the lock: it may be another launch's soon
    if (before.flight != nullptr &&
        FramePool::size_class(before.flight->frame_bytes()) >= FramePool::size_class(layout.end))
      return before.flight->frame();
  }
  FramePool::Frame frame = device.frames.take(layout.end);
  if (frame == nullptr) {
    const Sizes &sizes = kernel.split.sizes;
    fatal("no device memory for what kernel %s saves at its MPI calls: %llu bytes (%u for each of "
          "%llu "
          "threads, %u for each block, %u in all): launch a smaller grid, or use --lower=queue",
          kernel.info.name, static_cast<unsigned long long>(layout.end), sizes.thread,
          static_cast<unsigned long long>(layout.thread_slots), sizes.block, sizes.uniform);
  }
  return frame;
}

namespace {

/// Whether CUDA can be expected to take it when the stream's turn comes.
bool is_valid(const launch::Configuration &configuration) {
  auto volume = [](dim3 d) { return 1ull * d.x * d.y * d.z; };
  int device = 0, most = 0;
  cudaGetDevice(&device);
  cudaDeviceGetAttribute(&most, cudaDevAttrMaxThreadsPerBlock, device);
  unsigned long long threads = volume(configuration.block);
  return volume(configuration.grid) != 0 && threads != 0 &&
         threads <= static_cast<unsigned long long>(most);
}

} // namespace

cudaError_t Driver::launch(const launch::KernelEntry &kernel,
                           const launch::Configuration &configuration, void **arguments) {
  if (!is_valid(configuration)) // CUDA says so at once, and remembers it for cudaGetLastError
    return launch::launch_segment_on_device(kernel, configuration, 0, Segment{},
                                            kernel.copy_arguments(arguments), configuration.stream);
  if (is_capturing(configuration.stream))
    fatal("kernel %s was launched while its stream is being captured; a kernel that is split at "
          "its MPI "
          "calls cannot become part of a graph",
          kernel.info.name);
  int number = 0;
  cudaGetDevice(&number);
  Device &current = device(number);
  FrameLayout layout = layout_of(kernel.split.sizes, configuration.grid, configuration.block,
                                 configuration.shared_bytes);
  FlightUse before;
  Flight &flight = take_flight(current, number);
  FramePool::Frame frame = frame_for(current, kernel, configuration, layout, before);
  flight.prepare(kernel, configuration, arguments, std::move(frame), layout, before);
  flight.behind = 0;
  flight.joins_legacy_stream = joins_legacy_stream(configuration.stream);
  Proxy::instance()->launch_begins();
  cudaError_t error = flight.enqueue(current.has_gates);
  if (error == cudaSuccess)
    error = flight.start_at_once();
  if (error != cudaSuccess) {
    give_up(current, flight);
    return error;
  }
  std::uint64_t generation = flight.generation();
  {
    std::lock_guard lock(mutex_);
    current.in_flight.push_back(&flight);
    count_flights(1);
    arriving_.push_back(&flight);
    has_arrivals_ = true;
  }
  changed_.notify_all();
  if (!current.has_gates) {
    HostWait wait(configuration.stream);
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return flight.generation() != generation; });
  }
  return cudaSuccess;
}

void Driver::give_up(Device &device, Flight &flight) {
  flight.cancel();
  Proxy::instance()->launch_fails();
  std::lock_guard lock(mutex_);
  device.spare.push_back(&flight);
}

/// Whether what `stream` gets now comes after the flight.
bool Driver::follows(cudaStream_t stream, const Flight &flight) {
  return comes_after(stream, flight.user_stream(), flight.joins_legacy_stream);
}

/// Launches of the current device that `stream` comes after; null: all. The lock is held.
std::vector<Flight *> Driver::in_flight_before(const cudaStream_t *stream) {
  int number = 0;
  cudaGetDevice(&number);
  auto device = devices_.find(number);
  std::vector<Flight *> result;
  if (device != devices_.end())
    for (Flight *flight : device->second->in_flight)
      if (stream == nullptr || follows(*stream, *flight))
        result.push_back(flight);
  return result;
}

bool Driver::is_behind_launch(cudaStream_t stream) {
  std::lock_guard lock(mutex_);
  return !in_flight_before(&stream).empty();
}

void Driver::wait_for(const cudaStream_t *stream) {
  std::vector<FlightUse> awaited;
  {
    std::lock_guard lock(mutex_);
    for (const Flight *flight : in_flight_before(stream))
      awaited.push_back({flight, flight->generation()});
  }
  Backoff backoff;
  for (const FlightUse &launch : awaited)
    while (launch.in_flight())
      backoff.wait();
}

void Driver::enqueue_behind_launches(cudaStream_t stream) {
  std::unique_lock lock(mutex_);
  Flight *first = nullptr;
  for (Flight *flight : in_flight_before(&stream))
    if (++flight->behind > most_behind_launch && first == nullptr)
      first = flight;
  if (first == nullptr)
    return;
  HostWait wait(stream);
  changed_.wait(
      lock, [&, generation = first->generation()] { return first->generation() != generation; });
}

void Driver::run() {
  note_driver_thread();
  leave_single_core();
  Backoff backoff;
  for (;;) {
    if (active_.empty()) {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [&] { return stopping_ || has_arrivals_; });
      if (!has_arrivals_)
        return;
    }
    bool moved = adopt();
    moved |= work();
    moved ? backoff.reset() : backoff.wait();
  }
}

/// Takes new launches over.
bool Driver::adopt() {
  if (!has_arrivals_.load(std::memory_order_acquire))
    return false;
  std::lock_guard lock(mutex_);
  for (Flight *flight : arriving_) {
    flight->begin();
    active_.push_back(flight);
  }
  arriving_.clear();
  has_arrivals_ = false;
  return true;
}

bool Driver::work() {
  bool moved = false;
  for (std::size_t i = 0; i < active_.size();) {
    Flight &flight = *active_[i];
    if (flight.device() != std::exchange(current_device_, flight.device()))
      cudaSetDevice(flight.device());
    moved |= flight.work();
    if (!flight.over()) {
      ++i;
      continue;
    }
    active_.erase(active_.begin() + static_cast<std::ptrdiff_t>(i));
    retire(flight);
  }
  return moved;
}

void Driver::retire(Flight &flight) {
  {
    std::lock_guard lock(mutex_);
    launch::count(flight.kernel(), launch::Lowering::split, flight.counts());
    Device &home = *devices_.at(flight.device());
    std::erase(home.in_flight, &flight);
    count_flights(-1);
    flight.retire();
    home.spare.push_back(&flight);
  }
  changed_.notify_all();
}

} // namespace gmpi::split
