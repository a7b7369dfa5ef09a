// Long messages go straight to where they belong once the sender has mapped the receive's
// allocation: what kernels know of that. The rank that receives offers the allocation, the one that
// sends maps it, each by its host (offers.hpp); until then messages go through the channel.
//
// Invariant: an offer ends when a launch finds that its allocation has been freed, and its number
// is never used again. A receive that names it is one that is waited for, so its memory is there.
#pragma once

#include "../../queue/reply_device.hpp"
#include "channel_device.hpp"

namespace gmpi::device::peer {

/// Asks this rank's host for something, and goes on: `what` is for the proxy to understand.
GMPI_OUT_OF_LINE void ask(Function function, std::uint64_t what) {
  Attribute attribute = make_attribute(function, Scope::thread, {0, 0});
  attribute.in_bytes = what;
  post(context, attribute);
}

/// The offer that holds `bytes` bytes at `data`, and how far behind its begin they lie; number 0
/// where there is none.
GMPI_DEVICE Match find_offer(const State &state, const unsigned char *data,
                             unsigned long long bytes, unsigned long long &offset) {
  const auto address = reinterpret_cast<std::uint64_t>(data);
  const unsigned long long used = load_relaxed_device(&state.offers_used);
  GMPI_NO_UNROLL
  for (std::uint32_t place = 0; place < used; ++place) {
    const Packet begin = Packet::load(state.offers[place].begin);
    const Packet length = Packet::load(state.offers[place].bytes);
    const auto number = static_cast<std::uint32_t>(begin.low >> 32);
    offset = address - begin.data();
    if (number != 0 && begin.shows(number) && length.shows(number) && offset < length.data() &&
        bytes <= length.data() - offset)
      return {0, 0, place, number};
  }
  return {};
}

/// Asks the host for the one that holds what is there, once.
GMPI_OUT_OF_LINE void ask_for_offer(State &state, const unsigned char *data) {
  const auto address = reinterpret_cast<unsigned long long>(data);
  unsigned long long *asked = &state.asked[(address >> 16 ^ address >> 22) % 64];
  if (load_relaxed_device(asked) != address >> 16 &&
      atomicExch(asked, address >> 16) != address >> 16)
    ask(Function::offer, address);
}
/// The same as find_offer(); where there is none, the host is asked for it.
GMPI_OUT_OF_LINE Match find_or_ask_for_offer(State &state, const unsigned char *data,
                                             unsigned long long bytes, unsigned long long &offset) {
  const Match found = find_offer(state, data, bytes, offset);
  if (found.number == 0)
    ask_for_offer(state, data);
  return found;
}

/// Where this rank has that offer of `peer`'s mapped; null where it has not. Then the host is asked
/// for it, once.
GMPI_OUT_OF_LINE unsigned char *find_mapped(State &state, std::uint32_t peer, const Match &match) {
  const Packet mapped = Packet::load(state.mapped[peer][match.place]);
  if (mapped.shows(match.number))
    return reinterpret_cast<unsigned char *>(mapped.data());
  if (atomicExch(&state.asked_to_map[peer][match.place], match.number) != match.number)
    ask(Function::map_offer,
        std::uint64_t(peer) | std::uint64_t(match.place) << 8 | std::uint64_t(match.number) << 16);
  return nullptr;
}

} // namespace gmpi::device::peer
