// The proxy's thread, and what other threads ask of it.
#include "proxy.hpp"

#include "../launch/statistics.hpp"
#include "../peer/hosts/links.hpp"
#include "../split/driver.hpp"
#include "../transport/gpu_aware.hpp"
#include "affinity.hpp"
#include "backoff.hpp"
#include "host_wait.hpp"
#include "report.hpp"
#include "settings.hpp"
#include "transports.hpp"

#include <utility>

namespace gmpi {

namespace {
std::unique_ptr<Proxy> &the_proxy() {
  // Never destroyed: kernels and exit handlers may need the proxy until the very end.
  static auto &proxy = *new std::unique_ptr<Proxy>;
  return proxy;
}
} // namespace

Proxy *Proxy::instance() { return the_proxy().get(); }
void Proxy::start() { the_proxy() = std::make_unique<Proxy>(); }

void Proxy::stop() {
  the_proxy()->driver_.reset(); // it needs the proxy to the end of its last launch
  the_proxy()->end_thread();
  the_proxy()->relay_.close();
  launch::report_statistics();
  transports::report();
  the_proxy()->watchdog_.close();
  the_proxy().reset();
}

void Proxy::abandon() {
  if (Proxy *proxy = the_proxy().release()) {
    if (proxy->driver_)
      proxy->driver_->abandon();
    proxy->end_thread();
  }
}

Proxy::Proxy() {
  int device = 0;
  cudaGetDevice(&device);
  thread_ = std::thread([this, device] {
    set_device(device);
    run();
  });
  if (gpu_aware::library_calls_cuda())
    heartbeat_.watch(settings().stall_seconds, settings().timeout_seconds);
}

Proxy::~Proxy() { end_thread(); }

void Proxy::end_thread() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  if (!thread_.joinable())
    return;
  if (thread_.get_id() == std::this_thread::get_id())
    thread_.detach();
  else
    thread_.join();
}

void Proxy::run() {
  constexpr auto peer_question_interval = std::chrono::milliseconds(250);
  leave_single_core();
  Backoff backoff;
  CoreWatch core;
  while (!stopping_) {
    if (!needed()) {
      heartbeat_.rest();
      std::unique_lock lock(mutex_);
      const bool woken =
          wake_.wait_for(lock, peer_question_interval, [&] { return stopping_ || needed(); });
      core.rested(Clock::now());
      if (woken)
        continue;
      lock.unlock();
      relay_.work(false);
      watchdog_.look(published_);
      continue;
    }
    core.turn();
    heartbeat_.beat();
    const bool moved = work();
    watchdog_.check(published_);
    if (moved)
      backoff.reset();
    else if (launches_in_flight_ > 0 || unfinished())
      backoff.wait();
    else // what kernels wrote last may be on its way: the program's threads go first
      backoff.wait_aside([this] { return stopping_ || launches_in_flight_ > 0; });
  }
  heartbeat_.rest();
  finish_sends();
}

/// Small sends that nobody waited for may still be MPI's. Every rank has finalized by now, so what
/// is ever received has been matched, and ends at once.
void Proxy::finish_sends() {
  auto deadline = Clock::now() + std::chrono::seconds(1);
  while (unfinished() && Clock::now() < deadline)
    work();
}

bool Proxy::needed() const {
  return launches_in_flight_ > 0 || !relay_.quiet() || unfinished();
}

bool Proxy::unfinished() const {
  for (int i = 0; i < device_count_; ++i) {
    const Progress *progress = published_[i];
    if (progress != nullptr && !progress->quiet())
      return true;
  }
  return false;
}

/// MPI finds a device's context in the thread that gives it the device's memory. Does not wait.
void Proxy::set_device(int device) {
  if (gpu_aware::library_calls_cuda() && device != std::exchange(current_device_, device))
    cudaSetDevice(device);
}

bool Proxy::work() {
  bool moved = relay_.work(launches_in_flight_ > 0), progressed = moved, caught_up = true;
  for (int i = 0; i < device_count_; ++i)
    if (Progress *progress = published_[i]) {
      set_device(i);
      moved |= progress->work();
      progressed |= progress->take_progress();
      caught_up &= progress->caught_up();
      launches_in_flight_ -= progress->take_ended_launches();
    }
  if (caught_up)
    ++emptied_;
  if (progressed)
    watchdog_.note_progress();
  return moved;
}

DeviceQueue &Proxy::queue_of_current_device() { return progress_of_current_device().queue(); }

DeviceQueue *Proxy::queue_of_known_device() {
  int device = 0;
  if (cudaGetDevice(&device) != cudaSuccess || device >= max_devices)
    return nullptr;
  Progress *progress = published_[device];
  return progress != nullptr ? &progress->queue() : nullptr;
}

Progress &Proxy::progress_of_current_device() {
  int device = 0;
  cudaGetDevice(&device);
  if (device >= max_devices)
    fatal("device %d: only devices 0 to %d are supported", device, max_devices - 1);
  if (Progress *progress = published_[device])
    return *progress;
  const peer::Links *links = peer::Links::instance();
  if (links != nullptr && links->device() >= 0 && links->device() != device)
    fatal("kernels with MPI run on device %d, but device %d was current when kernels were asked to "
          "carry messages themselves (GMPI_PEER, gmpi_assert_kernel_only); call cudaSetDevice before that",
          device, links->device());
  std::lock_guard lock(mutex_);
  if (!devices_[device]) {
    devices_[device] = std::make_unique<Progress>(device);
    published_[device] = devices_[device].get();
    if (device_count_ <= device)
      device_count_ = device + 1;
  }
  return *devices_[device];
}

split::Driver &Proxy::split_driver() {
  std::lock_guard lock(driver_mutex_);
  if (!driver_)
    driver_ = std::make_unique<split::Driver>();
  return *driver_;
}

void Proxy::launch_begins() {
  note_launching_thread();
  watchdog_.note_progress();
  {
    std::lock_guard lock(mutex_);
    ++launches_in_flight_;
  }
  wake_.notify_all();
}

void Proxy::launch_fails() { --launches_in_flight_; }

void Proxy::release_communicator(MPI_Comm comm) {
  for (int i = 0; i < device_count_; ++i)
    if (Progress *progress = published_[i])
      progress->queue().comm_sizes().forget(comm);
  if (thread_.get_id() == std::this_thread::get_id()) // in an error handler
    return;
  // The pass under way may have looked already; the next begins after this.
  std::uint64_t enough = emptied_ + 2;
  Backoff backoff;
  while (needed() && emptied_ < enough)
    backoff.wait();
}

Progress &Proxy::progress_of(MPI_Request request) {
  std::uint32_t device = decode_request(request).device & ~split::driver_device;
  if (device == peer_device)
    fatal("a request on a communicator whose messages kernels carry themselves (GMPI_PEER, "
          "gmpi_assert_kernel_only) was passed to MPI_Wait or MPI_Test on the host; wait for it in a "
          "kernel");
  Progress *progress = published_[device];
  if (progress == nullptr)
    fatal("a request that no kernel has made was passed to MPI_Wait or MPI_Test");
  return *progress;
}

bool Proxy::test_from_host(MPI_Request request, MPI_Status *status, int &error, bool waits) {
  if (request == null_peer_request()) {
    error = MPI_SUCCESS;
    if (status != MPI_STATUS_IGNORE) {
      status->MPI_SOURCE = MPI_PROC_NULL;
      status->MPI_TAG = MPI_ANY_TAG;
      set_status_bytes(*status, 0);
    }
    return true;
  }
  return progress_of(request).test_from_host(decode_request(request), status, error, waits);
}

} // namespace gmpi
