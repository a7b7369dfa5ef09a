// A launch's MPI_Wait, MPI_Waitall and MPI_Test: of requests that split kernels have made, or other
// kernels, or the host program; and what calls leave in global memory.
#include "../queue/call_result.hpp"
#include "flight.hpp"

#include "../proxy/proxy.hpp"
#include "../proxy/report.hpp"

#include <cstring>

namespace gmpi::split {

Task Flight::complete_requests() {
  const Arguments &a = asked_->arguments();
  const bool all = asked_->function == Function::Waitall;
  const bool wait = asked_->function != Function::Test;
  const std::size_t count = all ? static_cast<std::size_t>(a.count > 0 ? a.count : 0) : 1;
  requests_.resize(count);
  statuses_.clear();
  if (own(own_requests))
    std::memcpy(requests_.data(), asked_->data, count * sizeof(MPI_Request));
  else if (count != 0) {
    copy(requests_.data(), all ? a.requests : a.request, count * sizeof(MPI_Request));
    co_await copies_done();
  }
  CallResult last = nothing_received(MPI_ANY_SOURCE);
  int error = MPI_SUCCESS;
  for (std::size_t i = 0; i < count; ++i) {
    co_await complete(requests_[i], wait, last);
    requests_[i] = last.request;
    if (last.error != MPI_SUCCESS)
      error = last.error;
    if (all)
      statuses_.push_back(make_status(last));
  }
  segment_.result = last;
  if (all && a.statuses != MPI_STATUSES_IGNORE && error != MPI_SUCCESS)
    error = MPI_ERR_IN_STATUS;
  segment_.result.error = error;
}

Task Flight::complete(MPI_Request request, bool wait, CallResult &result) {
  if (request == MPI_REQUEST_NULL || request == null_peer_request()) {
    result = nothing_received(request == MPI_REQUEST_NULL ? MPI_ANY_SOURCE : MPI_PROC_NULL);
    co_return;
  }
  if (!is_kernel_request(request)) {
    co_await complete_foreign(to_word(request) & content_mask, wait, result);
    co_return;
  }
  Progress &progress = Proxy::instance()->progress_of(request);
  KernelRequest decoded = decode_request(request);
  if ((decoded.device & driver_device) &&
      !progress.slots().is_held(decoded.slot, decoded.serial)) { // completed before
    co_await complete_foreign(unknown_bytes, wait, result);
    co_return;
  }
  Claim claim;
  bool done = progress.claim(decoded, claim, false);
  if (!done && wait) {
    if (decoded.device & driver_device) { // for reports
      Attribute waiting = make_attribute(Function::waiting);
      waiting.slot = request_slots + decoded.slot;
      progress.hand_over(waiting);
    }
    co_await until([&] { return progress.claim(decoded, claim, true); });
    done = true;
  }
  if (!done) {
    result = CallResult{};
    result.request = request;
    co_return;
  }
  if (claim.received != 0)
    copy(claim.to, claim.data.address, claim.received);
  result = nothing_received(claim.source);
  result.error = claim.error;
  result.tag = claim.tag;
  result.bytes = claim.message_bytes;
  if (&progress == &progress_)
    claims_.push_back(claim);
  else {
    co_await copies_done();
    progress.release(claim);
  }
}

/// A request of the host program's own, or (unknown_bytes) one that is none any more: an error.
Task Flight::complete_foreign(std::uint64_t request, bool wait, CallResult &result) {
  turn_ = progress_.slots().turn(slot_);
  Attribute attribute = make_attribute(wait ? Function::Wait : Function::Test);
  attribute.in_bytes = request;
  hand_over(attribute, nullptr);
  co_await until([this] { return replied(); });
  result = result_of(reply_);
  if (!result.flag)
    result.request = FromWord<MPI_Request>::get(request);
}

/// Results that the user wants in global memory; the others the next segment's threads write.
void Flight::write_results() {
  const Arguments &a = asked_->arguments();
  const CallResult &result = segment_.result;
  auto write = [&](auto *to, const auto &value, Own whose) {
    if (to != nullptr && !own(whose))
      copy(to, &value, sizeof(value));
  };
  write(a.new_request, result.request, own_requests);
  write(a.result, int(result.flag), own_flag);
  if (asked_->function == Function::Waitall) {
    std::size_t bytes = statuses_.size() * sizeof(MPI_Status);
    if (bytes == 0)
      return;
    if (!own(own_requests))
      copy(a.requests, requests_.data(), requests_.size() * sizeof(MPI_Request));
    if (a.statuses == MPI_STATUSES_IGNORE)
      return;
    if (own(own_status))
      deliver_own(statuses_.data(), 0, bytes);
    else
      copy(a.statuses, statuses_.data(), bytes);
    return;
  }
  write(a.request, result.request, own_requests);
  if (a.status != MPI_STATUS_IGNORE && result.flag)
    write(a.status, make_status(result), own_status);
}

} // namespace gmpi::split
