// Which communicators' messages kernels carry themselves, and the memory of other ranks that this
// takes.
//
// Invariant: a communicator is added by all its ranks together, and then on all of them or on none.
// The memory is that of one device, the first that was current; it is mapped when a communicator is
// added and stays until MPI_Finalize.
#pragma once

#include "exported_memory.hpp"
#include "layout.hpp"

#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace gmpi {
class DeviceQueue;
}

namespace gmpi::peer {

class Links {
public:
  /// MPI_Init: collective.
  static void start();
  /// MPI_Finalize: no kernel of any rank runs any more.
  static void stop();
  /// Between those; else null.
  static Links *instance();

  /// Collective over `comm`. Says why, where it cannot be: kernels' messages go by way of the host
  /// then.
  bool add(MPI_Comm comm);
  /// The communicator is about to be freed. Collective.
  void remove(MPI_Comm comm);
  bool has(MPI_Comm comm) const;
  /// The device whose kernels reach the others; below 0: none yet.
  int device() const { return state_ != nullptr ? device_ : -1; }
  /// For GMPI_STATS.
  void report_statistics();
  void report_leftovers();

  Links();
  ~Links();
  Links(const Links &) = delete;

private:
  struct Mapping {
    void *memory;
    std::size_t bytes;
  };
  struct Card;

  std::string prepare(MPI_Comm comm, Card &card);
  std::string map_all(const std::vector<Card> &cards, Comm &entry, std::vector<Mapping> &rounds);
  bool map_peer(const Card &card);
  void set_up_state();
  void publish(std::uint32_t index);

  mutable std::mutex mutex_;
  int host_rank_ = 0, host_ranks_ = 1, host_id_ = 0;
  int device_ = -1;
  DeviceQueue *queue_ = nullptr;
  unsigned char *memory_ = nullptr; ///< what the others write
  ExportHandle handle_{};
  State *state_ = nullptr; ///< on the device
  unsigned char *kept_data_ = nullptr;
  std::unique_ptr<State> image_; ///< as the host has set it up
  std::vector<Mapping> mapped_;
  struct Rounds {
    unsigned char *own = nullptr, *scratch = nullptr;
    std::size_t bytes = 0;
    std::vector<Mapping> others;
  };
  std::vector<Rounds> rounds_; ///< by entry of the communicator
  std::uint32_t next_context_ = 1;
};

} // namespace gmpi::peer
