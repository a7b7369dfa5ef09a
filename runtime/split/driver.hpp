// The split driver: the host thread that carries the launches of split kernels from segment to
// segment. One a process, started with the first such launch, ended at MPI_Finalize.
//
// Invariant: it waits neither in CUDA nor in MPI. It alone makes CUDA calls for launches that are
// under way; the proxy makes their MPI calls. No operation that has to wait for a user's stream is
// ever put into a segments' stream. Launches in flight are few enough that the user's streams,
// which wait for them, never fill CUDA's queues: that would block the driver, too.
#pragma once

#include "flight.hpp"

#include <condition_variable>
#include <deque>
#include <map>
#include <thread>

namespace gmpi::split {

class Driver {
public:
  Driver();
  /// Once all kernels have ended.
  ~Driver();
  Driver(const Driver &) = delete;

  /// Launches a kernel in the current device's order; returns at once, unless too many are in
  /// flight.
  cudaError_t launch(const launch::KernelEntry &kernel, const launch::Configuration &configuration,
                     void **arguments);
  /// Whether what `stream`, one of the current device's, gets now comes after a launch in flight.
  bool is_behind_launch(cudaStream_t stream);
  /// Waits for the launches in flight that it comes after, or for all of the current device, without
  /// a CUDA call that would get in the driver's way.
  void wait_for_launches(cudaStream_t stream) { wait_for(&stream); }
  void wait_for_launches() { wait_for(nullptr); }
  /// `stream` gets more to do. Waits while much of that waits for a launch in flight: where CUDA's
  /// own queue is full it waits for room, and keeps the driver from going on.
  void enqueue_behind_launches(cudaStream_t stream);
  /// The program ends without MPI_Finalize.
  void abandon();

private:
  struct Device {
    Progress *progress = nullptr;
    bool has_gates = false;
    FramePool frames;
    SegmentStreams streams;
    std::vector<std::unique_ptr<Flight>> flights;
    std::vector<Flight *> spare;
    std::vector<Flight *> in_flight; ///< in the order of their launches
  };

  Device &device(int number);
  Flight &take_flight(Device &device, int number);
  FramePool::Frame frame_for(Device &device, const launch::KernelEntry &kernel,
                             const launch::Configuration &configuration, const FrameLayout &layout,
                             FlightUse &before);
  void wait_for(const cudaStream_t *stream);
  std::vector<Flight *> in_flight_before(const cudaStream_t *stream);
  static bool follows(cudaStream_t stream, const Flight &flight);
  void give_up(Device &device, Flight &flight);
  void run();
  bool adopt();
  bool work();
  void retire(Flight &flight);

  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<int, std::unique_ptr<Device>> devices_;
  std::vector<Flight *> arriving_; ///< launched, and not yet seen by the thread
  std::atomic<bool> has_arrivals_{false};
  bool stopping_ = false;
  std::vector<Flight *> active_; ///< the thread's own
  int current_device_ = -1;
  std::thread thread_;
};

} // namespace gmpi::split
