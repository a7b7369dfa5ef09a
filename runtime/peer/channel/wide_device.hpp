// Wide messages: eager ones that are longer than what one block carries, up to wide_bytes, written
// by all blocks of a grid together; and read by all blocks of one. To another host, up to
// far_wide_bytes, their data goes into a place of their own. Streams (streams_device.hpp), long
// messages that are stored where they belong, and shorter ones from other hosts, are told of and
// ended likewise.
//
// Invariant: the block that makes the grid's call tells the others what is to be carried, in
// packets that show the command's round, so that nothing guards them; it is the same for each, but
// for its part of it. All blocks have all of their threads. Who is told to read waits for nothing
// but packets that are on their way. A call that is over with it ends at a meeting of all blocks,
// else the others arrive again.
//
// A sender takes a token for each such message to a rank, and gets it back once the message has
// been matched, or is kept no longer: so the receiver always has a place for what nobody has asked
// for.
#pragma once

#include "../../queue/team_device.hpp"
#include "portions_device.hpp"
#include "streams_device.hpp"

namespace gmpi::device::peer {

/// Whether they can carry so much together: none has more to do than where a block is alone.
GMPI_DEVICE bool can_carry_together(std::uint64_t bytes) {
  return are_all_there() & (bytes <= std::uint64_t(eager_bytes) * grid_blocks());
}
/// Whether all blocks can reach data there, and carry it in whole words.
GMPI_DEVICE bool is_for_all(const void *data, std::uint64_t bytes) {
  return is_in_words(data, bytes) && !is_local(data) && !is_shared(data);
}
/// The same of a message that is to be read.
GMPI_DEVICE bool is_for_all(const void *data, const Header &header) {
  return is_for_all(data, header.bytes) && (header.form != Form::dense || is_in_eights(data));
}

// --- telling the other blocks ---

/// Has the other blocks carry block.peer.span with this one. Lane 0 of the block that makes the
/// call.
GMPI_DEVICE void tell_wide(BlockState &block) {
  const Span &span = block.peer.span;
  LaunchState &launch = *block.launch;
  prepare_command(block, arrivals(block), false);
  block.first_round = false;
  const std::uint64_t round = std::uint64_t(told_round(block.round + 1)) << 32;
  store_whole(launch.told[0], reinterpret_cast<std::uint64_t>(span.ring), round | span.bytes);
  store_whole(launch.told[1], reinterpret_cast<std::uint64_t>(span.data),
              round | std::uint64_t(span.reads) | std::uint64_t(span.way) << 1 |
                  std::uint64_t(span.then) << 4);
  store_whole(launch.told[2], span.first, round | span.peer);
  give_command(block, GridCommand::carry);
}

/// Has all blocks read a message, wide or from another host, from slot number `slot` of a channel
/// on, which is nobody else's any more. `then`: over, or answered. Lane 0 of the block that makes
/// the call.
GMPI_DEVICE void tell_to_read(BlockState &block, std::uint64_t *ring, std::uint32_t *freed,
                              unsigned long long slot, void *data, const Header &header,
                              std::uint32_t peer, Begun then) {
  note_span(ring, freed, slot, data, static_cast<std::uint32_t>(header.bytes), peer, {}, then);
  Span &span = block.peer.span;
  span.way = header.form == Form::packets ? SpanWay::packets
             : header.form == Form::dense ? SpanWay::dense
                                          : SpanWay::apart;
  span.reads = true;
  span.serial = header.serial;
  tell_wide(block);
}

// --- sending ---

/// What is known of a token of this rank's for wide messages to a rank: lane by lane.
struct Token {
  std::uint32_t used, back;

