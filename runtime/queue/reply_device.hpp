// Waiting for Replies: by one thread, or by a warp whose lanes load a Reply and the data behind it
// at once. A load of the host's memory takes 1.2 us, and finds what was there when it was half way;
// one thread's loads of the same word follow each other. So what a call waits for should come with
// the first that finds it, and the first load should not be too early: what the proxy answers
// itself is there 0.8 us after its Attribute was written. (Loads that overlap, as asynchronous
// copies to shared memory, find a Reply sooner, but barriers and fences wait for those that are
// still under way then.)
#pragma once

#include "../launch/participant_device.hpp"

namespace gmpi::device {

/// A wait for a nonblocking call's request is announced to the proxy when it lasts (nanoseconds),
/// so that a report of blocked calls can tell it from a request that nobody waits for.
constexpr unsigned long long long_wait = 1000000000;

/// An Attribute of this block's, of which the caller fills the rest.
GMPI_DEVICE Attribute make_attribute(Function function, Scope scope, Site site) {
  Attribute attribute{};
  attribute.function = function;
  attribute.scope = scope;
  attribute.site = site;
  attribute.launch = block_state().launch_index;
  return attribute;
}

/// Has the Replies to it go to `slot`, which the caller holds. Returns the turn of the last.
GMPI_DEVICE std::uint32_t use_slot(Attribute &attribute, std::uint32_t slot) {
  const RequestRecord &record = context.records[slot];
  attribute.slot = slot;
  attribute.serial = record.serial;
  return attribute.turn = record.turn;
}

/// Posts one of the runtime's own requests about `slot`.
GMPI_OUT_OF_LINE void tell(Function function, Scope scope, Site site, std::uint32_t slot) {
  Attribute attribute = make_attribute(function, scope, site);
  attribute.slot = slot;
  post(context, attribute);
}

/// Whether a wait that began at `start` is now to be announced; asked in every turn.
GMPI_DEVICE bool is_long(unsigned turns, unsigned long long start) {
  return turns % 1024 == 0 && nanoseconds() - start >= long_wait;
}

/// A Reply's first two words.
struct ReplyHead {
  std::uint64_t words[2];
};

/// The head of the Reply after number `last_turn` in `slot`, if it has arrived. The host writes it
/// last, so that everything else is there for loads from here on.
GMPI_DEVICE bool try_head(const Context &context, std::uint32_t slot, std::uint32_t last_turn,
                          ReplyHead &head) {
  std::uint32_t turn = (last_turn + 1) & 0xffff;
  load_system(context.replies + slot * reply_stride, head.words[0], head.words[1]);
  if (generation_of(head.words[0]) != turn || generation_of(head.words[1]) != turn)
    return false;
  acquire_system();
  context.records[slot].turn = turn;
  return true;
}

/// All that a Reply says which is there, in `slot`.
GMPI_DEVICE Reply whole_reply(const Context &context, std::uint32_t slot) {
  std::uint64_t words[reply_words];
  for (int i = 0; i < reply_words; ++i)
    words[i] = load_weak(context.replies + slot * reply_stride + i);
  return unpack_reply(words);
}

/// What one look finds of a Reply: all that a copy needs to be known of.
struct CopyLook {
  std::uint64_t words[4];

