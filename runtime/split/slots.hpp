// Request slots of the calls that the split driver makes: host memory throughout, beside those that
// kernels use (queue/request_slots_device.hpp).
//
// Invariant: a slot belongs to one launch for its blocking calls (the first launches_at_once), or
// is free, or is held by one unfinished request. Its Replies are numbered by turns; each overwrites
// the one before, which has been acted upon by then.
#pragma once

#include "../queue/context.hpp"

#include <atomic>
#include <cuda_runtime.h>
#include <mutex>
#include <vector>

namespace gmpi::split {

constexpr std::uint32_t launches_at_once = 64; ///< of one device
constexpr std::uint32_t driver_slots = 1024;   ///< numbered from request_slots on in Attributes
/// Added to the device's number in requests that the driver has made.
constexpr std::uint32_t driver_device = 32;

class Slots {
public:
  /// Allocates memory for received data; before the first use, on the right device.
  cudaError_t prepare();
  void free_memory();

  // Slots are numbered from 0 here.

  unsigned char *payload(std::uint32_t slot) const {
    return payload_ + std::size_t(slot) * inline_bytes;
  }
  /// A free slot for a request and the serial number of this use; false where there is none.
  bool take(std::uint32_t &slot, std::uint32_t &serial);
  /// Any thread.
  void give(std::uint32_t slot);
  /// Whether the slot is held for this use; else a request with this number is over.
  bool is_held(std::uint32_t slot, std::uint32_t serial);

  /// The proxy's side.
  void reply(std::uint32_t slot, std::uint32_t turn, const Reply &reply) {
    boxes_[slot].reply = reply;
    boxes_[slot].turn.store(turn, std::memory_order_release);
  }
  /// The driver's: the turn of the last Reply, and the Reply.
  std::uint32_t turn(std::uint32_t slot) const {
    return boxes_[slot].turn.load(std::memory_order_acquire);
  }
  const Reply &last_reply(std::uint32_t slot) const { return boxes_[slot].reply; }

private:
  struct Box {
    std::atomic<std::uint32_t> turn{0};
    Reply reply{};
  };
  std::vector<Box> boxes_ = std::vector<Box>(driver_slots);
  std::vector<std::uint32_t> serials_ = std::vector<std::uint32_t>(driver_slots);
  std::vector<bool> held_ = std::vector<bool>(driver_slots);
  unsigned char *payload_ = nullptr;
  std::mutex mutex_;
  std::vector<std::uint32_t> free_;
};

} // namespace gmpi::split
