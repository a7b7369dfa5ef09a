// What a call returns, as the driver learns it.
#pragma once

#include "../queue/context.hpp"

namespace gmpi::split {

/// Of a message that is none: from MPI_PROC_NULL or, for a request that was null, MPI_ANY_SOURCE.
inline CallResult nothing_received(int source) {
  CallResult result{};
  result.flag = 1;
  result.source = source;
  result.tag = MPI_ANY_TAG;
  result.request = MPI_REQUEST_NULL;
  return result;
}

inline MPI_Status make_status(const CallResult &result) {
  MPI_Status status{};
  status.MPI_SOURCE = result.source;
  status.MPI_TAG = result.tag;
  status.MPI_ERROR = result.error;
  set_status_bytes(status, static_cast<long long>(result.bytes));
  return status;
}

inline CallResult result_of(const Reply &reply) {
  CallResult result{};
  result.error = reply.error;
  result.flag = reply.kind != ReplyKind::accepted;
  result.source = reply.source;
  result.tag = reply.tag;
  result.bytes = reply.kind == ReplyKind::answer ? reply.bytes : reply.message_bytes;
  result.request = MPI_REQUEST_NULL;
  return result;
}

} // namespace gmpi::split