  GMPI_DEVICE static CopyLook load(const Context &context, std::uint32_t slot) {
    CopyLook look;
    const std::uint64_t *from = context.replies + slot * reply_stride;
    load_system(from, look.words[0], look.words[1]);
    load_system(from + 2, look.words[2], look.words[3]);
    return look;
  }
  GMPI_DEVICE bool shows(std::uint32_t turn) const {
    return (generation_of(words[0]) == turn) & (generation_of(words[1]) == turn) &
           (generation_of(words[2]) == turn) & (generation_of(words[3]) == turn);
  }
  GMPI_DEVICE Reply reply() const {
    Reply reply = unpack_reply_head(words);
    reply.address = FromWord<void *>::get(words[2]);
    reply.offset = content_of(words[3]);
    return reply;
  }
};

/// What the head says; behind it, of the other words, what the kind or `want_status` needs.
GMPI_DEVICE Reply read_reply(const Context &context, std::uint32_t slot, const ReplyHead &head,
                             bool want_status) {
  const Reply reply = unpack_reply_head(head.words);
  return want_status || asks_for_copy(reply.kind) ? whole_reply(context, slot) : reply;
}

GMPI_DEVICE bool try_reply(const Context &context, std::uint32_t slot, std::uint32_t last_turn,
                           bool want_status, Reply &reply) {
  ReplyHead head;
  if (!try_head(context, slot, last_turn, head))
    return false;
  reply = read_reply(context, slot, head, want_status);
  return true;
}

/// One thread waits for the next Reply.
GMPI_OUT_OF_LINE ReplyHead await_head(Waiting waiting, Scope scope) {
  ReplyHead head;
  unsigned long long start = nanoseconds();
  for (unsigned turns = 0; !try_head(context, waiting.slot, waiting.turn, head); ++turns) {
    if (waiting.announce && is_long(turns, start)) {
      tell(Function::waiting, scope, waiting.site, waiting.slot);
      waiting.announce = false;
    }
    relax();
  }
  return head;
}

/// Twelve bytes of received data, as two words carry them, of which `left` belong at `to`.
GMPI_DEVICE void store_pair(unsigned char *to, std::uint64_t a, std::uint64_t b,
                            std::int32_t left) {
  std::uint64_t low = content_of(a) | b << 48, high = content_of(b) >> 16;
  if ((reinterpret_cast<std::uint64_t>(to) & 3) == 0) {
    const std::uint32_t parts[3] = {static_cast<std::uint32_t>(low),
                                    static_cast<std::uint32_t>(low >> 32),
                                    static_cast<std::uint32_t>(high)};
    auto *words = reinterpret_cast<std::uint32_t *>(to);
    GMPI_UNROLL
    for (int i = 0; i < 3; ++i)
      if (left >= 4 * (i + 1))
        words[i] = parts[i];
    if (left >= pair_bytes || (left & 3) == 0)
      return;
  }
  GMPI_NO_UNROLL
  for (int i = 0; i < pair_bytes && i < left; ++i) {
    to[i] = static_cast<unsigned char>(low);
    low = low >> 8 | high << 56;
    high >>= 8;
  }
}

/// The data of a Reply of kind done_here.
GMPI_DEVICE void store_head_data(const Reply &reply, void *to) {
  store_pair(static_cast<unsigned char *>(to), reply.data[0],
             reply.data[0] >> 48 | reply.data[1] << 16, static_cast<std::int32_t>(reply.bytes));
}

/// Copies what lies behind a Reply of kind done_beside: one thread's way.
GMPI_OUT_OF_LINE void read_beside(const Context &context, std::uint32_t slot, std::uint32_t bytes,
                                  unsigned char *to) {
  const std::uint64_t *from = context.replies + slot * reply_stride + reply_words;
  GMPI_NO_UNROLL
  for (std::uint32_t at = 0; at < bytes; at += 4 * word_bytes) {
    std::uint64_t words[4];
    for (int i = 0; i < 4; ++i)
      words[i] = load_weak(from + at / word_bytes + i);
    for (std::uint32_t i = 0; i < 4 * word_bytes; ++i)
      if (at + i < bytes)
        to[at + i] = static_cast<unsigned char>(words[i / word_bytes] >> 8 * (i % word_bytes));
  }
}

/// What a warp's wait for a Reply has found: a pair of its words in each lane, or several, 32 pairs
/// from each other; behind the first few, pairs of its data.
struct Found {
  static constexpr std::uint32_t reply_pairs = reply_words / 2,
                                 rounds = (reply_words + reply_data_words) / 64;
  std::uint64_t a[rounds], b[rounds];
  std::uint32_t pairs; ///< in all
  Reply reply;         ///< as its head says, in every lane

