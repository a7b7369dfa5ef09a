// The quick way of a single thread's call by way of the proxy, and what a thread alone reads and
// writes: each load of the host's memory takes it 1.2 us, so many are under way together.
//
// Invariant: where asking returns nothing, nothing has happened; where it returns asked, the proxy
// knows of the call, and this thread holds a slot. It calls no function, so no registers are saved.
// Lanes of a warp that come together take slots together, and wait each for itself: what one of
// them waits for may be what another does next.
#pragma once

#include "../transport/copy_device.hpp"
#include "short_device.hpp"

namespace gmpi::device {

/// What one thread copies from the host's memory: whole words of four bytes several at a time.
GMPI_OUT_OF_LINE void read_alone(void *to, const void *from, unsigned long long bytes) {
  constexpr std::uint32_t most = 8, few = 2;
  auto *out = static_cast<unsigned char *>(to);
  auto *in = static_cast<const unsigned char *>(from);
  if (is_in_words(to, 0) && (reinterpret_cast<std::uint64_t>(from) & 15) == 0) {
    auto *words = static_cast<const uint4 *>(from);
    unsigned long long read =
        read_turns<most>(out, words, static_cast<std::uint32_t>(bytes / (16 * most)), 0, 1);
    read += read_turns<few>(out + read, words + read / 16,
                            static_cast<std::uint32_t>((bytes - read) / (16 * few)), 0, 1);
    out += read;
    in += read;
    bytes -= read;
  }
  if (bytes != 0)
    copy_share(out, in, bytes, 0, 1);
}

/// Whether a thread's call begins here.
template <Function F>
constexpr bool asks_alone = (kind_of(F) == Kind::blocking || kind_of(F) == Kind::collective) &&
                            !tells_flag(F);

/// Takes the slot that the block keeps, if it does and no other thread has it; of lanes that come
/// together, each one of those that all share. Else, no_slot.
GMPI_DEVICE std::uint32_t take_slot_alone(const LanesHere &lanes) {
  BlockState &block = block_state();
  if (lanes.count != 1)
    return take_slots_together(context, lanes);
  if (block.own_slot >= request_slots || atomicExch(&block.slot_taken, 1u) != 0)
    return no_slot;
  __threadfence_block();
  return block.own_slot;
}

/// How far a thread's call has come; of one that has been asked, its slot, the turn of the last
/// Reply there before, and the head of the one that has come. Of an answer, the number.
struct Alone {
  Begun begun;
  std::uint32_t slot, turn;
  ReplyHead head;
  std::uint64_t number;
};

/// A call that has been asked has a Reply which says more than that all is well, or brings more
/// than this thread has looked for: the general way goes on with that.
GMPI_DEVICE bool ends_alone(const Reply &reply, std::uint32_t room) {
  return reply.error == MPI_SUCCESS &&
         (reply.kind == ReplyKind::answer ||
          (is_done(reply.kind) &&
           (reply.kind == ReplyKind::done ? reply.bytes == 0 : reply.bytes <= room)));
}

/// Hands a thread's blocking call, or question, over to the proxy, and awaits its Reply. Returns
/// over, nothing or asked.
template <Function F> GMPI_DEVICE Alone ask_alone(Site site, const Arguments &a) {
  // Of data, either way: as registers are there.
  constexpr std::int32_t most_pairs = F == Function::Send || F == Function::Recv ? 6 : 3;
  constexpr std::uint32_t most_bytes = most_pairs * pair_bytes;
  constexpr Alone nothing{Begun::nothing, 0, 0, {}, 0}, over{Begun::over, 0, 0, {}, 0};
  if (goes_nowhere(F, a))
    return nothing;
  const Buffers buffers = buffers_of(F, a, message_bytes);
  const bool detached = F == Function::Send && sends_in_range(a, known_size_alone(a.comm));
  if ((F == Function::Send && !detached) || buffers.in_bytes > most_bytes ||
      buffers.out_bytes > context.direct_above || buffers.out_bytes == unknown_bytes ||
      !is_in_words(buffers.in, buffers.in_bytes))
    return nothing;
  const LanesHere lanes = lanes_here();
  std::uint32_t slot = 0, turn = 0, serial = 0;
  if (!detached) {
    slot = take_slot_alone(lanes);
    if (slot == no_slot)
      return nothing;
  }
  // All of these need nothing of each other.
  const NextTicket next = next_ticket(context);
  if (!detached) {
    turn = context.records[slot].turn;
    serial = context.records[slot].serial;
  }
  const auto bytes = static_cast<std::int32_t>(buffers.in_bytes);
  DataPair pairs[most_pairs];
  GMPI_UNROLL
  for (std::int32_t k = 0; k < most_pairs; ++k)
    if (k * pair_bytes < bytes)
      pairs[k] = DataPair::load_words(
          static_cast<const unsigned char *>(buffers.in) + k * pair_bytes, bytes - k * pair_bytes);
  Attribute attribute = make_attribute(F, Scope::thread, site);
  attribute.inline_in = true;
  attribute.tagged = bytes != 0;
  attribute.detached = detached;
  attribute.in_bytes = buffers.in_bytes;
  attribute.slot = slot;
  attribute.serial = serial;
  attribute.turn = turn;
  attribute.beside = most_bytes;
  std::uint64_t contents[attribute_words] = {};
  pack_call(F, site, a, contents);
  pack_head(attribute, contents);
  await_room_here(context, next);
  const std::uint32_t generation = ring_generation(next.ticket);
  auto *const beside = reinterpret_cast<std::uint64_t *>(ring_payload(context, next.ticket));
  GMPI_UNROLL
  for (std::int32_t k = 0; k < most_pairs; ++k)
    if (k * pair_bytes < bytes)
      pairs[k].store(beside + 2 * k, generation);
  write_words_here(context, next.ticket, contents);
  if (detached)
    return over;

  let_pass(before_first_look);
  const bool want_status = wants_status(a);
  const std::uint32_t expected = (turn + 1) & 0xffff;
  const std::uint64_t *const from = context.replies + slot * reply_stride;
  std::uint64_t head[2];
  GMPI_NO_UNROLL
  for (;;) {
    load_system(from, head[0], head[1]);
    if (generation_of(head[0]) == expected && generation_of(head[1]) == expected)
      break;
    relax();
  }
  if constexpr (kind_of(F) == Kind::local) // the proxy answers all of them at once
    lanes.sync();
  acquire_system();
  context.records[slot].turn = expected;
  const Reply reply = unpack_reply_head(head);
  if (!ends_alone(reply, most_bytes))
    return {Begun::asked, slot, turn, {{head[0], head[1]}}, 0};
  auto *const to = static_cast<unsigned char *>(buffers.out);
  if (reply.kind == ReplyKind::done_here)
    store_head_data(reply, to);
  // The host has written the head last. All of these are under way together.
  std::uint64_t status[3] = {}, data[2 * most_pairs] = {};
  if (want_status) {
    GMPI_UNROLL
    for (int i = 0; i < 3; ++i)
      status[i] = load_weak(from + 4 + i);
  }
  if (reply.kind == ReplyKind::done_beside) {
    const auto received = static_cast<std::int32_t>(reply.bytes);
    GMPI_UNROLL
    for (std::int32_t i = 0; i < 2 * most_pairs; ++i)
      if (i * static_cast<std::int32_t>(word_bytes) < received)
        data[i] = load_weak(from + reply_words + i);
    GMPI_UNROLL
    for (std::int32_t k = 0; k < most_pairs; ++k)
      if (k * pair_bytes < received)
        store_pair(to + k * pair_bytes, data[2 * k], data[2 * k + 1], received - k * pair_bytes);
  }
  give_slot<Scope::thread>(slot);
  if (want_status) {
    CallResult result{};
    result.source = static_cast<std::int32_t>(status[0]);
    result.tag = static_cast<std::int32_t>(status[1]);
    result.bytes = content_of(status[2]);
    *a.status = make_status(result);
  }
  return {Begun::over, 0, 0, {}, reply.bytes};
}

} // namespace gmpi::device
