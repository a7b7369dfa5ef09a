// What a call returns besides message data, as its last Reply says, and the status made of it. Host
// and device.
#pragma once

#include "context.hpp"

namespace gmpi {

/// Of a message that is none: from or to MPI_PROC_NULL or, for a request that was null,
/// MPI_ANY_SOURCE.
GMPI_HOST_DEVICE inline CallResult nothing_received(int source = MPI_PROC_NULL) {
  CallResult result{};
  result.error = MPI_SUCCESS;
  result.flag = 1;
  result.source = source;
  result.tag = MPI_ANY_TAG;
  result.request = MPI_REQUEST_NULL;
  return result;
}

/// Of a call's last Reply; no request is left.
GMPI_HOST_DEVICE inline CallResult result_of(const Reply &reply) {
  CallResult result{};
  result.error = reply.error;
  result.flag = reply.kind != ReplyKind::accepted;
  result.source = reply.source;
  result.tag = reply.tag;
  result.bytes = reply.kind == ReplyKind::answer ? reply.bytes : reply.message_bytes;
  result.request = MPI_REQUEST_NULL;
  return result;
}

GMPI_HOST_DEVICE inline MPI_Status make_status(const CallResult &result) {
  MPI_Status status{};
  status.MPI_SOURCE = result.source;
  status.MPI_TAG = result.tag;
  status.MPI_ERROR = result.error;
  set_status_bytes(status, static_cast<long long>(result.bytes));
  return status;
}

} // namespace gmpi
