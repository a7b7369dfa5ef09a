// Says who waits for whom when nothing moves. After GMPI_STALL seconds without progress each rank
// reports its outstanding calls once; the job is aborted when GMPI_TIMEOUT is set and passed, when
// a rank waits for one that has finished, or when ranks wait for each other in a cycle.
//
// Invariant: no false alarm ends a job. A rank is stalled once neither it has made progress nor a
// call that somebody waits in has begun for GMPI_STALL seconds; what makes it blocked for good
// stands in deadlock_detector.hpp and peer_waits.hpp. Other ranks are asked a few times a second at
// most, and only while this one is idle or stalled: nothing of it is on the way of a message.
#pragma once

#include "operation.hpp"
#include "peer_channel.hpp"

#include <array>
#include <atomic>
#include <memory>

namespace gmpi {

class Progress;

class Watchdog {
public:
  /// Collective over MPI_COMM_WORLD.
  Watchdog();

  /// Something moved. Any thread.
  void note_progress() { moved_.store(true, std::memory_order_relaxed); }
  /// MPI_Finalize has been called and no kernel runs. Waits until every rank says so.
  void wait_for_all_ranks();
  /// Once the proxy's thread has ended. Collective.
  void close() { channel_.close(); }

  /// The proxy calls it in each turn of its loop; it looks at the clock now and then only.
  template <std::size_t N> void check(const std::array<std::atomic<Progress *>, N> &devices) {
    if (++turns_ % 64 == 0 && it_is_time())
      look(devices);
  }
  /// Looks at once. For a proxy that sleeps otherwise.
  template <std::size_t N> void look(const std::array<std::atomic<Progress *>, N> &devices) {
    std::array<const Progress *, N> looked_at;
    for (std::size_t i = 0; i < N; ++i)
      looked_at[i] = devices[i];
    look(looked_at.data(), N);
  }

private:
  using Devices = const Progress *const *;

  bool it_is_time();
  void note_clock(Clock::time_point now);
  void look(Devices devices, std::size_t count);
  Clock::time_point idle_since(Devices devices, std::size_t count) const;
  std::string outstanding_calls(Devices devices, std::size_t count, Clock::time_point now) const;
  void converse(Devices devices, std::size_t count, Clock::time_point now, bool stalled);
  void send(const DeadlockDetector::Outbox &outbox);

  PeerChannel channel_;
  DeadlockDetector detector_;
  std::atomic<bool> moved_{false};
  std::atomic<bool> finished_{false};
  unsigned turns_ = 0;
  Clock::time_point last_progress_, last_look_, last_question_;
  bool reported_ = false;
  bool asking_ = false; ///< has asked since something moved
};

} // namespace gmpi
