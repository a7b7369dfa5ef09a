// The driver's request slots.
#include "slots.hpp"

namespace gmpi::split {

cudaError_t Slots::prepare() {
  std::lock_guard lock(mutex_);
  if (payload_ != nullptr)
    return cudaSuccess;
  void *memory = nullptr;
  cudaError_t error = cudaHostAlloc(&memory, std::size_t(driver_slots) * inline_bytes,
                                    cudaHostAllocMapped | cudaHostAllocPortable);
  if (error != cudaSuccess)
    return error;
  payload_ = static_cast<unsigned char *>(memory);
  for (std::uint32_t slot = driver_slots; slot-- > launches_at_once;)
    free_.push_back(slot);
  return cudaSuccess;
}

void Slots::free_memory() {
  if (payload_ != nullptr)
    cudaFreeHost(payload_);
  payload_ = nullptr;
}

bool Slots::take(std::uint32_t &slot, std::uint32_t &serial) {
  std::lock_guard lock(mutex_);
  if (free_.empty())
    return false;
  slot = free_.back();
  free_.pop_back();
  serial = ++serials_[slot];
  held_[slot] = true;
  return true;
}

void Slots::give(std::uint32_t slot) {
  std::lock_guard lock(mutex_);
  free_.push_back(slot);
  held_[slot] = false;
}

bool Slots::is_held(std::uint32_t slot, std::uint32_t serial) {
  std::lock_guard lock(mutex_);
  return slot < driver_slots && held_[slot] && (serials_[slot] & serial_mask) == serial;
}

} // namespace gmpi::split
