// Producer's side of the Attribute ring.
//
// Invariant: ticket t (from an atomic in device memory) owns ring slot t % ring_slots from the
// time the proxy has consumed Attribute t - ring_slots until it has consumed t, and writes it once,
// with ring_generation(t). The ring's order is the tickets' order, which is MPI's.
#pragma once

#include "memory_device.hpp"

namespace gmpi::device {

/// Waits until the proxy has taken `needed` Attributes. Of all threads that do, one at a time asks
/// the host: hundreds of them would keep the bus from those that have something to say.
GMPI_DEVICE void await_consumed_here(const Context &context, unsigned long long needed) {
  RingState &ring = *context.ring_state;
  while (load_relaxed_device(&ring.consumed) < needed) {
    if (load_relaxed_device(&ring.asking) == 0 && atomicExch(&ring.asking, 1u) == 0) {
      atomicMax(&ring.consumed, static_cast<unsigned long long>(load_system(context.consumed)));
      atomicExch(&ring.asking, 0u);
    } else {
      pause();
    }
  }
}
GMPI_OUT_OF_LINE void await_consumed(const Context &context, unsigned long long needed) {
  await_consumed_here(context, needed);
}

/// The next ticket, and how many Attributes the proxy is known to have taken. It is under way where
/// this returns: what needs neither should stand between.
struct NextTicket {
  unsigned long long consumed, ticket;
};

/// Whoever takes a ticket must soon write it: the proxy goes no further until then. First,
/// await_room() is to follow.
GMPI_DEVICE NextTicket next_ticket(const Context &context) {
  // Both at once: neither needs the other's result.
  unsigned long long consumed = load_relaxed_device(&context.ring_state->consumed);
  return {consumed, add_relaxed_device(&context.ring_state->ticket, 1)};
}
/// The same for one lane of a warp, which does something else until it looks at them.
GMPI_DEVICE NextTicket next_ticket_in_flight(const Context &context) {
  unsigned long long consumed = load_relaxed_device(&context.ring_state->consumed);
  return {consumed, add_in_flight_device(&context.ring_state->ticket, 1)};
}
/// The ticket, once its ring slot is free to write.
GMPI_DEVICE unsigned long long await_room(const Context &context, NextTicket next) {
  if (next.ticket >= next.consumed + ring_slots)
    await_consumed(context, next.ticket - ring_slots + 1);
  return next.ticket;
}
/// The same in a function that calls none.
GMPI_DEVICE void await_room_here(const Context &context, const NextTicket &next) {
  if (next.ticket >= next.consumed + ring_slots)
    await_consumed_here(context, next.ticket - ring_slots + 1);
}
GMPI_DEVICE unsigned long long take_ticket(const Context &context) {
  return await_room(context, next_ticket(context));
}

/// Where the data that goes with Attribute `ticket` is put, inline_bytes at most.
GMPI_DEVICE unsigned char *ring_payload(const Context &context, unsigned long long ticket) {
  return context.ring_payload + ticket % ring_slots * inline_bytes;
}

/// Up to four bytes of the `left` that there are at `from`.
GMPI_DEVICE std::uint32_t load_up_to_4(const unsigned char *from, std::int32_t left) {
  if (left >= 4 && (reinterpret_cast<std::uint64_t>(from) & 3) == 0)
    return *reinterpret_cast<const std::uint32_t *>(from);
  std::uint32_t value = 0;
  GMPI_NO_UNROLL
  for (int i = 0; i < 4 && i < left; ++i)
    value |= std::uint32_t(from[i]) << 8 * i;
  return value;
}

/// Twelve bytes of data, fewer at its end, as two words carry them.
struct DataPair {
  std::uint32_t low, middle, high;

