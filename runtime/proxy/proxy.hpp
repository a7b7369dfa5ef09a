// The proxy: the host thread that takes Attributes off the devices' queues, makes the MPI calls in
// their nonblocking form, and replies. One a process, from MPI_Init to MPI_Finalize.
//
// Invariant: it never blocks in MPI and makes no CUDA call that waits while kernels run. It sleeps while no
// kernel with MPI is in flight and nothing is unfinished; a launch wakes it. It also relays what
// kernels of different hosts' ranks say to each other.
#pragma once

#include "../peer/relay/relay.hpp"
#include "heartbeat.hpp"
#include "progress.hpp"
#include "watchdog.hpp"

#include <array>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>

namespace gmpi {

namespace split {
class Driver;
}

class Proxy {
public:
  Proxy();
  /// Stops the thread. Kernels must have ended.
  ~Proxy();

  /// The running proxy; null before MPI_Init and after MPI_Finalize.
  static Proxy *instance();
  static void start();
  /// Afterwards. Collective.
  static void stop();
  /// The program ends without MPI_Finalize: ends the thread, frees nothing.
  static void abandon();

  /// The current device's queue, set up on first use. Any thread.
  DeviceQueue &queue_of_current_device();
  /// The same where it has been set up; else null.
  DeviceQueue *queue_of_known_device();
  /// A kernel with MPI is about to be launched / was not launched after all. Any thread.
  void launch_begins();
  void launch_fails();
  /// Started with its first use. Any thread.
  split::Driver &split_driver();
  int launches_in_flight() const { return launches_in_flight_; }
  /// Any thread.
  peer::Relay &relay() { return relay_; }

  /// The engine of the device that a kernel's request (not null_peer_request) was made on.
  Progress &progress_of(MPI_Request request);
  /// The current device's engine, set up on first use. Any thread.
  Progress &progress_of_current_device();
  /// The host program's MPI_Test on a kernel's request: see Progress::test_from_host.
  bool test_from_host(MPI_Request request, MPI_Status *status, int &error, bool waits);
  /// The host program is about to free `comm`. Small sends of kernels that have ended may still lie in a
  /// ring: returns when they are MPI's, and no kernel trusts the handle any more.
  void release_communicator(MPI_Comm comm);
  /// The host program has made an MPI call: the job is not stuck.
  void note_host_progress() { watchdog_.note_progress(); }
  /// MPI_Finalize has been called: waits until every rank has, while the proxy's thread goes on and
  /// answers ranks that wait for this one.
  void wait_for_all_ranks() { watchdog_.wait_for_all_ranks(); }

private:
  static constexpr int max_devices = peer_device; ///< what requests have room for

  void run();
  void end_thread();
  bool work();
  void set_device(int device);
  void finish_sends();
  bool needed() const;
  bool unfinished() const;

  std::mutex mutex_; ///< setting devices up; sleeping
  std::condition_variable wake_;
  std::atomic<int> launches_in_flight_{0};
  std::atomic<bool> stopping_{false};
  std::array<std::unique_ptr<Progress>, max_devices> devices_;
  std::array<std::atomic<Progress *>, max_devices> published_{};
  std::atomic<int> device_count_{0}; ///< one above the highest device in use
  std::atomic<std::uint64_t> emptied_{0}; ///< passes that have left no Attribute in any ring
  int current_device_ = -1; ///< the thread's, where MPI is to find one
  Watchdog watchdog_;
  peer::Relay relay_;
  std::mutex driver_mutex_;
  std::unique_ptr<split::Driver> driver_;
  std::thread thread_;
  Heartbeat heartbeat_;
};

} // namespace gmpi
