// Messages between kernels of ranks on different hosts. What a kernel would write into the other
// rank's memory it writes into page-locked memory of its own; the proxy's thread sends that to the
// other rank's, which writes it where that rank's kernels look for it (relay_link.hpp). So the
// receiving GPU matches all messages, from its own host and from others.
//
// Invariant: it never blocks in MPI, and makes no CUDA call while kernels run. What kernels have
// written goes out also when they have ended. What comes waits in MPI while no kernel of this rank
// runs: nobody needs it sooner.
#pragma once

#include "relay_link.hpp"
#include "relay_rounds.hpp"

#include <mpi.h>

#include <atomic>
#include <chrono>
#include <map>
#include <mutex>
#include <set>

namespace gmpi::peer {

class Relay {
public:
  Relay() = default;
  ~Relay();
  Relay(const Relay &) = delete;

  /// The job has several hosts. Collective over MPI_COMM_WORLD, as close() is.
  void start();
  /// All ranks' kernels have ended, and the proxy's thread.
  void close();

  // Host threads. Ranks are those of MPI_COMM_WORLD.
  /// The link to that rank, which is on another host; null where there is no memory for it. Kernels
  /// may use it once that rank has made its own.
  RelayLink *link(int rank);
  /// Where kernels find answers from there.
  std::uint64_t *far_acks() const { return far_acks_; }
  std::uint64_t *far_news() const { return far_acks_ + Shared::landed_words; } ///< behind them
  /// `memory` is [round_places][ranks][round_packets] packets, zeroed; `own`: this rank's place in
  /// `ranks`.
  void add_rounds(std::uint32_t context, std::uint64_t *memory, const std::vector<int> &ranks,
                  int own);
  /// Afterwards the memory is the caller's.
  void remove_rounds(std::uint32_t context);

  // The proxy's thread.
  /// One look at what there is. `kernels`: some may be running. True where anything moved.
  bool work(bool kernels);
  /// Nothing is on its way out. Any thread.
  bool quiet() const { return quiet_; }
  /// Adds ranks that what was sent to has not taken all of it.
  void add_unsent(std::set<int> &ranks);

  struct Counts {
    unsigned long long messages = 0, bytes = 0; ///< that links have sent
    unsigned long long parts = 0;               ///< of collective calls' rounds
  };
  Counts counts();

private:
  using Clock = std::chrono::steady_clock;
  struct Sending {
    RelayMessage message{nullptr};
    MPI_Request request = MPI_REQUEST_NULL;
  };
  struct SendingRun {
    RelayRun run;
    MPI_Request request;
  };
  struct ArrivingRun {
    RelayRun run;
    RelayRecord record; ///< what is delivered with it: with the last of its runs
    std::uint64_t header[header_packets];
    bool is_last = false;
    MPI_Request request;
  };
  struct Runs {
    std::deque<SendingRun> sending;
    std::deque<ArrivingRun> arriving;
    std::size_t receiving = 0; ///< of these: where they go is free
  };
  struct Peer {
    int rank;
    RelayOutbox outbox;
    std::deque<Sending> sending;
    std::array<Runs, 2> runs;        ///< RunsOf
    std::unique_ptr<RelayLink> link; ///< null: it is on this host
  };
  struct Rounds {
    RelayRounds rounds;
    std::vector<RelayOutbox *> others;
  };

  Peer &peer(int rank);
  unsigned char *allocate(std::size_t bytes);
  bool collect();
  void send(Peer &peer);
  bool complete_sends();
  bool receive();
  bool complete_runs();
  void receive_runs(Peer &from, RunsOf of);
  void deliver(Peer &from, const RelayMessage &message);
  static void await_runs(Peer &from, const RelayRecord &record, const std::uint64_t *header);
  static void await_sent(Peer &peer, const RelayRecord &freed);
  void note(bool moved, bool kernels);
  static bool is_done(MPI_Request &request);
  static void check(int error);

  std::mutex mutex_; ///< of all below; never held across CUDA's calls, or MPI's that wait
  MPI_Comm comm_ = MPI_COMM_NULL;
  std::map<int, Peer> peers_; ///< by rank
  std::map<std::uint32_t, Rounds> rounds_;
  RelayMessage arriving_;
  MPI_Request arrival_ = MPI_REQUEST_NULL;
  std::vector<long long> sent_, received_; ///< messages, by rank
  unsigned long long parts_ = 0;
  Clock::time_point last_moved_;
  std::atomic<bool> active_{false}, quiet_{true};

  std::mutex memory_mutex_;
  std::vector<void *> memory_;
  std::uint64_t *far_acks_ = nullptr;
};

} // namespace gmpi::peer
