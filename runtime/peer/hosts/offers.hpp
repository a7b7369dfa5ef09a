// Which of the program's allocations ranks map from each other, so that their kernels store long
// messages where they belong: the hosts' part. Kernels ask for it (offers_device.hpp) and go on;
// messages go through the channel meanwhile.
//
// Invariant: nobody waits for this. A thread of its own makes the CUDA calls, while kernels run. An
// offer is taken back when its allocation is freed, or by the next launch, so no kernel that starts
// later names it. What others have mapped of it they unmap when their own program frees something,
// or in MPI_Finalize: CUDA may wait for kernels then, and keep launches from being made.
#pragma once

#include "../state.hpp"
#include "exported_memory.hpp"

#include <array>
#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace gmpi::peer {

class Offers {
public:
  Offers() = default;
  ~Offers() { stop(); }
  Offers(const Offers &) = delete;

  /// Kernels may ask from now on. `state` and `shared` are on the device.
  void start(int device, int rank, State *state, Offer *shared);
  /// Another rank's offers, as they are mapped here.
  void set_peer(int rank, const Offer *theirs);
  /// Kernels have ended: unmaps what is mapped.
  void stop();

  // The proxy's thread; these wait for nobody. `what` is what the kernel has asked.
  void offer(std::uint64_t what) { want({Wanted::offer, what}); }
  void map(std::uint64_t what) { want({Wanted::map, what}); }

  /// Before a launch: takes back what has been freed.
  void before_launch();
  /// The program has freed memory, in a call that waits for the device. The same, and unmaps what
  /// others have taken back.
  void after_free();
  /// Why an allocation was not offered, or not mapped; "" where none was refused.
  std::string refusal();

private:
  struct Wanted {
    enum What { offer, map } what;
    std::uint64_t argument;
  };
  struct Mapping {
    void *memory = nullptr;
    std::size_t bytes = 0;
    std::uint32_t number = 0; ///< of the offer
  };

  void want(Wanted wanted);
  void work();
  void make_offer(std::uint64_t address);
  void map_offer(std::uint32_t peer, std::uint32_t place, std::uint32_t number);
  void write(std::uint32_t place, const Offer &offer);
  void take_back_freed();
  void retire_taken_back();
  void unmap_retired();
  void use(std::uint32_t peer, std::uint32_t place, std::uint32_t number, const void *memory);
  void refuse(const std::string &why);

  std::mutex wanted_mutex_; ///< held for no longer than it takes to look
  std::condition_variable wanted_changed_;
  std::deque<Wanted> wanted_;
  bool stopping_ = false;
  std::string refusal_;
  std::thread thread_; ///< started by the first who wants something

  std::mutex mutex_; ///< of what follows
  int device_ = -1, rank_ = -1;
  State *state_ = nullptr;
  Offer *shared_ = nullptr;
  cudaStream_t stream_ = nullptr;
  std::array<const Offer *, max_peers> theirs_{};
  std::array<Allocation, max_offers> offered_{}; ///< by place; bytes 0: free
  std::atomic<std::uint32_t> used_{0};           ///< places that have been in use
  std::uint32_t last_number_ = 0;
  std::array<std::array<Mapping, max_offers>, max_peers> mapped_{};
  std::atomic<bool> has_mapped_{false};
  std::vector<Mapping> retired_; ///< no receive names them any more
  /// Under compute-sanitizer: what is used from the next launch on.
  std::vector<std::function<void()>> at_launch_;
};

} // namespace gmpi::peer