  GMPI_DEVICE static DataPair load(const unsigned char *from, std::int32_t left) {
    return {load_up_to_4(from, left), load_up_to_4(from + 4, left - 4),
            load_up_to_4(from + 8, left - 8)};
  }
  /// The same of whole words of four bytes at an address for such.
  GMPI_DEVICE static DataPair load_words(const unsigned char *from, std::int32_t left) {
    auto *words = reinterpret_cast<const std::uint32_t *>(from);
    return {left > 0 ? words[0] : 0, left > 4 ? words[1] : 0, left > 8 ? words[2] : 0};
  }
  GMPI_DEVICE void store(std::uint64_t *to, std::uint32_t generation) const {
    store_system(to, tag_word(low | std::uint64_t(middle) << 32, generation),
                 tag_word(middle >> 16 | std::uint64_t(high) << 16, generation));
  }
};
constexpr std::int32_t pair_bytes = 2 * word_bytes;

/// One member's share of writing the data of Attribute `ticket`, tagged_bytes at most, in words
/// with its generation: two words at a time, twelve bytes. No fence: the proxy waits until it sees
/// them.
GMPI_OUT_OF_LINE void write_data(const Context &context, unsigned long long ticket,
                                 const void *data, std::int32_t bytes, std::int32_t rank,
                                 std::int32_t size) {
  auto *from = static_cast<const unsigned char *>(data);
  auto *to = reinterpret_cast<std::uint64_t *>(ring_payload(context, ticket));
  std::uint32_t generation = ring_generation(ticket);
  constexpr std::int32_t at_once = 4; // their loads are under way together
  const std::int32_t step = size * pair_bytes;
  std::int32_t at = rank * pair_bytes;
  if (is_in_words(data, static_cast<std::uint32_t>(bytes))) {
    GMPI_NO_UNROLL
    for (; at < bytes; at += at_once * step) {
      DataPair pairs[at_once];
      GMPI_UNROLL
      for (std::int32_t k = 0; k < at_once; ++k)
        if (at + k * step < bytes)
          pairs[k] = DataPair::load_words(from + at + k * step, bytes - at - k * step);
      GMPI_UNROLL
      for (std::int32_t k = 0; k < at_once; ++k)
        if (at + k * step < bytes)
          pairs[k].store(to + (at + k * step) / word_bytes, generation);
    }
    return;
  }
  GMPI_NO_UNROLL
  for (; at < bytes; at += step)
    DataPair::load(from + at, bytes - at).store(to + at / word_bytes, generation);
}

/// What a whole warp writes without a barrier: a pair in each lane.
constexpr std::int32_t warp_data_bytes = 32 * pair_bytes;

/// Hands an Attribute to the proxy, whose words yet lack the generation. Data beside it that
/// carries none must be ordered before, by the team's barrier and release_system(), both the
/// caller's.
GMPI_DEVICE void write_words(const Context &context, unsigned long long ticket,
                             const std::uint64_t *contents) {
  std::uint32_t generation = ring_generation(ticket);
  std::uint64_t *to = context.ring + ticket % ring_slots * attribute_words;
  GMPI_NO_UNROLL
  for (int i = 0; i < attribute_words; i += 2)
    store_system(to + i, tag_word(contents[i], generation), tag_word(contents[i + 1], generation));
}

/// The same of contents in registers.
GMPI_DEVICE void write_words_here(const Context &context, unsigned long long ticket,
                                  const std::uint64_t *contents) {
  const std::uint32_t generation = ring_generation(ticket);
  std::uint64_t *const words = context.ring + ticket % ring_slots * attribute_words;
  GMPI_UNROLL
  for (int i = 0; i < attribute_words; i += 2)
    store_system(words + i, tag_word(contents[i], generation),
                 tag_word(contents[i + 1], generation));
}

/// The same by a whole warp, in one store; the ticket is every lane's.
GMPI_DEVICE void write_words_as_warp(const Context &context, unsigned long long ticket,
                                     const std::uint64_t *contents, std::uint32_t lane) {
  std::uint32_t generation = ring_generation(ticket), i = 2 * lane;
  if (i < attribute_words)
    store_system(context.ring + ticket % ring_slots * attribute_words + i,
                 tag_word(contents[i], generation), tag_word(contents[i + 1], generation));
}

GMPI_DEVICE void write_attribute(const Context &context, unsigned long long ticket,
                                 const Attribute &attribute) {
  std::uint64_t contents[attribute_words] = {};
  pack_contents(attribute, contents);
  write_words(context, ticket, contents);
}

/// The same for an Attribute without data.
GMPI_DEVICE void post(const Context &context, const Attribute &attribute) {
  write_attribute(context, take_ticket(context), attribute);
}

} // namespace gmpi::device