  /// Pairs of a Reply with so much data behind it.
  GMPI_DEVICE static std::uint32_t pairs_for(std::uint32_t bytes) {
    return reply_pairs + (bytes + pair_bytes - 1) / pair_bytes;
  }
};

/// Cycles that a warp lets pass before it first looks for the Reply to an Attribute: beside what it
/// does meanwhile.
constexpr std::uint32_t before_first_look = 900;

/// A block's first warp, whole, waits for a Reply.
GMPI_DEVICE Found poll_as_warp(const Waiting &waiting, Scope scope) {
  constexpr unsigned everyone = 0xffffffffu, whole_reply = (1u << Found::reply_pairs) - 1;
  const std::uint32_t lane = lane_index(), turn = (waiting.turn + 1) & 0xffff;
  const std::uint64_t *from = context.replies + waiting.slot * reply_stride + 2 * lane;
  Found found{};
  found.pairs = Found::pairs_for(waiting.expected > reply_head_bytes ? waiting.expected : 0);
  const auto shows = [&](std::uint32_t k) {
    return generation_of(found.a[k]) == turn && generation_of(found.b[k]) == turn;
  };
  const unsigned long long start = waiting.announce ? nanoseconds() : 0;
  bool announce = waiting.announce && lane == 0;
  GMPI_NO_UNROLL
  for (unsigned turns = 0;; ++turns) {
    GMPI_UNROLL
    for (std::uint32_t k = 0; k < Found::rounds; ++k)
      if (lane + 32 * k < found.pairs)
        load_system(from + 64 * k, found.a[k], found.b[k]);
    if ((__ballot_sync(everyone, shows(0)) & whole_reply) == whole_reply) {
      const std::uint64_t head[2] = {__shfl_sync(everyone, found.a[0], 0),
                                     __shfl_sync(everyone, found.b[0], 0)};
      found.reply = unpack_reply_head(head);
      const std::uint32_t looked_at = found.pairs;
      found.pairs = Found::pairs_for(found.reply.kind == ReplyKind::done_beside
                                         ? static_cast<std::uint32_t>(found.reply.bytes)
                                         : 0);
      bool all = true;
      GMPI_UNROLL
      for (std::uint32_t k = 0; k < Found::rounds; ++k)
        all = all && (lane + 32 * k >= found.pairs || (lane + 32 * k < looked_at && shows(k)));
      if (__all_sync(everyone, all))
        break;
    }
    if (announce && is_long(turns, start)) {
      tell(Function::waiting, scope, waiting.site, waiting.slot);
      announce = false;
    }
    if (lane == 0)
      relax();
  }
  acquire_system();
  if (lane == 0)
    context.records[waiting.slot].turn = turn;
  return found;
}

/// Stores the data that has come with a Reply, `to` is for all. The same warp.
GMPI_DEVICE void store_found(const Found &found, unsigned char *to) {
  const std::uint32_t lane = lane_index();
  if (found.reply.kind == ReplyKind::done_beside) {
    GMPI_UNROLL
    for (std::uint32_t k = 0; k < Found::rounds; ++k)
      if (const std::uint32_t p = lane + 32 * k; p >= Found::reply_pairs && p < found.pairs) {
        const std::uint32_t at = (p - Found::reply_pairs) * pair_bytes;
        store_pair(to + at, found.a[k], found.b[k],
                   static_cast<std::int32_t>(found.reply.bytes) - static_cast<std::int32_t>(at));
      }
  } else if (lane == 0 && found.reply.kind == ReplyKind::done_here) {
    store_head_data(found.reply, to);
  }
}
/// Leaves its words in the block's state. The same warp.
GMPI_DEVICE void keep_found(const Found &found) {
  const std::uint32_t lane = lane_index();
  if (lane < Found::reply_pairs) {
    block_state().reply[2 * lane] = found.a[0];
    block_state().reply[2 * lane + 1] = found.b[0];
  }
}

/// The first warp waits as block.waiting says. Reply and data end in the block's state.
GMPI_OUT_OF_LINE void await_reply_as_warp(Scope scope) {
  BlockState &block = block_state();
  __syncwarp();
  const Waiting waiting = block.waiting;
  const Found found = poll_as_warp(waiting, scope);
  const ReplyKind kind = found.reply.kind;
  auto *to = static_cast<unsigned char *>(waiting.out);
  store_found(found, to == nullptr ? block.small : to);
  keep_found(found);
  if (thread_index() == 0)
    block.stored =
        to != nullptr && (kind == ReplyKind::done_here || kind == ReplyKind::done_beside);
}

/// The same by one thread, where some of the block's have left.
GMPI_OUT_OF_LINE void await_reply_for_block(Scope scope) {
  BlockState &block = block_state();
  std::uint32_t slot = block.waiting.slot;
  ReplyHead head = await_head(block.waiting, scope);
  Reply reply = unpack_reply_head(head.words);
  block.reply[0] = head.words[0];
  block.reply[1] = head.words[1];
  if (block.waiting.want_status || asks_for_copy(reply.kind))
    for (int i = 2; i < reply_words; ++i)
      block.reply[i] = load_weak(context.replies + slot * reply_stride + i);
  auto *const out = static_cast<unsigned char *>(block.waiting.out);
  auto *const to = out == nullptr ? block.small : out;
  block.stored = out != nullptr &&
                 (reply.kind == ReplyKind::done_here || reply.kind == ReplyKind::done_beside);
  if (reply.kind == ReplyKind::done_here)
    store_head_data(reply, to);
  else if (reply.kind == ReplyKind::done_beside)
    read_beside(context, slot, static_cast<std::uint32_t>(reply.bytes), to);
}

} // namespace gmpi::device
