// The quickest way of calls by way of the proxy: what most calls do, and nothing else. A block's
// first warp, whole, hands over a call whose arguments are known to be right, and what comes with
// the first Reply is stored and the call over.
//
// Invariant: whatever is unusual is left to others (quick_device.hpp), before anything has
// happened, or with the Reply in the block's state. What asks calls no function, so no registers
// are saved, and what can be is under way together: a place in the ring, the data, the slot's
// numbers.
#pragma once

#include "../mpi/datatypes_device.hpp"
#include "../mpi/first_warp_device.hpp"
#include "call_result.hpp"
#include "kept_slots_device.hpp"
#include "team_device.hpp"

namespace gmpi::device {

// --- what is known of a call's arguments ---

/// The ranks of a communicator that every thread knows, or this block, which remembers `told`; 0:
/// of another.
GMPI_DEVICE std::uint32_t known_size(MPI_Comm comm, std::uint64_t told) {
  return comm == context.world  ? static_cast<std::uint32_t>(context.world_size)
         : comm == context.self ? 1
         : content_of(told) == content_of(to_word(comm)) ? generation_of(told)
                                                         : 0;
}
/// As a block's first warp, whole, knows it; and as a thread does, while others may ask.
GMPI_DEVICE std::uint32_t known_size(MPI_Comm comm) {
  return known_size(comm, block_state().known_comm);
}
GMPI_DEVICE std::uint32_t known_size_alone(MPI_Comm comm) {
  const bool asks = comm != context.world && comm != context.self;
  return known_size(comm, asks ? atomicOr(&block_state().known_comm, 0ull) : 0);
}

/// What the proxy has said of a communicator's size; 0: nothing yet. From host memory: one thread
/// asks.
GMPI_OUT_OF_LINE std::uint32_t size_told(MPI_Comm comm) {
  const std::uint64_t word = load_system(context.comm_sizes + comm_hash(comm));
  return content_of(word) == content_of(to_word(comm)) ? generation_of(word) : 0;
}
/// The same, and the block remembers it. (That is wrong once a communicator is freed, and another
/// has got its handle, while this kernel runs: the proxy reports a send out of its range.)
GMPI_DEVICE std::uint32_t ask_size(MPI_Comm comm) {
  const std::uint32_t ranks = size_told(comm);
  if (ranks != 0)
    atomicExch(&block_state().known_comm,
               static_cast<unsigned long long>(tag_word(to_word(comm), ranks)));
  return ranks;
}

/// Whether MPI is known to take a send's arguments, on a communicator of `ranks` ranks.
GMPI_DEVICE bool sends_in_range(const Arguments &a, std::uint32_t ranks) {
  return a.send_count >= 0 && a.send_tag >= 0 && a.send_tag <= context.tag_upper_bound &&
         a.dest >= 0 && static_cast<std::uint32_t>(a.dest) < ranks;
}

/// The same as message_bytes() for a block's first warp, whole: the block remembers the last
/// datatype.
GMPI_DEVICE std::uint64_t remembered_bytes(int count, MPI_Datatype datatype) {
  BlockState &block = block_state();
  const std::uint64_t known = block.known_datatype;
  std::uint32_t extent = generation_of(known);
  if (content_of(known) != content_of(to_word(datatype))) {
    extent = static_cast<std::uint32_t>(find_datatype(datatype).extent);
    __syncwarp();
    if (lane_index() == 0)
      block.known_datatype = tag_word(to_word(datatype), extent);
    __syncwarp();
  }
  return count <= 0 ? 0 : extent == 0 ? unknown_bytes : static_cast<std::uint64_t>(count) * extent;
}

/// What may come beside a Reply for a receive into this memory: each thread's own is filled by way
/// of the block's.
GMPI_DEVICE std::uint32_t most_beside(const void *out) {
  return is_local(out) ? block_keeps : reply_data_bytes;
}
/// What is expected there of a message of at most so many bytes; 0: it may be longer.
GMPI_DEVICE std::uint32_t expected_beside(const void *out, std::uint64_t bytes) {
  return bytes <= most_beside(out) ? static_cast<std::uint32_t>(bytes) : 0;
}

/// Where a warp is to store what comes for a receive into this memory, as Waiting::out says.
GMPI_DEVICE void *stored_at(void *out) {
  return out == nullptr  ? block_state().small // nothing comes
         : is_local(out) ? nullptr
                         : out;
}

// --- what comes with a Reply ---

/// Leaves the data that came with a Reply, for every thread's own buffer, to the other blocks.
template <Scope S> GMPI_DEVICE void share_small(std::uint32_t bytes) {
  if constexpr (S == Scope::grid) {
    BlockState &block = block_state();
    auto *from = reinterpret_cast<const std::uint64_t *>(block.small);
    auto *to = reinterpret_cast<std::uint64_t *>(block.launch->broadcast);
    for (std::uint32_t i = thread_index(); i * 8 < bytes; i += 32)
      to[i] = from[i];
    if (thread_index() == 0)
      block.launch->task = {bytes, 0, 0, GridTask::copy};
  }
}

/// What lane 0 leaves to end_quickly(): what a call returns, and in the grid's launch, too.
template <Scope S> GMPI_DEVICE void keep_result(const CallResult &result) {
  BlockState &block = block_state();
  block.peer.result = result;
  if (S == Scope::grid)
    block.launch->result = result;
}

/// Of a grid's call, the other blocks go on. What the warp has read and written lies behind it.
template <Scope S> GMPI_DEVICE void end_as_warp() {
  __syncwarp();
  if (lane_index() == 0) {
    prepare_end<S>();
    tell_end_of_call<S>();
  }
}

/// What a call from or to MPI_PROC_NULL returns, or one that waits for nothing.
template <Function F> GMPI_DEVICE CallResult with_nobody() {
  CallResult result = nothing_received();
  if (kind_of(F) == Kind::nonblocking)
    result.request = null_peer_request();
  return result;
}
/// Ends such a call.
template <Function F, Scope S> GMPI_DEVICE Begun end_with_nobody(const Arguments &a) {
  if (lane_index() == 0)
    keep_result<S>(with_nobody<F>());
  end_as_warp<S>();
  return returns_something<F>(a) ? Begun::answered : Begun::over;
}

/// The most that all of a block copy by themselves: its threads count bytes in 32 bits.
constexpr unsigned long long most_by_block = (1u << 30) - 1;
/// Whether all of the block make a copy that the proxy asks for, rather than all blocks of a grid.
template <Scope S> GMPI_DEVICE bool is_copied_by_block(const Reply &reply) {
  const bool sends = reply.kind == ReplyKind::copy_in;
  return reply.bytes <= most_by_block &&
         (S != Scope::grid ||
          is_for_block(reply.bytes, sends ? shared_send_bytes : shared_receive_bytes));
}

/// Takes what the first Reply to a call brings, all that most do not need. Returns how far the call
/// has come. `reads`: all of the block can read and write what is long.
template <Scope S>
GMPI_DEVICE Begun take_found(const Found &found, const Waiting &waiting, bool reads) {
  BlockState &block = block_state();
  void *out = waiting.out;
  const bool own = out == nullptr;
  if (found.reply.bytes != 0)
    store_found(found, own ? block.small : static_cast<unsigned char *>(out));
  keep_found(found);
  __syncwarp();
  const Reply reply = unpack_reply(block.reply);
  const auto bytes = static_cast<std::uint32_t>(reply.bytes);
  const bool by_payload = reply.kind == ReplyKind::done && bytes != 0;
  const bool copies = asks_for_copy(reply.kind) && reads && is_copied_by_block<S>(reply);
  if (copies && reply.kind == ReplyKind::copy_in && waiting.in != nullptr) {
    if (lane_index() == 0)
      block.moving = {reply.address, static_cast<const unsigned char *>(waiting.in) + reply.offset,
                      bytes, Begun::asked, true};
    return Begun::writing;
  }
  const bool takes_copy = copies && reply.kind == ReplyKind::copy_out_last && !own;
  bool ends = reply.error == MPI_SUCCESS &&
              (takes_copy || (is_done(reply.kind) && (!by_payload || (reads && !own))));
  CallResult result = result_of(reply);
  // (In every thread's own buffer there may be a datatype's gaps.)
  ends = ends && (!waiting.want_status || !own || result.bytes == bytes);
  if (!ends) {
    if (lane_index() == 0)
      block.stored = !own && !by_payload && is_done(reply.kind);
    return Begun::replied;
  }
  if (own)
    share_small<S>(bytes);
  const bool answers = waiting.want_status || (own && bytes != 0);
  const Begun then = answers ? Begun::answered : Begun::over;
  if (lane_index() == 0) {
    if (answers) {
      result.bytes = waiting.want_status ? result.bytes : bytes;
      keep_result<S>(result);
    }
    if (by_payload)
      block.moving = {out, context.payload + std::size_t(waiting.slot) * inline_bytes, bytes, then,
                      false};
    else if (takes_copy)
      block.moving = {static_cast<unsigned char *>(out) + reply.offset, reply.address, bytes, then,
                      true};
  }
  return by_payload || takes_copy ? Begun::reading : then;
}

/// Awaits the first Reply to a call. Returns how far it has come; where it is over or answered, its
/// slot is yet to be given back, and its end to be told.
template <Scope S> GMPI_DEVICE Begun await_reply(const Waiting &waiting, bool reads) {
  const Found found = poll_as_warp(waiting, S);
  const Reply &reply = found.reply;
  if (!waiting.want_status && waiting.out != nullptr && is_done(reply.kind) &&
      reply.error == MPI_SUCCESS && (reply.kind != ReplyKind::done || reply.bytes == 0)) {
    store_found(found, static_cast<unsigned char *>(waiting.out));
    return Begun::over; // what most are
  }
  return take_found<S>(found, waiting, reads);
}

/// Ends a call that has waited, for its other blocks and its slot. One thread.
template <Scope S> GMPI_DEVICE void end_answered(std::uint32_t slot) {
  give_slot<S>(slot);
  prepare_end<S>();
  tell_end_of_call<S>();
}

// --- asking ---

/// Pairs of words that a lane writes at most of the data beside an Attribute, and what a warp
/// writes with that.
constexpr std::uint32_t lane_pairs = 4;
constexpr std::uint32_t short_bytes = 32 * lane_pairs * pair_bytes;
static_assert(short_bytes <= tagged_bytes);

/// The slot that a block's, or grid's, blocking calls keep; none of them where nobody has looked
/// for one, or there is none.
template <Scope S> GMPI_DEVICE std::uint32_t ready_slot() {
  const BlockState &block = block_state();
  return S == Scope::grid && block.launch_index < launch_slots ? block.launch_index
                                                               : block.own_slot;
}

/// Whether a warp can send such data with loads and stores of whole words of four bytes: memory of
/// all threads or, of the first thread's own, as much as a lane writes. (Where each thread has its
/// own, each may say something else.)
GMPI_DEVICE bool is_plain(const void *data, std::uint64_t bytes) {
  return bytes == 0 ||
         (is_in_words(data, bytes) && (bytes <= lane_pairs * pair_bytes || !is_local(data)));
}

/// The data that a warp sends, in the lanes that write it beside an Attribute.
struct WarpData {
  DataPair pairs[lane_pairs];
  std::uint32_t first, step; ///< which of the data's pairs these are
  std::int32_t bytes;        ///< in all; 0: this lane has none