  /// `returned`: where the last use of each that has come back is shown.
  GMPI_DEVICE Token(const State &state, std::uint32_t peer, const std::uint32_t *returned,
                    std::uint32_t tokens)
      : used(0), back(1) {
    if (const std::uint32_t lane = lane_index(); lane < tokens) {
      used = load_relaxed_device(&state.wide_uses[peer][lane]);
      back = load_relaxed_system(returned + lane);
    }
  }
  /// A free one's next use, if there is a free one.
  GMPI_DEVICE bool find(WideUse &use) const {
    const unsigned free = __ballot_sync(whole_warp, used == back);
    const std::uint32_t first = static_cast<std::uint32_t>(__ffs(static_cast<int>(free))) - 1;
    use = {first, WideUse::behind(of_lane(used, first % 32))};
    return free != 0;
  }
};

/// Finds a slot for a grid's next message to a rank: `route`, number `i`, has one then that is
/// known to be free. The first warp, whole.
GMPI_DEVICE bool find_slot(State &state, const Comm &comm, std::uint32_t i, int dest, int tag,
                           MPI_Datatype datatype, Route &route) {
  constexpr std::uint32_t looked_for = 64; // slots: more than one takes no longer
  route = load_route<Scope::grid>(i);
  const auto has_one = [&] {
    return leads_to(route, comm.handle, dest, tag, datatype) && route.next != route.free_until;
  };
  if (has_one())
    return true;
  __syncwarp(); // all have read the route
  find_route<Scope::grid>(state, comm, dest, datatype, looked_for, lane_index());
  __syncwarp(); // what lane 0 has noted is there for all
  route = load_route<Scope::grid>(i);
  return has_one();
}

/// Has all blocks write a wide message of a grid's call by route `i`, if that leads there and all
/// is usual. Returns sharing then; else nothing has happened: nothing, or left, where it lacks
/// slots that are known to be free. `source` is a rank, too. `then`: how far the call has come with
/// it, over or sent. The first warp, whole.
GMPI_DEVICE Begun send_wide_by(std::uint32_t i, MPI_Comm comm, int dest, int tag, const void *data,
                               int count, MPI_Datatype datatype, int source, Begun then) {
  State &state = *context.peer;
  const Route route = load_route<Scope::grid>(i);
  const std::uint32_t peer = peer_of_channel(routes_of<Scope::grid>().channel[i]);
  const std::uint64_t bytes = std::uint64_t(static_cast<std::uint32_t>(count)) * route.extent;
  const bool by_all = can_carry_together(bytes);
  if (!leads_to(route, comm, dest, tag, datatype) || route.near == 0 || count <= 0 ||
      static_cast<std::uint32_t>(source) >= route.size || bytes <= eager_bytes ||
      bytes > wide_bytes || !is_for_all(data, bytes))
    return Begun::nothing;
  // These need nothing of each other.
  const Token token(state, peer, token_at(state.acks, peer, 0), wide_tokens);
  const std::uint64_t order = load_relaxed_device(route.order);
  const std::uint32_t told = load_relaxed_device(&state.summary.told);
  const bool dense = may_be_dense(static_cast<std::uint32_t>(bytes), data, route, route.next);
  const std::uint64_t slots = slots_for(bytes, dense);
  WideUse use{};
  if (!token.find(use) || !by_all)
    return Begun::nothing;
  if (route.next + slots > route.free_until)
    return Begun::left;
  const std::uint32_t lane = lane_index();
  if (lane == 0) {
    Span &span = block_state().peer.span;
    span.ring = route.out;
    span.data = static_cast<unsigned char *>(const_cast<void *>(data));
    span.first = route.next;
    span.bytes = static_cast<std::uint32_t>(bytes);
    span.way = dense ? SpanWay::dense : SpanWay::packets;
    span.reads = false;
    span.peer = peer;
    span.then = then;
    span.route = i;
    span.free_until = route.free_until;
    span.told = told;
    tell_wide(block_state());
  }
  const Header header{MessageKind::eager,
                      route.context,
                      0,
                      use.serial(),
                      tag,
                      bytes,
                      common_of(order),
                      dense ? Form::dense : Form::packets,
                      false};
  if (lane < header_packets)
    store_packet(packet_at(route.out, route.next, lane), pack_header(header, lane),
                 lap_of(route.next));
  __syncwarp(); // all have read the route
  if (lane == 0) {
    store_relaxed_device(&state.wide_uses[peer][use.token], use.number);
    increase_relaxed_device(route.order, slots * one_owned);
    note_next<Scope::grid>(i, route.next + slots);
    count_call(state, bytes);
    increase_relaxed_device(&state.wide, 1);
  }
  return Begun::sharing;
}
/// The same to a rank on another host, into a token's place; its header, which is stored when the
/// data is there (carry_far()), takes the next slot of a route that may yet have to be found.
/// Returns sharing, or nothing.
GMPI_NOINLINE Begun send_placed(const Comm &comm, int dest, int tag, const void *data,
                                std::uint64_t bytes, MPI_Datatype datatype, Begun then) {
  State &state = *context.peer;
  if (is_local(data) || is_shared(data) || !can_carry_together(bytes))
    return Begun::nothing;
  const std::uint32_t i = static_cast<std::uint32_t>(dest) % Routes::most, lane = lane_index();
  const std::uint32_t peer = comm.peer_of[dest];
  const Channel &places = state.channels[place_channel(peer)];
  const Token token(state, peer, places.out_freed, far_tokens);
  Route route;
  WideUse use{};
  if (!find_slot(state, comm, i, dest, tag, datatype, route) || !token.find(use))
    return Begun::nothing;
  const std::uint32_t told = load_relaxed_device(&state.summary.told);
  const std::uint64_t order = load_relaxed_device(route.order);
  __syncwarp(); // all have read the route
  if (lane == 0) {
    Share &share = block_state().peer;
    Transfer &header = share.step.transfer;
    header.ring = route.out;
    header.first = route.next;
    header.header = {MessageKind::eager, route.context, 0,    use.serial(), tag, bytes,
                     common_of(order),   Form::apart,   false};
    Span &span = share.span;
    span.ring = places.out;
    span.data = static_cast<unsigned char *>(const_cast<void *>(data));
    span.first = use.slot();
    span.bytes = static_cast<std::uint32_t>(bytes);
    span.way = SpanWay::apart;
    span.reads = false;
    span.peer = peer;
    span.then = then;
    span.told = told;
    tell_wide(block_state());
    store_relaxed_device(&state.wide_uses[peer][use.token], use.number);
    increase_relaxed_device(route.order, one_owned);
    note_next<Scope::grid>(i, route.next + 1);
    count_call(state, bytes);
    increase_relaxed_device(&state.wide, 1);
  }
  __syncwarp();
  return Begun::sharing;
}
/// As send_wide_by(), also where a route is to be found, or slots. `bytes`: its length. Returns
/// sharing, or nothing.
GMPI_NOINLINE Begun send_wide(const Comm &comm, int dest, int tag, const void *data, int count,
                              std::uint64_t bytes, MPI_Datatype datatype, Begun then) {
  State &state = *context.peer;
  if (bytes <= eager_bytes || bytes > far_wide_bytes)
    return Begun::nothing;
  if (comm.peer_of[dest] >= state.near_peers)
    return send_placed(comm, dest, tag, data, bytes, datatype, then);
  if (bytes > wide_bytes || !is_for_all(data, bytes) || !can_carry_together(bytes))
    return Begun::nothing;
  const std::uint32_t i = static_cast<std::uint32_t>(dest) % Routes::most;
  const auto try_to = [&] {
    return send_wide_by(i, comm.handle, dest, tag, data, count, datatype, 0, then) ==
           Begun::sharing;
  };
  if (try_to())
    return Begun::sharing;
  find_route<Scope::grid>(state, comm, dest, datatype, 2 * slots_for(bytes), lane_index());
  __syncwarp(); // what lane 0 has noted is there for all
  return try_to() ? Begun::sharing : Begun::nothing;
}

// --- streams ---

/// Whether all blocks of a grid wait in a call of scope S, and can stream that.
template <Scope S> GMPI_DEVICE bool waits_to_stream(const void *data, std::uint64_t bytes) {
  return S == Scope::grid && grid_blocks() > 1 && bytes <= most_streamed &&
         is_for_all(data, bytes) && is_in_eights(data) && are_all_there();
}
/// Has all blocks write the message of a grid's MPI_Send, which rank `peer` waits to read, or read
/// the one that it waits to write. `then`: as tell_to_read() has it. Lane 0 of the block that makes
/// the call.
GMPI_DEVICE void tell_to_stream(BlockState &block, bool reads, std::uint32_t peer, void *data,
                                std::uint64_t bytes, unsigned long long first, Begun then) {
  note_span(nullptr, nullptr, first, data, static_cast<std::uint32_t>(bytes), peer, {}, then);
  Span &span = block.peer.span;
  span.reads = reads;
  span.way = peer < context.peer->near_peers ? SpanWay::near_stream : SpanWay::far_stream;
  span.told = 0;
  tell_wide(block);
}
/// The same of a message that is sent. `then`: over, or sent.
GMPI_DEVICE void begin_to_stream(State &state, std::uint32_t peer, void *data, std::uint64_t bytes,
                                 unsigned long long first, Begun then) {
  increase_relaxed_device(&state.streamed, 1);
  tell_to_stream(block_state(), false, peer, data, bytes, first, then);
}
/// Has all blocks read a stream so while they send `bytes` bytes at `sent`, which are announced to
/// rank `to`.
GMPI_DEVICE void tell_to_exchange(BlockState &block, std::uint32_t peer, void *data,
                                  std::uint64_t bytes, unsigned long long first, Begun then,
                                  void *sent, std::uint64_t sent_bytes, std::uint32_t to) {
  note_span(static_cast<std::uint64_t *>(sent), nullptr, first, data,
            static_cast<std::uint32_t>(bytes), peer, {}, then);
  Span &span = block.peer.span;
  span.reads = false; // not only that
  span.way = SpanWay::exchange;
  span.told = 0;
  const std::uint64_t round = std::uint64_t(told_round(block.round + 1)) << 32;
  store_whole(block.launch->outgoing[0],
              static_cast<std::uint32_t>(sent_bytes) | std::uint64_t(block_index()) << 32,
              round | to);
  tell_wide(block);
}

// --- carrying, all blocks ---

GMPI_DEVICE bool is_dense(const Span &span) { return span.way == SpanWay::dense; }

/// This block's part of block.peer.span, all of it: a warp a bundle, block by block.
template <bool reads> GMPI_DEVICE void carry_part(const Span &span) {
  const std::uint32_t warp = thread_index() / 32, warps = block_threads() / 32;
  const std::uint32_t blocks = grid_blocks();
  const std::uint32_t rank = (warp * blocks + block_index()) * 32 + lane_index();
  if (warp >= warps)
    return;
  const SpanWindow window(span);
  if (is_dense(span))
    carry_packets<true, reads>(window, rank, blocks * warps * 32, [] {});
  else
    carry_packets<false, reads>(window, rank, blocks * warps * 32, [] {});
}

/// Looks whether as many slots are free behind the message that the route's last one was as it has,
/// and as many again: the next one finds some. The last warp, whole.
GMPI_DEVICE void look_far_ahead(const Span &span) {
  constexpr std::uint32_t at_once = 8;
  const std::uint32_t lane = lane_index();
  const std::uint32_t channel = routes_of<Scope::grid>().channel[span.route];
  const std::uint32_t *const freed = context.peer->channels[channel].out_freed;
  const unsigned long long end = span.first + 3 * slots_for(span.bytes, is_dense(span));
  unsigned long long known = span.free_until;
  bool more = true;
  GMPI_NO_UNROLL
  while (more && known < end) {
    bool free[at_once];
    GMPI_UNROLL
    for (std::uint32_t i = 0; i < at_once; ++i)
      free[i] = is_free(freed, known + i * 32 + lane);
    GMPI_UNROLL
    for (std::uint32_t i = 0; i < at_once; ++i) {
      const unsigned taken = ~__ballot_sync(whole_warp, free[i]);
      known += !more        ? 0
               : taken != 0 ? static_cast<std::uint32_t>(__ffs(static_cast<int>(taken))) - 1
                            : 32;
      more = more && taken == 0;
    }
  }
  if (lane == 0 && known != span.free_until) {
    note_free_until<Scope::grid>(span.route, known);
    atomicMax(&context.peer->sending[channel].free_until, known);
  }
}

/// The end of this block's part in what all of them carry: they meet, or, where the call `goes_on`,
/// the others arrive again. `shows`: what they have stored is to be seen then. One thread.
template <bool shows> GMPI_DEVICE void end_part(BlockState &block, bool goes_on) {
  if (!goes_on)
    meet_blocks<shows>(block);
  else if (block.command == GridCommand::lead)
    GridTeam::await_helpers();
  else if constexpr (shows)
    add_device(&block.launch->membership, 1);
  else
    increase_relaxed_device(&block.launch->membership, 1);
}

/// All of a block, whichever of the grid's, carry block.peer.span with the other blocks. Returns
/// how far the call has come then: over; answered, where what it returns is yet to be given, or
/// made, where the launch's state says what that is: all blocks have met. Or sent, and the other
/// blocks have arrived again, or are about to.
GMPI_NOINLINE Begun carry_wide() {
  BlockState &block = block_state();
  const Span &span = block.peer.span;
  const bool leads = block.command == GridCommand::lead;
  const bool reads = span.reads;
  const Begun then = span.then;
  reads ? carry_part<true>(span) : carry_part<false>(span);
  if (leads && thread_index() / 32 + 1 == block_threads() / 32) {
    if (!reads)
      look_far_ahead(span);
    else if (lane_index() == 0)
      give_token_back(*context.peer, span.peer, span.serial);
  }
  __syncthreads();
  if (thread_index() == 0) {
    // (Of what is read, the call is over.)
    reads ? end_part<true>(block, false) : end_part<false>(block, then == Begun::sent);
    if (leads && then != Begun::sent)
      block.living_blocks = 1; // nobody is left to be told of the end
  }
  __syncthreads();
  if (leads && reads)
    free_share(span.freed, span.first, span.first + slots_for(span.bytes, is_dense(span)),
               thread_index(), block_threads());
  return !leads && then == Begun::answered ? Begun::made : then;
}

/// The end of a call that is over when all blocks have carried block.peer.span, and this one its
/// part. Returns over, or answered, or made; or, where it goes on then, sent, or answered, if it is
/// this block's and has been read.
GMPI_DEVICE Begun end_together() {
  BlockState &block = block_state();
  const Span &span = block.peer.span;
  const bool leads = block.command == GridCommand::lead;
  const Begun then = span.then;
  const bool goes_on = then == Begun::sent;
  __syncthreads();
  if (thread_index() == 0) {
    span.reads ? end_part<true>(block, goes_on) : end_part<false>(block, goes_on);
    if (leads && !goes_on)
      block.living_blocks = 1; // nobody is left to be told of the end
  }
  __syncthreads();
  return leads && goes_on && span.reads      ? Begun::answered
         : !leads && then == Begun::answered ? Begun::made
                                             : then;
}
/// The same of a stream.
GMPI_DEVICE Begun end_stream() {
  const BlockState &block = block_state();
  const Begun begun = end_together();
  if (thread_index() == 0 && block.command == GridCommand::lead && block.peer.span.reads)
    store_release_device(&context.peer->stream_busy[block.peer.span.peer], 0);
  return begun;
}

/// A stream between GPUs of one host.
GMPI_NOINLINE Begun carry_near_stream() {
  const Span &span = block_state().peer.span;
  span.reads ? carry_stream_part<true>(span) : carry_stream_part<false>(span);
  return end_stream();
}
/// So long a message from another host is read by all blocks: one has no more than 8 KiB on its way
/// from the host's memory, and the others are to be told, and to meet.
constexpr std::uint32_t least_read_together = 16384;
/// This block's part of one, of which the header has been acquired; or of a wide one to there.
GMPI_DEVICE void carry_apart_part(const Span &span, const Header &header) {
  const std::uint32_t warp = thread_index() / 32, warps = block_threads() / 32;
  const std::uint32_t size = grid_blocks() * warps * 32;
  const std::uint32_t rank = (warp * grid_blocks() + block_index()) * 32 + lane_index();
  if (warp >= warps || rank * sizeof(uint4) >= span.bytes)
    return;
  const Transfer t{span.ring, span.freed, span.first, span.data, span.bytes, header};
  if (!span.reads)
    return write_portion(t, Portion(t, 0), rank, size);
  acquire_system();
  read_portion(t, Portion(t, 0), rank, size);
}
/// The end of a call's sending when all blocks have written block.peer.span, and this one its part:
/// the block that makes the call does `tell` then, with which others see it. All of the block.
/// Returns over, where all blocks have met; or sent, as carry_wide() does.
template <class Tell> GMPI_DEVICE Begun end_writing(Tell tell) {
  BlockState &block = block_state();
  const bool leads = block.command == GridCommand::lead;
  const Begun then = block.peer.span.then;
  __syncthreads();
  if (thread_index() == 0) {
    end_part<true>(block, then == Begun::sent);
    if (leads) {
      release_system(); // what all blocks have stored is there before that
      tell();
    }
    if (leads && then != Begun::sent)
      block.living_blocks = 1; // nobody is left to be told of the end
  }
  __syncthreads();
  return then;
}

/// What goes by way of the hosts.
GMPI_NOINLINE Begun carry_far() {
  const Span &span = block_state().peer.span;
  if (span.way == SpanWay::far_stream) {
    span.reads ? carry_far_stream_part<true>(span) : carry_far_stream_part<false>(span);
    return end_stream();
  }
  const Header header{MessageKind::eager, 0, 0, 0, 0, span.bytes, 0, Form::apart, false};
  carry_apart_part(span, header);
  if (!span.reads)
    return end_writing([] {
      const Transfer &t = block_state().peer.step.transfer;
      store_header_alone(t.ring, t.first, t.header);
    });
  const Begun begun = end_together();
  if (block_state().command == GridCommand::lead)
    free_share(span.freed, span.first, span.first + slots_of(header), thread_index(),
               block_threads());
  return begun;
}

// --- long messages that are stored where they belong ---

/// Has all blocks store the message that is sent at `target`. `then`: over or sent. Lane 0 of the
/// block that makes the call.
GMPI_DEVICE void tell_to_store(BlockState &block, void *target, void *data, std::uint64_t bytes,
                               Begun then) {
  note_span(static_cast<std::uint64_t *>(target), nullptr, 0, data,
            static_cast<std::uint32_t>(bytes), 0, {}, then);
  Span &span = block.peer.span;
  span.reads = false;
  span.way = SpanWay::store;
  tell_wide(block);
}
/// All of a block, whichever of the grid's, store their part; then the receiver is told.
GMPI_NOINLINE Begun carry_stored() {
  const Span &span = block_state().peer.span;
  copy_evenly(span.ring, span.data, span.bytes);
  return end_writing([] {
    const Share &share = block_state().peer;
    store_packet(share.landed, 0, share.landed_lap);
    increase_relaxed_device(&context.peer->stored, 1);
  });
}

GMPI_NOINLINE Begun carry_exchange(); // exchange_device.hpp
/// What is not as often carried.
GMPI_NOINLINE Begun carry_other() {
  return block_state().peer.span.way == SpanWay::exchange ? carry_exchange() : carry_far();
}

GMPI_DEVICE Begun carry_stream() {
  const SpanWay way = block_state().peer.span.way;
  return way == SpanWay::near_stream ? carry_near_stream()
         : way == SpanWay::store     ? carry_stored()
                                     : carry_other();
}

/// All of a block, whichever of the grid's, carry what block.peer.span says, as these do.
GMPI_DEVICE Begun carry_with_grid() {
  return block_state().peer.span.way <= SpanWay::dense ? carry_wide() : carry_stream();
}

} // namespace gmpi::device::peer
