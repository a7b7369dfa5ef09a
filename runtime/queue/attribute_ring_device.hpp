// Producer's side of the Attribute ring.
//
// Invariant: ticket t (from an atomic in device memory) owns ring slot t % ring_slots from the
// time the proxy has consumed Attribute t - ring_slots until it has consumed t, and writes it once,
// with generation t / ring_slots + 1. The ring's order is the tickets' order, which is MPI's.
#pragma once

#include "memory_device.hpp"

namespace gmpi::device {

/// Waits until the proxy has taken `needed` Attributes.
GMPI_OUT_OF_LINE void await_consumed(const Context &context, unsigned long long needed) {
  unsigned long long consumed;
  while ((consumed = load_system(context.consumed)) < needed)
    relax();
  atomicMax(&context.ring_state->consumed, consumed);
}

/// The next ticket, once its ring slot is free to write. Whoever takes one must soon write it: the
/// proxy goes no further until then.
GMPI_DEVICE unsigned long long take_ticket(const Context &context) {
  // Both at once: neither needs the other's result.
  unsigned long long consumed = load_relaxed_device(&context.ring_state->consumed);
  unsigned long long ticket = add_relaxed_device(&context.ring_state->ticket, 1);
  if (ticket >= consumed + ring_slots)
    await_consumed(context, ticket - ring_slots + 1);
  return ticket;
}

/// Where the data that goes with Attribute `ticket` is put, inline_bytes at most.
GMPI_DEVICE unsigned char *ring_payload(const Context &context, unsigned long long ticket) {
  return context.ring_payload + ticket % ring_slots * inline_bytes;
}

/// Hands `attribute` to the proxy. What was written for the host to read must be ordered before, by
/// the team's barrier and fence_system(), both the caller's.
GMPI_OUT_OF_LINE void write_attribute(const Context &context, unsigned long long ticket,
                                      const Attribute &attribute) {
  auto generation = static_cast<std::uint32_t>(ticket / ring_slots + 1);
  std::uint64_t contents[attribute_words] = {};
  pack_contents(attribute, contents);
  std::uint64_t *to = context.ring + ticket % ring_slots * attribute_words;
  GMPI_NO_UNROLL
  for (int i = 0; i < attribute_words; i += 2)
    store_system(to + i, tag_word(contents[i], generation),
                 tag_word(contents[i + 1], generation));
}

/// The same for an Attribute without data.
GMPI_DEVICE void post(const Context &context, const Attribute &attribute) {
  write_attribute(context, take_ticket(context), attribute);
}

} // namespace gmpi::device