  /// Under way until they are stored.
  GMPI_DEVICE WarpData(const void *data, std::uint32_t length, std::uint32_t lane) {
    const bool own = is_local(data);
    first = own ? 0 : lane;
    step = own ? 1 : 32;
    bytes = own && lane != 0 ? 0 : static_cast<std::int32_t>(length);
    GMPI_UNROLL
    for (std::uint32_t k = 0; k < lane_pairs; ++k)
      if (left(k) > 0)
        pairs[k] = DataPair::load_words(static_cast<const unsigned char *>(data) + at(k), left(k));
  }
  GMPI_DEVICE std::int32_t at(std::uint32_t k) const {
    return static_cast<std::int32_t>(first + k * step) * pair_bytes;
  }
  GMPI_DEVICE std::int32_t left(std::uint32_t k) const { return bytes - at(k); }
  GMPI_DEVICE void store(std::uint64_t *words, std::uint32_t generation) const {
    GMPI_UNROLL
    for (std::uint32_t k = 0; k < lane_pairs; ++k)
      if (left(k) > 0)
        pairs[k].store(words + 2 * (first + k * step), generation);
  }
};

/// Hands a blocking call over to the proxy, and awaits what comes of it. Returns how far the call
/// has come: over, answered, replied; writing or reading, where all of the block are to; nothing,
/// where it is left to others.
template <Function F, Scope S> GMPI_DEVICE Begun ask_short(Site site, const Arguments &a) {
  static_assert(kind_of(F) == Kind::blocking || kind_of(F) == Kind::collective);
  if (goes_nowhere(F, a))
    return end_with_nobody<F, S>(a);
  BlockState &block = block_state();
  const std::uint32_t lane = lane_index(), slot = ready_slot<S>();
  const Buffers buffers = buffers_of(F, a, remembered_bytes);
  // Longer data the proxy has copied, once it has room for that.
  const bool goes_along = buffers.in_bytes <= inline_bytes;
  const bool detached = F == Function::Send && goes_along && sends_in_range(a, known_size(a.comm));
  const bool is_usual =
      (F == Function::Send && goes_along ? detached : slot < request_slots) &&
      buffers.in_bytes <= context.direct_above && buffers.in_bytes != unknown_bytes &&
      buffers.out_bytes <= context.direct_above && buffers.out_bytes != unknown_bytes &&
      (goes_along ? is_plain(buffers.in, buffers.in_bytes) : !is_local(buffers.in));
  if (of_lane(int(is_usual), 0) == 0) // which all have looked at before anything changes
    return Begun::nothing;
  const auto bytes = goes_along ? static_cast<std::uint32_t>(buffers.in_bytes) : 0;
  const bool by_warp = bytes <= short_bytes;
  // All of these need nothing of each other.
  NextTicket next{};
  if (lane == 0)
    next = next_ticket_in_flight(context);
  std::uint32_t turn = 0, serial = 0;
  if (!detached) {
    turn = context.records[slot].turn;
    serial = context.records[slot].serial;
  }
  const WarpData data(buffers.in, by_warp ? bytes : 0, lane);
  Attribute attribute = make_attribute(F, S, site);
  attribute.inline_in = goes_along;
  attribute.tagged = bytes != 0 && bytes <= tagged_bytes;
  attribute.detached = detached;
  attribute.in_bytes = buffers.in_bytes;
  attribute.slot = detached ? 0 : slot;
  attribute.serial = serial;
  attribute.turn = turn;
  attribute.beside = most_beside(buffers.out);
  std::uint64_t contents[attribute_words] = {};
  pack_call(F, site, a, contents);
  pack_head(attribute, contents);
  std::uint64_t low = 0, high = 0; // this lane's two of them
  GMPI_UNROLL
  for (std::uint32_t i = 0; i < attribute_words / 2; ++i)
    if (lane == i) {
      low = contents[2 * i];
      high = contents[2 * i + 1];
    }
  if (lane == 0)
    await_room_here(context, next);
  const unsigned long long ticket = of_lane(next.ticket, 0);
  auto *const beside = reinterpret_cast<std::uint64_t *>(ring_payload(context, ticket));
  const std::uint32_t generation = ring_generation(ticket);
  data.store(beside, generation);
  if (bytes <= tagged_bytes) {
    if (lane < attribute_words / 2)
      store_system(context.ring + ticket % ring_slots * attribute_words + 2 * lane,
                   tag_word(low, generation), tag_word(high, generation));
  } else if (lane < attribute_words / 2) { // once the data is there
    block.attribute[2 * lane] = low;
    block.attribute[2 * lane + 1] = high;
  }
  const Waiting waiting{slot,
                        turn,
                        expected_beside(buffers.out, buffers.out_bytes),
                        returns_something<F>(a),
                        false,
                        site,
                        stored_at(buffers.out),
                        goes_along ? nullptr : buffers.in};
  if (!by_warp) {
    if (lane == 0) {
      block.ticket = ticket;
      block.moving = {beside, buffers.in, bytes, detached ? Begun::over : Begun::asked, false};
      block.waiting = waiting;
    }
    return Begun::writing;
  }
  if (detached) {
    __syncwarp(); // the data has been read
    if (lane == 0) {
      prepare_end<S>(false);
      tell_end_of_call<S>();
    }
    return Begun::over;
  }
  let_pass(before_first_look);
  const Begun begun = await_reply<S>(waiting, true);
  __syncwarp();
  if (lane == 0) {
    if (begun == Begun::over || begun == Begun::answered)
      end_answered<S>(slot);
    else
      block.waiting = waiting;
  }
  return begun;
}

} // namespace gmpi::device
