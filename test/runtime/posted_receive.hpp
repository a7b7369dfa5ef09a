// A receive that no message has matched, as kernels would have posted it.
#pragma once

#include "peer/matching/matching_device.hpp"

/// Its record: in request slot `index` of the rank whose state that is, for its first communicator.
inline gmpi::peer::Request &describe_receive(gmpi::peer::State &state, std::uint32_t index, int tag,
                                             std::uint32_t from) {
  gmpi::peer::Request &request = state.requests[index];
  request.comm = &state.comms[0];
  request.context = state.comms[0].context;
  request.peer = from;
  request.tag = tag;
  request.busy = 1;
  gmpi::device::peer::set_state(request, gmpi::peer::RequestState::posted);
  ++state.summary.posted;
  return request;
}

/// In a list.
inline gmpi::peer::Request &post_receive(gmpi::peer::State &state, std::uint32_t index, int tag,
                                         std::uint32_t from) {
  gmpi::peer::Request &request = describe_receive(state, index, tag, from);
  gmpi::device::peer::append_posted(state, index);
  return request;
}

/// In the ring, under the next number.
inline gmpi::peer::Request &post_receive_into_ring(gmpi::peer::State &state, std::uint32_t index,
                                                   int tag, std::uint32_t from) {
  gmpi::peer::Request &request = describe_receive(state, index, tag, from);
  const std::uint32_t number = state.posts.next++;
  state.posts.entry[number % gmpi::peer::PostRing::places] =
      index | static_cast<unsigned long long>(number + 1) << 32;
  return request;
}
