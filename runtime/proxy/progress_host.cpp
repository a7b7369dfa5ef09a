// The progress engine as the host's other threads use it: calls that the split driver hands over, and
// requests of kernels that are completed on the host.
#include "progress.hpp"

namespace gmpi {

namespace {

/// Number of the operation that carries a request.
std::uint32_t operation_of(const KernelRequest &request) {
  return request.slot + (request.device & split::driver_device ? request_slots : 0);
}

} // namespace

std::uint64_t Progress::hand_over(const Attribute &attribute, const unsigned char *data) {
  std::lock_guard lock(handed_mutex_);
  handed_.push_back({attribute, data});
  return handed_count_.fetch_add(1, std::memory_order_release) + 1;
}

bool Progress::take_handed() {
  std::uint64_t taken = handed_taken_.load(std::memory_order_relaxed);
  if (handed_count_.load(std::memory_order_acquire) == taken)
    return false;
  {
    std::lock_guard lock(handed_mutex_);
    handed_now_.swap(handed_);
  }
  // What a kernel's segment put into the ring before its driver handed a call over comes first.
  do
    take_attributes();
  while (!caught_up_);
  for (const Handed &handed : handed_now_) {
    begin(handed.attribute, handed.data);
    handed_taken_.store(++taken, std::memory_order_release);
  }
  handed_now_.clear();
  return true;
}

bool Progress::claim(KernelRequest request, Claim &claim, bool waits) {
  Operation &operation = *by_slot_[operation_of(request)];
  if (waits && operation.phase == Phase::running && operation.host_waits_since == 0)
    operation.host_waits_since = roughly_now().time_since_epoch().count();
  // The proxy may not have taken this request's Attribute yet, and be about to: what it holds of the
  // slot's use before is not to be looked at.
  if (operation.completed_use != request.serial || operation.phase != Phase::complete)
    return false;
  claim = {request,
           operation.error,
           operation.source,
           operation.tag,
           operation.message_bytes,
           operation.attribute.arguments.recv_buffer,
           operation.received,
           operation.out,
           operation.turn};
  operation.out = {};
  operation.completed_use = Operation::no_use;
  operation.phase = Phase::idle;
  return true;
}

void Progress::release(Claim &claim) {
  free(claim.data);
  if (claim.request.device & split::driver_device)
    slots_.give(claim.request.slot);
  else
    queue_.release_from_host(claim.request.slot, claim.turn);
}

bool Progress::test_from_host(KernelRequest request, MPI_Status *status, int &error, bool waits) {
  Claim claimed;
  if (!claim(request, claimed, waits))
    return false;
  error = claimed.error;
  if (claimed.received != 0)
    queue_.copy_to_device(claimed.to, claimed.data.address, claimed.received);
  if (status != MPI_STATUS_IGNORE) {
    status->MPI_SOURCE = claimed.source;
    status->MPI_TAG = claimed.tag;
    set_status_bytes(*status, static_cast<long long>(claimed.message_bytes));
  }
  release(claimed);
  return true;
}

} // namespace gmpi
