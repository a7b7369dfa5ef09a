// The quick way of calls by way of the proxy: the first warp of a block, whole, hands a call over
// and awaits the first Reply to it, between the barrier at which the block's threads meet and the
// one behind which a short call is over. All of the block write what is too long for a warp. Where
// the Reply asks for more, the general way goes on from there.
//
// Invariant: where a call is over or answered, nothing of it is left; elsewhere, nothing of it has
// happened but that its grid has met; of `replied` and `asked` the proxy knows, and block.waiting
// says how to wait for it.
#pragma once

#include "../peer/general/warp_wait_device.hpp"
#include "short_device.hpp"

namespace gmpi::device {

// --- where a message goes ---

/// Whether `rank` is this one, as far as the proxy has said.
GMPI_OUT_OF_LINE bool may_be_own_rank(MPI_Comm comm, int rank) {
  std::uint64_t word = load_system(context.comm_sizes + comm_slots + comm_hash(comm));
  return content_of(word) != content_of(to_word(comm)) ||
         generation_of(word) == static_cast<std::uint32_t>(rank);
}

/// Whether MPI is to read or write so much data where it lies. A thread's own memory and
/// `__shared__` it cannot reach.
template <Function F> GMPI_DEVICE bool is_direct(const void *data, std::uint64_t bytes) {
  return takes_device_memory(F) && bytes > context.direct_above && !is_local(data) &&
         !is_shared(data);
}

// --- a warp's part ---

/// Awaits the first Reply to a call that has just been asked for, and ends the call where that is
/// all.
template <Scope S> GMPI_NOINLINE Begun await_answer() {
  let_pass(before_first_look);
  __syncwarp();
  const Waiting waiting = block_state().waiting;
  const Begun begun = await_reply<S>(waiting, true);
  __syncwarp();
  if (lane_index() == 0 && (begun == Begun::over || begun == Begun::answered))
    end_answered<S>(waiting.slot);
  return begun;
}

/// Hands a call that communicates over to the proxy. Returns how far the call has come.
template <Function F, Scope S> GMPI_DEVICE Begun ask_quickly(Site site, const Arguments &a) {
  constexpr bool nonblocking = kind_of(F) == Kind::nonblocking;
  if (goes_nowhere(F, a))
    return end_with_nobody<F, S>(a);
  BlockState &block = block_state();
  const std::uint32_t lane = lane_index();
  // The ticket takes its time; the sooner it is asked for the better. But who has one must not wait
  // for a slot, which somebody else may give back only once the proxy has got so far.
  NextTicket next{};
  RequestRecord record{};
  std::uint32_t slot = no_slot;
  if (!nonblocking && lane == 0) {
    slot = kept_slot<S>();
    if (slot != no_slot) {
      next = next_ticket(context);
      record = context.records[slot];
    }
  }
  const Buffers buffers = buffers_of(F, a, message_bytes);
  const auto bytes = static_cast<std::uint32_t>(buffers.in_bytes);
  const bool own = is_local(buffers.in), tagged = bytes <= tagged_bytes;
  if (buffers.in_bytes > inline_bytes || buffers.out_bytes == unknown_bytes || (own && !tagged)) {
    const bool numbered = __shfl_sync(whole_warp, int(slot != no_slot), 0) != 0;
    if (numbered && lane == 0)
      block.ticket = await_room(context, next);
    return numbered ? Begun::numbered : Begun::elsewhere;
  }
  const bool by_warp = bytes == 0 || (!own && is_in_words(buffers.in, bytes) &&
                                      bytes <= static_cast<std::uint32_t>(warp_data_bytes));
  const std::int32_t at = static_cast<std::int32_t>(lane) * pair_bytes;
  const auto left = static_cast<std::int32_t>(by_warp ? bytes : 0) - at;
  // Under way until it is written.
  const DataPair pair =
      DataPair::load_words(static_cast<const unsigned char *>(buffers.in) + at, left);
  bool detached = false;
  if constexpr (F == Function::Send) {
    std::uint32_t ranks = of_lane(known_size(a.comm), 0); // all have looked before it changes
    if (ranks == 0)
      ranks = of_lane(lane == 0 ? ask_size(a.comm) : 0, 0);
    detached = sends_in_range(a, ranks);
  }
  unsigned long long ticket = 0;
  if (lane == 0) {
    if (slot == no_slot) {
      NewSlot kept;
      slot = detached                                ? 0
             : take_kept_slot(reserve_of<S>(), kept) ? kept.slot
                                                     : acquire_slot(context);
      next = next_ticket(context);
      record = context.records[slot];
    }
    Attribute attribute = make_attribute(F, S, site);
    attribute.inline_in = true;
    attribute.tagged = bytes != 0 && tagged;
    attribute.detached = detached;
    attribute.in_bytes = bytes;
    attribute.beside = most_beside(buffers.out);
    attribute.direct_out = is_direct<F>(buffers.out, buffers.out_bytes);
    if (attribute.direct_out)
      release_system(); // MPI's stores come after those of these threads
    pack_call(F, site, a, block.attribute);
    if (!detached) {
      attribute.slot = slot;
      attribute.serial = record.serial;
      attribute.turn = record.turn;
    }
    pack_head(attribute, block.attribute);
    ticket = await_room(context, next);
    if (own)
      write_data(context, ticket, buffers.in, static_cast<std::int32_t>(bytes), 0, 1);
  }
  ticket = __shfl_sync(whole_warp, ticket, 0);
  if (left > 0)
    pair.store(reinterpret_cast<std::uint64_t *>(ring_payload(context, ticket)) + at / word_bytes,
               ring_generation(ticket));
  __syncwarp();
  if (tagged)
    write_words_as_warp(context, ticket, block.attribute, lane);
  const bool waits = !nonblocking && !detached;
  const Begun then = waits ? Begun::asked : nonblocking ? Begun::answered : Begun::over;
  if (lane == 0) {
    const std::uint32_t expected = expected_beside(buffers.out, buffers.out_bytes);
    if (waits)
      block.waiting = {slot,
                       record.turn,
                       expected,
                       returns_something<F>(a),
                       false,
                       site,
                       stored_at(buffers.out),
                       nullptr};
    if (nonblocking) {
      context.records[slot].out = buffers.out;
      context.records[slot].expected = expected;
      CallResult result{};
      result.request = encode_request({slot, context.device, record.serial});
      keep_result<S>(result);
    }
    if (!by_warp && !own) {
      block.ticket = ticket;
      block.moving = {ring_payload(context, ticket), buffers.in, bytes, then, false};
    }
  }
  if (!by_warp && !own)
    return Begun::writing;
  if (!waits)
    end_as_warp<S>();
  return then;
}

// --- a block's part ---

/// The block has made a copy to the host's memory that the proxy has asked for. One thread.
GMPI_OUT_OF_LINE void say_copied(std::uint32_t slot, Scope scope) {
  release_system();
  tell(Function::copied, scope, {0, 0}, slot);
}
/// The same of one from there: the host is to see nothing of it, and what was read has come.
GMPI_OUT_OF_LINE void say_read(std::uint32_t slot, Scope scope) {
  release_device();
  tell(Function::copied, scope, {0, 0}, slot);
}
/// Whether such a Reply asks for a copy to the host's memory.
GMPI_DEVICE bool asks_to_send(ReplyKind kind) {
  return kind == ReplyKind::copy_in || kind == ReplyKind::copy_in_last;
}
/// Either, as the Reply that has asked for it says.
GMPI_DEVICE void say_made(ReplyKind asked, std::uint32_t slot, Scope scope) {
  asks_to_send(asked) ? say_copied(slot, scope) : say_read(slot, scope);
}

/// All of the block write the data of the call that the first warp has begun to hand over, or what
/// the proxy has asked for. Returns how far it has come then.
template <Scope S> GMPI_DEVICE Begun write_together() {
  BlockState &block = block_state();
  const Moving moving = block.moving;
  const unsigned long long ticket = block.ticket;
  const std::uint32_t rank = thread_index(), size = block_threads();
  if (moving.asked_for) {
    copy_share(moving.to, moving.from, moving.bytes, rank, size);
    __syncthreads();
    if (rank == 0) {
      ++block.waiting.turn;
      say_copied(block.waiting.slot, S);
    }
  } else if (moving.bytes <= tagged_bytes) {
    write_data(context, ticket, moving.from, static_cast<std::int32_t>(moving.bytes),
               static_cast<std::int32_t>(rank), static_cast<std::int32_t>(size));
    __syncthreads();
  } else {
    copy_share(moving.to, moving.from, moving.bytes, rank, size);
    __syncthreads();
    if (rank < 32) {
      if (rank == 0)
        release_system();
      __syncwarp();
      write_words_as_warp(context, ticket, block.attribute, rank);
    }
  }
  if (moving.then != Begun::asked && rank < 32)
    end_as_warp<S>();
  return moving.then;
}

/// One member's share of reading what lies at an address for 16 bytes, to one for four: whole words
/// of four bytes.
GMPI_DEVICE void read_sixteens(unsigned char *to, const uint4 *from, std::uint32_t bytes,
                               std::uint32_t rank, std::uint32_t size) {
  constexpr std::uint32_t at_once = 8; // are under way together
  const bool whole = (reinterpret_cast<std::uint64_t>(to) & 15) == 0;
  GMPI_NO_UNROLL
  for (std::uint32_t i = rank; 16 * i < bytes; i += at_once * size) {
    uint4 values[at_once];
    GMPI_UNROLL
    for (std::uint32_t k = 0; k < at_once; ++k)
      if (16 * (i + k * size) < bytes)
        values[k] = from[i + k * size];
    GMPI_UNROLL
    for (std::uint32_t k = 0; k < at_once; ++k)
      if (const std::uint32_t at = 16 * (i + k * size); at < bytes)
        store_sixteen(to + at, values[k], (bytes - at) / 4, whole);
  }
}

/// One member's share of reading the data that has come with a Reply.
GMPI_DEVICE void read_payload(void *to, const void *from, std::uint32_t bytes, std::uint32_t rank,
                              std::uint32_t size) {
  if (is_in_words(to, bytes))
    read_sixteens(static_cast<unsigned char *>(to), static_cast<const uint4 *>(from), bytes, rank,
                  size);
  else
    copy_share(to, from, bytes, rank, size);
}
/// Reads what the proxy has all of the block copy from its staging memory, which is long: what is
/// under way at a time limits what a block reads.
GMPI_OUT_OF_LINE void read_long(void *to, const void *from, std::uint32_t bytes) {
  constexpr std::uint32_t at_once = 16;
  const std::uint32_t rank = thread_index(), size = block_threads();
  auto *const out = static_cast<unsigned char *>(to);
  std::uint32_t done = 0;
  if (is_in_words(to, bytes))
    done = static_cast<std::uint32_t>(read_turns<at_once>(
        out, static_cast<const uint4 *>(from), bytes / (16 * at_once * size), rank, size));
  read_payload(out + done, static_cast<const unsigned char *>(from) + done, bytes - done, rank,
               size);
}
/// All of the block read it for a call that ends with it. Returns how far the call has come then:
/// over, or answered.
template <Scope S> GMPI_DEVICE Begun read_together() {
  const Moving moving = block_state().moving;
  if (moving.asked_for)
    read_long(moving.to, moving.from, moving.bytes);
  else
    read_payload(moving.to, moving.from, moving.bytes, thread_index(), block_threads());
  __syncthreads();
  if (thread_index() == 0) {
    const std::uint32_t slot = block_state().waiting.slot;
    if (moving.asked_for)
      say_read(slot, S);
    end_answered<S>(slot);
  }
  return moving.then;
}

/// All of the block, or of its grid, read what has come with Replies to several requests,
/// block.copies: a warp each that is not long. The requests are over then, and given back.
template <Scope S> GMPI_NOINLINE void read_replies() {
  constexpr std::uint32_t most_by_warp = 8192;
  const Copies &copies = block_state().copies;
  const std::uint32_t thread = thread_index(), threads = block_threads(), lane = lane_index();
  const std::uint32_t count = copies.count;
  unsigned long long all = 0;
  GMPI_NO_UNROLL
  for (std::uint32_t i = 0; i < count; ++i)
    all += copies.copy[i].bytes;
  if (S == Scope::grid && all >= worth_reading && block_state().living_blocks > 1) {
    GridTeam{{thread == 0}}.share_copies(all);
  } else {
    std::uint32_t turn = 0; // the warp whose it is
    GMPI_NO_UNROLL
    for (std::uint32_t i = 0; i < count; ++i) {
      const Copies::Copy &its = copies.copy[i];
      const auto bytes = static_cast<std::uint32_t>(its.bytes);
      if (bytes > inline_bytes) {
        read_long(its.to, its.from, bytes);
      } else if (bytes > most_by_warp) {
        read_payload(its.to, its.from, bytes, thread, threads);
      } else {
        if (turn == thread / 32)
          read_payload(its.to, its.from, bytes, lane, 32);
        turn = turn + 1 == threads / 32 ? 0 : turn + 1;
      }
    }
    __syncthreads();
  }
  if (thread >= 32)
    return;
  const std::uint32_t slot = lane < count ? copies.copy[lane].request : 0;
  if (lane < count && copies.copy[lane].asked_for)
    say_read(slot, S);
  __syncwarp();
  keep_or_release_slots(context, reserve_of<S>(), lane < count, slot, context.records[slot].serial);
}

// --- requests ---

/// Whether such a request is one of this device's, that goes by way of the proxy; `record` is its
/// slot's then.
GMPI_DEVICE bool is_own_request(MPI_Request request, RequestRecord &record) {
  if (request == MPI_REQUEST_NULL || request == null_peer_request() || !is_kernel_request(request))
    return false;
  const auto decoded = decode_request(request);
  if (decoded.device != context.device)
    return false;
  record = context.records[decoded.slot];
  return (record.serial & serial_mask) == decoded.serial;
}

/// Waits for the first of `count` requests, 32 at most, that go from kernel to kernel; they are
/// given back then. A warp, whole. Returns over, and how many they are; working, where all of the
/// block are to do some work before it is called again; or elsewhere, where the first is another's,
/// or the general way is to go on with it.
template <Scope S>
GMPI_DEVICE Begun wait_between_kernels(const MPI_Request *requests, std::uint32_t count,
                                       std::uint32_t &waited) {
  if (context.peer == nullptr)
    return Begun::elsewhere;
  peer::State &state = *context.peer;
  const std::uint32_t lane = lane_index();
  const MPI_Request its = lane < count ? requests[lane] : null_peer_request();
  std::uint32_t index = gmpi::peer::nothing, serial = 0;
  bool ours = its == null_peer_request() || (count > 1 && its == MPI_REQUEST_NULL);
  if (!ours && its != MPI_REQUEST_NULL && is_kernel_request(its)) {
    const auto decoded = decode_request(its);
    serial = context.records[decoded.slot].serial;
    ours = decoded.device == peer_device && (serial & serial_mask) == decoded.serial;
    index = decoded.slot;
  }
  const unsigned others = ~__ballot_sync(whole_warp, ours);
  waited = others == 0 ? 32 : __ffs(static_cast<int>(others)) - 1;
  if (waited > count)
    waited = count;
  if (lane >= waited)
    index = gmpi::peer::nothing;
  const bool told = lane == 0 && load_relaxed_device(&state.summary.told) != 0;
  if (waited == 0 || __any_sync(whole_warp, told))
    return Begun::elsewhere;
  if (!__any_sync(whole_warp, index != gmpi::peer::nothing))
    return Begun::over;
  Begun begun = peer::wait_quickly<S>(state, index);
  if (begun == Begun::nothing) {
    begun = peer::wait_as_warp<S>(state, index, block_state().peer);
    if (begun == Begun::over && !peer::are_simple(state, index))
      begun = Begun::elsewhere; // all are done, and stay so
  }
  if (begun != Begun::over)
    return begun;
  keep_or_release_slots(context, reserve_of<S>(), index != gmpi::peer::nothing, index, serial);
  return Begun::over;
}

/// Words of data beside a Reply that a lane reads by itself: as many as are under way together.
constexpr std::uint32_t lane_reads = 12;
/// Whether the Reply to a lane's request is all there is to it, but for data.
GMPI_DEVICE bool ends_in_lane(const Reply &reply) {
  return (is_done(reply.kind) || reply.kind == ReplyKind::copy_out_last) &&
         reply.error == MPI_SUCCESS && reply.bytes <= most_by_block;
}
/// Whether that is for all of the block to read.
GMPI_DEVICE bool has_payload(const Reply &reply) {
  return reply.kind == ReplyKind::copy_out_last ||
         (reply.kind == ReplyKind::done && reply.bytes != 0);
}
/// Whether the lane itself is to read that.
GMPI_DEVICE bool reads_in_lane(const Reply &reply) {
  return reply.kind == ReplyKind::done_beside && reply.bytes <= lane_reads * word_bytes;
}
/// Stores the data that has come with such a Reply, but for what all of the warp are to read.
GMPI_DEVICE void store_in_lane(const Reply &reply, const std::uint64_t *from, void *to) {
  if (reply.kind == ReplyKind::done_here)
    store_head_data(reply, to);
  if (!reads_in_lane(reply))
    return;
  const auto bytes = static_cast<std::int32_t>(reply.bytes);
  std::uint64_t data[lane_reads];
  GMPI_UNROLL
  for (std::uint32_t i = 0; i < lane_reads; ++i)
    data[i] =
        static_cast<std::int32_t>(i * word_bytes) < bytes ? load_weak(from + reply_words + i) : 0;
  GMPI_UNROLL
  for (std::uint32_t i = 0; i < lane_reads; i += 2)
    if (const auto at = static_cast<std::int32_t>(i * word_bytes); at < bytes)
      store_pair(static_cast<unsigned char *>(to) + at, data[i], data[i + 1], bytes - at);
}

/// What a lane reads, of the `lanes` that share it, of the data beside a Reply: pairs of words,
/// from its first on, so many of which are under way together.
template <std::uint32_t under_way>
GMPI_DEVICE void read_pairs(const std::uint64_t *words, unsigned char *to, std::int32_t left,
                            std::uint32_t lanes) {
  const std::uint32_t step = lanes * pair_bytes;
  std::uint64_t a[under_way], b[under_way];
  GMPI_UNROLL
  for (std::uint32_t k = 0; k < under_way; ++k)
    load_system_if(left > static_cast<std::int32_t>(k * step), words + 2 * k * lanes, a[k], b[k]);
  GMPI_UNROLL
  for (std::uint32_t k = 0; k < under_way; ++k)
    if (const std::int32_t rest = left - static_cast<std::int32_t>(k * step); rest > 0)
      store_pair(to + k * step, a[k], b[k], rest);
}

/// All of a warp read the data beside the Replies of `those` lanes, whose words are at `from`: up
/// to eight Replies at a time, the fewer they are the more lanes each.
GMPI_DEVICE void read_as_warp(unsigned those, const std::uint64_t *from, std::uint32_t bytes,
                              void *to) {
  constexpr std::uint32_t most = 8, under_way = 8; // Replies at a time; a lane's pairs of words
  const std::uint32_t lane = lane_index();
  std::uint32_t owner = 0, rank = lane; // whose Reply this lane reads, and as which of its lanes
  std::int32_t left = 0;                // from there on
  const std::uint64_t *words = nullptr;
  unsigned char *out = nullptr;
  const auto find = [&] {
    words = peer::pointer_of_lane(from, owner) + reply_words + 2 * rank;
    out = static_cast<unsigned char *>(peer::pointer_of_lane(to, owner)) + rank * pair_bytes;
    left = static_cast<std::int32_t>(of_lane(bytes, owner) - rank * pair_bytes);
  };
  GMPI_NO_UNROLL
  while ((those & (those - 1)) != 0) {
    const int count = __popc(those);
    const std::uint32_t lanes = count == 2 ? 16 : count <= 4 ? 8 : 32 / most;
    bool has = false;
    GMPI_UNROLL
    for (std::uint32_t k = 0; k < most; ++k) {
      const bool is = lane / lanes == k && those != 0;
      owner = is ? __ffs(static_cast<int>(those)) - 1 : owner;
      has = has || is;
      those &= those - 1;
    }
    rank = lane % lanes;
    find();
    left = has ? left : 0;
    GMPI_NO_UNROLL
    while (__any_sync(whole_warp, left > 0)) {
      read_pairs<under_way>(words, out, left, lanes);
      words += 2 * under_way * lanes;
      out += under_way * lanes * pair_bytes;
      left -= static_cast<std::int32_t>(under_way * lanes * pair_bytes);
    }
  }
  if (those == 0)
    return;
  owner = __ffs(static_cast<int>(those)) - 1; // one alone: all of it is under way together
  rank = lane;
  find();
  read_pairs<(reply_data_words / 2 + 31) / 32>(words, out, left, 32);
}

/// Waits for the first of `count` requests, 32 at most, that go by way of the proxy, a lane for
/// each: many loads of the host's memory take no longer than one. Returns how many are over, which
/// are given back then, but for those whose data all of the block are to read: block.copies. The
/// next is another's, or the general way is to go on with it. A warp, whole.
template <Scope S>
GMPI_NOINLINE std::uint32_t wait_for_replies(const MPI_Request *requests, std::uint32_t count) {
  const std::uint32_t lane = lane_index();
  const MPI_Request its = lane < count ? requests[lane] : MPI_Request(MPI_REQUEST_NULL);
  const bool is_null = its == MPI_Request(MPI_REQUEST_NULL) || its == null_peer_request();
  RequestRecord record{};
  const bool is_own = !is_null && is_own_request(its, record) && !is_local(record.out);
  const std::uint32_t slot = is_own ? decode_request(its).slot : 0;
  const std::uint32_t turn = (record.turn + 1) & 0xffff;
  const std::uint64_t *const from = context.replies + slot * reply_stride;
  const unsigned others = __ballot_sync(whole_warp, !is_null && !is_own);
  const std::uint32_t all = others == 0 ? 32 : __ffs(static_cast<int>(others)) - 1;
  bool is_over = is_null || lane >= all, is_odd = false;
  Reply reply{};
  const unsigned long long start = nanoseconds();
  GMPI_NO_UNROLL
  for (unsigned turns = 0; !__all_sync(whole_warp, is_over); ++turns) {
    if (!is_over && !is_odd) {
      std::uint64_t head[2];
      load_system(from, head[0], head[1]);
      if (generation_of(head[0]) == turn && generation_of(head[1]) == turn) {
        reply = unpack_reply_head(head);
        is_over = ends_in_lane(reply);
        is_odd = !is_over;
      }
    }
    // (Who waits for long says so, for one.)
    if (__any_sync(whole_warp, is_odd || is_long(turns, start)))
      break;
    if (lane == 0)
      relax();
  }
  const unsigned left = __ballot_sync(whole_warp, !is_over);
  std::uint32_t waited = left == 0 ? all : __ffs(static_cast<int>(left)) - 1;
  if (waited > count)
    waited = count;
  unsigned payloads = __ballot_sync(whole_warp, is_own && lane < waited && has_payload(reply));
  if (__popc(payloads) > int(Copies::most)) { // the rest the next time
    unsigned behind = payloads;
    GMPI_NO_UNROLL
    for (std::uint32_t i = 0; i < Copies::most; ++i)
      behind &= behind - 1;
    waited = __ffs(static_cast<int>(behind)) - 1;
    payloads &= ~behind;
  }
  const bool takes = is_own && lane < waited, reads = (payloads >> lane & 1) != 0;
  acquire_system();
  const bool asked_for = reads && reply.kind == ReplyKind::copy_out_last;
  if (asked_for)
    reply = whole_reply(context, slot);
  if (reads)
    block_state().copies.copy[__popc(payloads & ((1u << lane) - 1))] = {
        static_cast<unsigned char *>(record.out) + reply.offset,
        asked_for ? static_cast<const unsigned char *>(reply.address)
                  : context.payload + std::size_t(slot) * inline_bytes,
        reply.bytes,
        slot,
        false,
        asked_for};
  if (lane == 0)
    block_state().copies.count = static_cast<std::uint32_t>(__popc(payloads));
  if (takes) {
    context.records[slot].turn = turn;
    store_in_lane(reply, from, record.out);
  }
  const bool is_beside = takes && reply.kind == ReplyKind::done_beside && !reads_in_lane(reply);
  read_as_warp(__ballot_sync(whole_warp, is_beside), from, static_cast<std::uint32_t>(reply.bytes),
               record.out);
  __syncwarp();
  keep_or_release_slots(context, reserve_of<S>(), takes && !reads, slot, record.serial);
  return waited;
}

template <Function F>
constexpr bool completes_quickly = F == Function::Wait || F == Function::Waitall;

/// Waits for requests, from number `i` on, as long as that is all there is to it; block.completed
/// counts them. Returns answered; working, where all of the block are to do block.peer.work before
/// it goes on; or replied, or elsewhere, where the general way does.
template <Function F, Scope S>
GMPI_DEVICE Begun go_on_completing(Site site, const Arguments &a, int i) {
  BlockState &block = block_state();
  constexpr bool one = F == Function::Wait;
  const int count = one ? 1 : a.count;
  const MPI_Request *requests = one ? a.request : a.requests;
  Begun begun = Begun::answered;
  if (S == Scope::grid && returns_to_global<F>(a))
    begun = Begun::elsewhere;
  std::uint32_t waited = 1;
  GMPI_NO_UNROLL
  for (; begun == Begun::answered && i < count; i += static_cast<int>(waited)) {
    if (!(one && wants_status(a))) {
      const std::uint32_t left = static_cast<std::uint32_t>(count - i);
      const Begun now = wait_between_kernels<S>(requests + i, left < 32 ? left : 32, waited);
      if (now == Begun::over)
        continue;
      if (now == Begun::working) {
        begun = now;
        break;
      }
    }
    if (!one) {
      waited = wait_for_replies<S>(requests + i, count - i < 32 ? count - i : 32);
      if (block.copies.count != 0) {
        if (lane_index() == 0)
          block.peer.work.kind = gmpi::peer::WorkKind::replies;
        begun = Begun::working;
        i += static_cast<int>(waited);
        break;
      }
      if (waited != 0)
        continue;
    }
    waited = 1;
    RequestRecord record;
    if (!one && requests[i] == MPI_REQUEST_NULL)
      continue;
    if (!is_own_request(requests[i], record) || is_local(record.out)) {
      begun = Begun::elsewhere;
      break;
    }
    if (thread_index() == 0)
      block.waiting = {decode_request(requests[i]).slot,
                       record.turn,
                       record.expected,
                       one && wants_status(a),
                       true,
                       site,
                       record.out,
                       nullptr};
    __syncwarp();
    if (await_reply<S>(block.waiting, false) == Begun::replied) {
      begun = Begun::replied;
      break;
    }
    __syncwarp();
    keep_or_release_slots(context, reserve_of<S>(), lane_index() == 0, block.waiting.slot,
                          record.serial);
  }
  if (lane_index() == 0) {
    block.completed = static_cast<std::uint32_t>(i);
    if (begun == Begun::answered && !(one && wants_status(a)))
      keep_result<S>(nothing_received());
  }
  if (begun == Begun::answered)
    end_as_warp<S>();
  return begun;
}

} // namespace gmpi::device
