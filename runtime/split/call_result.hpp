// What a call returns, as the driver learns it.
#pragma once

#include "../queue/call_result.hpp"

namespace gmpi::split {

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
