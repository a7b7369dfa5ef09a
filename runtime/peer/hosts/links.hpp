// Which communicators' messages kernels carry themselves, and the memory of other ranks that this
// takes.
//
// Invariant: a communicator is added by all its ranks together, and then on all of them or on none.
// The memory is that of one device, the first that was current; it is mapped when a communicator is
// added and stays until MPI_Finalize.
//
// Host threads may add and remove different communicators at once, in orders that differ from rank
// to rank: no lock is held while other ranks are waited for. (test/run/peer_threads.cu)
#pragma once

#include "../../mpi/host_ranks.hpp"
#include "../state.hpp"
#include "exported_memory.hpp"
#include "offers.hpp"

#include <array>
#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace gmpi {
class DeviceQueue;
}

namespace gmpi::peer {

/// Info key: the program asserts that host code exchanges no messages with kernels on the
/// communicator.
constexpr const char *kernel_only = "gmpi_assert_kernel_only";

class Links {
public:
  /// MPI_Init.
  static void start(const HostRanks &host);
  /// MPI_Finalize: this rank's kernels have ended, and reach the others' memory no more.
  void unmap_others();
  /// And then all ranks have done that.
  static void stop();
  /// Between those; else null.
  static Links *instance();

  /// Collective over `comm`. Says why, where it cannot be: kernels' messages go by way of the host
  /// then.
  bool add(MPI_Comm comm);
  /// The communicator is about to be freed. Collective.
  void remove(MPI_Comm comm);
  // Any thread; these wait for nobody.
  bool has(MPI_Comm comm) const;
  /// Why kernels do not carry the communicator's messages; "" where they do.
  std::string against(MPI_Comm comm) const;
  void note_against(MPI_Comm comm, const std::string &why);
  /// Whether other ranks of `comm` run on this host.
  bool has_neighbours(MPI_Comm comm) const;
  /// The device whose kernels reach the others; below 0: no communicator has been added yet.
  int device() const { return device_in_use_; }
  /// The program's allocations that ranks map from each other. Any thread.
  Offers &offers() { return offers_; }
  /// For GMPI_STATS.
  void report_statistics();
  void report_leftovers();

  explicit Links(const HostRanks &host);
  ~Links();
  Links(const Links &) = delete;

private:
  struct Mapping {
    void *memory;
    std::size_t bytes;
  };
  /// Memory for a communicator's collective calls. Where its ranks run on several hosts, `own` is
  /// page-locked, and the relay uses it, too.
  struct Rounds {
    unsigned char *own = nullptr, *scratch = nullptr;
    bool page_locked = false;
    std::size_t bytes = 0;
    std::vector<Mapping> others;
  };
  struct Card;
  struct Joining;

  std::string prepare(MPI_Comm comm, Joining &joining, Card &card);
  std::string allocate(Joining &joining, int device, Card &card);
  std::string reserve(Joining &joining, Card &card);
  std::string reach_far(const Joining &joining);
  bool is_near(int rank) const;
  std::uint32_t peer_number(int rank) const;
  bool allocate_rounds(Joining &joining, Card &card);
  std::string map_all(const std::vector<Card> &cards, Joining &joining);
  bool map_peer(const Card &card);
  void set_peer(std::uint32_t peer, const Channel &common, const Channel &owned,
                std::uint64_t *acks);
  void set_up_state();
  void enter(const Joining &joining);
  void forget(MPI_Comm comm);
  void publish(std::uint32_t index);
  Shared shared_memory() const { return {std::uint32_t(host_.count())}; }
  static void unmap_all(std::vector<Mapping> &mappings);
  static void free_own(const Rounds &rounds);
  static void release(MPI_Comm comm, Rounds &rounds);

  mutable std::mutex known_mutex_;        ///< held for no longer than it takes to look
  std::map<MPI_Comm, std::string> known_; ///< for which it was asked: why it was not added, or ""
  std::atomic<int> device_in_use_{-1};
  Offers offers_;

  std::mutex mutex_; ///< of all below; held across this rank's own work, never across MPI's
  const HostRanks host_;
  int world_rank_ = 0, world_size_ = 1;
  std::vector<int> far_; ///< ranks of other hosts: their numbers as peers follow this host's
  int device_ = -1;      ///< of memory_
  DeviceQueue *queue_ = nullptr;
  unsigned char *memory_ = nullptr; ///< what the others write
  ExportHandle handle_{};
  State *state_ = nullptr; ///< on the device
  unsigned char *kept_data_ = nullptr;
  std::unique_ptr<State> image_; ///< as the host has set it up
  std::vector<Mapping> mapped_;
  std::array<bool, max_comms> reserved_{}; ///< entries of communicators, also of those under way
  std::array<Rounds, max_comms> rounds_;   ///< by entry
  std::uint32_t counted_contexts_ = 0;
};

} // namespace gmpi::peer
