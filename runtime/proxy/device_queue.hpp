// One device's end of the queue on the host: the memory that kernels and proxy share, the Context
// that tells kernels where it lies, and the table of launches in flight.
//
// Invariant: everything here is allocated before the first kernel with MPI runs on the device (or
// while a further launch is prepared) and freed at MPI_Finalize: never while a kernel waits.
#pragma once

#include "../launch/launch.hpp"
#include "../queue/attribute_ring.hpp"
#include "../transport/gdrcopy.hpp"
#include "../transport/staging_pool.hpp"
#include "comm_sizes.hpp"

#include <chrono>
#include <ctime>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace gmpi {

using Clock = std::chrono::steady_clock;

/// Some milliseconds late at most, at a fraction of the cost: for what lasts seconds.
inline Clock::time_point roughly_now() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
  return Clock::time_point(std::chrono::seconds(now.tv_sec) +
                           std::chrono::nanoseconds(now.tv_nsec));
}

class DeviceQueue {
public:
  /// Sets up the current device. Ends the program where CUDA refuses memory.
  explicit DeviceQueue(int device);
  ~DeviceQueue();
  DeviceQueue(const DeviceQueue &) = delete;

  int device() const { return device_; }
  const Context &context() const { return context_; }
  AttributeRing &ring() { return *ring_; }
  CommSizes &comm_sizes() { return *comm_sizes_; }
  StagingPool &staging() { return *staging_; }
  StagingPool &bounce() { return *bounce_; }
  /// Lets kernels carry messages themselves; see peer::Links.
  void set_peer(peer::State *state, peer::Comm *world);
  unsigned char *payload(std::uint32_t slot) const {
    return payload_ + std::size_t(slot) * inline_bytes;
  }

  /// Why the Replies lie in the host's memory though GMPI_GDRCOPY asks for the device's. Empty:
  /// they lie where it says.
  const std::string &against_gdrcopy() const { return against_gdrcopy_; }

  /// Writes `reply` as number `turn` of the request slot; `data`: reply.bytes, where its kind is
  /// done_beside.
  void reply(std::uint32_t slot, std::uint32_t turn, const Reply &reply,
             const void *data = nullptr);
  /// Gives a request slot back that a host call has finished with.
  void release_from_host(std::uint32_t slot, std::uint32_t turn);

  /// A launch in flight.
  struct LaunchRecord {
    const launch::KernelEntry *kernel = nullptr; ///< null: free
    Clock::time_point started;
    cudaStream_t stream = nullptr;
    std::uint32_t behind = 0; ///< how much streams were given that comes after it
    std::uint64_t number = 0; ///< begin_launch() counts them
    bool joins_legacy_stream = true; ///< see split::joins_legacy_stream
    bool split = false;              ///< its driver counts what comes behind
  };
  /// State for one more launch; grows the table where none is free.
  LaunchState *begin_launch(const LaunchRecord &launch, std::uint32_t &index);
  /// The launch's last thread has left (or it never started).
  void end_launch(std::uint32_t index);
  /// A copy of the record.
  LaunchRecord launch_record(std::uint32_t index) const;
  std::vector<LaunchRecord> launches_in_flight() const;
  /// `stream` gets more to do. The number of a launch that it comes after, and behind which there is
  /// much already; 0: there is none.
  std::uint64_t enqueue_behind_launches(cudaStream_t stream);
  bool is_in_flight(std::uint64_t launch_number) const;

  /// Copies to or from device memory on this device's own stream, and waits; for host calls.
  void copy_to_device(void *to, const void *from, std::size_t bytes);

private:
  void allocate_shared();
  void allocate_device();
  void allocate_replies();
  std::string map_replies();
  void fill_datatypes();
  void fill_modules();
  void add_launch_states();
  template <class T> T *allocate_mapped(std::size_t count);
  template <class T> T *allocate_mapped_zeros(std::size_t count);
  template <class T> T *allocate_on_device(std::size_t count);

  static constexpr std::uint32_t launch_states_at_once = 64;

  int device_;
  cudaStream_t stream_ = nullptr;
  Context context_{};
  std::vector<void *> mapped_, on_device_;
  std::unique_ptr<GdrMapping> replies_mapping_; ///< null: the Replies lie in the host's memory
  std::string against_gdrcopy_;
  std::uint64_t *replies_ = nullptr; ///< where the host writes them
  HostRelease *releases_ = nullptr;
  unsigned char *payload_ = nullptr;
  std::unique_ptr<AttributeRing> ring_;
  std::unique_ptr<CommSizes> comm_sizes_;
  std::unique_ptr<StagingPool> staging_, bounce_;
  std::mutex growing_mutex_;
  mutable std::mutex launches_mutex_; ///< under it no CUDA function is called that programs call, too
  std::vector<LaunchRecord> launches_;
  std::uint64_t launches_so_far_ = 0;
  std::vector<LaunchState *> launch_states_;
};

} // namespace gmpi
