// The quick way of long messages that a block, or a grid, sends and another receives: the first
// warp agrees with the other rank on where the message belongs, and all threads store it there.
//
// Invariant: a request is begun here in a slot that the block or launch keeps. A send's is not
// among the active ones: only this warp knows of it. Where it takes longer, or others of this rank
// have a say, it is made one of those that all who wait carry on, and the general way goes on. A
// receive's is one of those that are posted, from when its message has been matched.
#pragma once

#include "quick_long_send_device.hpp"

namespace gmpi::device::peer {

// --- receiving ---

/// The same as find_offer(), by a warp.
GMPI_DEVICE Match find_offer_as_warp(const State &state, const void *data, unsigned long long bytes,
                                     unsigned long long &offset) {
  constexpr std::uint32_t each = max_offers / 32;
  const std::uint32_t lane = thread_index();
  Packet begin[each], length[each];
  GMPI_UNROLL
  for (std::uint32_t i = 0; i < each; ++i) {
    begin[i] = Packet::load(state.offers[lane + 32 * i].begin);
    length[i] = Packet::load(state.offers[lane + 32 * i].bytes);
  }
  GMPI_UNROLL
  for (std::uint32_t i = 0; i < each; ++i) {
    const auto number = static_cast<std::uint32_t>(begin[i].low >> 32);
    const unsigned long long behind = reinterpret_cast<std::uint64_t>(data) - begin[i].data();
    const unsigned holds = __ballot_sync(
        whole_warp, number != 0 && begin[i].shows(number) && length[i].shows(number) &&
                        behind < length[i].data() && bytes <= length[i].data() - behind);
    if (holds != 0) {
      const std::uint32_t its = __ffs(static_cast<int>(holds)) - 1;
      offset = of_lane(behind, its);
      return {0, 0, its + 32 * i, of_lane(number, its)};
    }
  }
  return {};
}

/// Takes the next message of a channel, which is announced and fits, as the request of `slot`,
/// call.receiving; the warp holds the channels, which are given back. False, and it still holds
/// them, where it cannot say where the message can be stored. `match`, `offset`: what
/// find_offer_as_warp() has found.
GMPI_DEVICE bool match_long(State &state, const Comm &comm, int source, int tag, void *data,
                            unsigned long long room, std::uint32_t channel, const Position &at,
                            const Header &header, Match match, unsigned long long offset,
                            std::uint32_t slot, LongCall &call) {
  if (match.number == 0 || is_shared(data) || comm.peer_of[source] >= state.near_peers)
    return false;
  match.request = slot;
  match.serial = next_use(state, slot, false);
  if (thread_index() == 0) {
    begin_receiving(state, slot, match.serial, comm, source, tag, data, room);
    Request &request = state.requests[slot];
    request.offer = match;
    request.offset = offset;
    take_announced(state, slot, channel, at, header, match, offset);
  }
  __syncwarp();
  call.receiving = slot;
  call.receive_lap = lap_of_serial(match.serial);
  call.in = state.channels[comm.peer_of[source]].in;
  call.next = at.common + (channel < max_peers ? 1 : 0);
  return true;
}

/// Awaits the data of call.receiving, with which the call is over; nothing is being sent any more.
/// Returns over, answered or left.
template <Scope S> GMPI_DEVICE Begun end_long(State &state, const LongCall &call, Share &share) {
  if (!watch(state, call, landed_at(state.acks, call.receiving), call.receive_lap,
             [](const Packet &, unsigned shows) { return (shows & 1) != 0; }))
    return Begun::left;
  acquire_system();
  if (thread_index() == 0) {
    atomicSub(&state.summary.posted, 1u);
    note_state(state.requests[call.receiving], RequestState::done);
    if (call.want_status) {
      const Header &header = state.requests[call.receiving].header;
      note_message(share, call.source, header, header.tag, call.room);
      if (S == Scope::grid)
        block_state().launch->result = share.result;
    }
    if (!call.goes_on) {
      prepare_end<S>();
      tell_end_of_call<S>();
    }
  }
  return call.want_status ? Begun::answered : Begun::over;
}

/// Messages that are no longer are streamed even where they can be stored where they belong: to
/// agree on that, and to tell of it, takes as long as a third more on the link.
constexpr std::uint64_t sooner_streamed = 3 << 19;

/// Takes the next message of a channel, which is announced, fits and waits to be streamed, and has
/// all blocks read it, if they can; the warp holds the channels, which are given back. False, and
/// it still holds them, where they cannot. `mapped`: it could be stored where it belongs, if it
/// comes from this host. `goes_on`: as of LongCall. `meanwhile`: the call whose message they send
/// then, or null.
GMPI_DEVICE bool stream_long(State &state, const Comm &comm, int source, void *data, bool mapped,
                             unsigned long long room, std::uint32_t channel, Position at,
                             const Header &header, bool want_status, bool goes_on,
                             const LongCall *meanwhile, Share &share) {
  const std::uint32_t peer = comm.peer_of[source];
  const bool far = peer >= state.near_peers;
  if (!waits_to_stream<Scope::grid>(data, header.bytes) ||
      (!far && mapped && header.bytes > sooner_streamed))
    return false;
  const bool holds = thread_index() == 0 && cas_acquire_device(&state.stream_busy[peer], 0, 1) == 0;
  if (of_lane(int(holds), 0) == 0)
    return false;
  if (thread_index() == 0) {
    BlockState &block = block_state();
    const unsigned long long first = state.stream_next[peer], next = at.in(channel);
    state.stream_next[peer] =
        first + (far ? gmpi::peer::chunks_for(header.bytes) : stream_bundles(header.bytes));
    answer_to_stream(state, peer, header, first);
    if (want_status || meanwhile != nullptr) {
      note_message(share, source, header, header.tag, room);
      block.launch->result = share.result;
    }
    const Begun then = goes_on ? Begun::sent : want_status ? Begun::answered : Begun::over;
    if (meanwhile != nullptr)
      tell_to_exchange(block, peer, data, header.bytes, first, then, share.step.transfer.data,
                       share.step.high, meanwhile->to);
    else
      tell_to_stream(block, true, peer, data, header.bytes, first, then);
    at.move(channel, next + 1);
    let_channels_go(state, peer, at);
    free_share(state.channels[channel].in_freed, next, next + 1, 0, 1);
    if (!mapped && !far)
      ask_for_offer(state, static_cast<unsigned char *>(data)); // for longer ones to come
  }
  __syncwarp();
  return true;
}

/// Takes the next message of a channel, which is announced; the warp holds the channels, which are
/// given back. Returns landing; sharing, where all blocks are to read a stream; matched, from where
/// the general way is to go on; or nothing, where there was no slot for it.
template <Scope S>
GMPI_DEVICE Begun receive_long(State &state, const Comm &comm, int source, int tag, void *data,
                               unsigned long long room, std::uint32_t channel, const Position &at,
                               const Header &header, bool want_status, Share &share) {
  unsigned long long offset = 0;
  const Match offer = find_offer_as_warp(state, data, room, offset);
  const bool mapped = offer.number != 0;
  if constexpr (S == Scope::grid)
    if (header.streams && header.bytes <= room &&
        stream_long(state, comm, source, data, mapped, room, channel, at, header, want_status,
                    false, nullptr, share))
      return Begun::sharing;
  LongCall call{};
  call.sending = nothing;
  const std::uint32_t slot = kept_slot_as_warp<S>();
  if (slot == no_slot || header.bytes > room ||
      !match_long(state, comm, source, tag, data, room, channel, at, header, offer, offset, slot,
                  call)) {
    if (thread_index() == 0)
      match_announced(state, comm, source, tag, data, room, channel, at, header, share);
    __syncwarp();
    return share.request != nothing ? Begun::matched : Begun::nothing;
  }
  call.source = source;
  call.room = room;
  call.want_status = want_status;
  return keep_call(call, share, Begun::landing);
}

/// What is left of a call that is `announced`, or `landing`; a function that calls none. Returns as
/// await_match() or end_long() do.
template <Scope S> GMPI_NOINLINE Begun await_match() {
  Share &share = block_state().peer;
  const LongCall call = share.long_call;
  return await_match<S>(*context.peer, call, share);
}
template <Scope S> GMPI_NOINLINE Begun await_landing() {
  Share &share = block_state().peer;
  const LongCall call = share.long_call;
  return end_long<S>(*context.peer, call, share);
}
/// The general way is to go on with it. Returns from where.
GMPI_OUT_OF_LINE Begun leave_long() {
  Share &share = block_state().peer;
  const LongCall call = share.long_call;
  return leave_long(*context.peer, call, share);
}

/// Has all blocks read the message that an MPI_Sendrecv's first warp has been offered, and send
/// call.sending meanwhile, if there is that. Returns sharing; or sending, from where the general
/// way is to go on.
GMPI_OUT_OF_LINE Begun exchange_streams() {
  State &state = *context.peer;
  Share &share = block_state().peer;
  const LongCall call = share.long_call;
  const Arrived &its = share.arrived;
  const std::uint32_t peer = peer_of_channel(its.channel);
  const Position at{its.common, its.owned};
  const LongCall *const meanwhile = call.sending != nothing ? &call : nullptr;
  if (peer < state.near_peers &&
      stream_long(state, *call.comm, call.source, call.data, false, call.room, its.channel, at,
                  its.header, call.want_status, call.goes_on, meanwhile, share))
    return Begun::sharing;
  if (thread_index() == 0)
    let_channels_go(state, peer, at);
  return leave_long(state, call, share);
}

/// Goes on with a long call of the first warp's, whole, that it has begun: to where all of the
/// block have something to do, or it is over. `exchanges`: it may be `offered` what it receives.
template <Scope S, bool exchanges = false> GMPI_DEVICE Begun go_on_long(Begun begun) {
  if (begun == Begun::announced)
    begun = await_match<S>();
  else if (begun == Begun::landing)
    begun = await_landing<S>();
  else if (exchanges && S == Scope::grid && begun == Begun::offered)
    begun = exchange_streams();
  return begun == Begun::left ? leave_long() : begun;
}

// --- MPI_Sendrecv of two long messages ---

/// Awaits the answer to call.sending, or the message that is to be received, whichever comes
/// first; in the latter case, it is matched. Returns storing; over where it is matched; offered,
/// where it might be streamed, and the channels are held still; or sending, from where the general
/// way is to go on. `sends`: there is call.sending.
template <Scope S, bool sends>
GMPI_DEVICE Begun await_either(State &state, const Comm &comm, int source, int tag, void *data,
                               unsigned long long room, std::uint32_t slot, LongCall &call,
                               Share &share) {
  constexpr std::uint32_t owned_lane = 4, common_lane = 8;
  constexpr unsigned headers = (1u << header_packets) - 1;
  const std::uint32_t lane = thread_index(), peer = comm.peer_of[source];
  Position at;
  if (!try_hold_channels(state, peer, at))
    return leave_long(state, call, share);
  const bool owned = lane >= owned_lane && lane < owned_lane + header_packets;
  const bool common = lane >= common_lane && lane < common_lane + header_packets;
  const std::uint32_t channel = owned ? owned_channel(peer) : peer;
  const bool answer_lane = sends && lane < ack_packets;
  const std::uint64_t *from =
      answer_lane ? answer_at(state, call)
      : owned     ? packet_at(state.channels[channel].in, at.owned, lane - owned_lane)
      : common    ? packet_at(state.channels[channel].in, at.common, lane - common_lane)
                  : words_of(state.summary);
  const std::uint32_t lap = answer_lane ? call.send_lap : lap_of(owned ? at.owned : at.common);
  const bool is_last = lane == owned_lane + 2 || lane == common_lane + 2; // of a header
  static_assert(header_packets == 3);
  unsigned long long offset = 0;
  const Match offer = find_offer_as_warp(state, data, room, offset); // while that is on its way
  // Who answers has mostly announced its own before. That is taken first, for both to go at once.
  // What comes may also be short, and is received behind the answer; or another's, and then that
  // other one's answer may wait for what is done here.
  constexpr unsigned few = 4, some = 64; // turns
  unsigned answered = 0, others = 0;
  Answer answer = Answer::none;
  Patience patience;
  GMPI_NO_UNROLL
  for (unsigned turns = 0;; ++turns) {
    const Packet seen = Packet::load(from);
    const unsigned shows =
        __ballot_sync(whole_warp, seen.shows(lap) & (!is_last || at.allows(channel, seen.data())));
    const bool by_owned = (shows >> owned_lane & headers) == headers;
    const bool comes = by_owned || (shows >> common_lane & headers) == headers;
    if (comes) {
      const std::uint32_t first = by_owned ? owned_lane : common_lane;
      const Header header =
          unpack_header(of_lane(seen.data(), first), of_lane(seen.data(), first + 1), 0);
      const std::uint32_t its = by_owned ? owned_channel(peer) : peer;
      const bool takes = is_for(header, comm, tag) && header.kind == MessageKind::announced &&
                         header.bytes <= room;
      if (takes && match_long(state, comm, source, tag, data, room, its, at, header, offer, offset,
                              slot, call))
        return Begun::over;
      if (S == Scope::grid && takes && (call.streams || !sends) && header.streams) {
        if (lane == 0)
          share.arrived = {at.common, at.owned, its, header};
        return Begun::offered;
      }
      if (takes || !sends || ++others > some)
        break;
    }
    if (sends && (shows & 1) != 0 && (comes || ++answered > few)) {
      answer = answer_of<S>(state, call, seen, shows, share);
      if (answer != Answer::none)
        break;
    }
    const bool stop = lane == 2 ? has_others(seen, 0) || seen.low >> 32 != 0 : patience.ends(turns);
    if (__any_sync(whole_warp, stop))
      break;
    if (lane == 0)
      relax();
  }
  if (lane == 0)
    let_channels_go(state, peer, at);
  return answer == Answer::storable ? Begun::storing : leave_long(state, call, share);
}

/// The slot that a long receive of an MPI_Sendrecv's is to have; no_slot where it goes another way.
template <Scope S>
GMPI_DEVICE std::uint32_t slot_to_exchange(int source, const void *out,
                                           unsigned long long out_bytes) {
  return out_bytes <= eager_bytes || is_local(out) || source == MPI_ANY_SOURCE
             ? no_slot
             : of_lane(thread_index() == 0 ? other_kept_slot<S>() : no_slot, 0);
}
/// Goes on with an MPI_Sendrecv whose message has been announced, or, where it does not send any
/// more, is there. Returns as begin_exchange(), or then landing.
template <Scope S, bool sends = true>
GMPI_DEVICE Begun go_on_exchanging(State &state, const Comm &comm, int source, int tag, void *out,
                                   unsigned long long out_bytes, std::uint32_t slot, LongCall &call,
                                   Share &share) {
  const Begun begun =
      await_either<S, sends>(state, comm, source, tag, out, out_bytes, slot, call, share);
  if (!sends || begun == Begun::offered) {
    call.comm = &comm;
    call.data = out;
    call.source = source;
    call.room = out_bytes;
  }
  constexpr Begun then = sends ? Begun::announced : Begun::landing;
  return keep_call(call, share, begun == Begun::over ? then : begun);
}
/// Begins an MPI_Sendrecv that sends a long message through a route, and receives one. Returns as
/// begin_exchange(); or nothing, and nothing has happened.
template <Scope S>
GMPI_NOINLINE Begun exchange_by_route(LongRoute route, int send_tag, const void *in,
                                      unsigned long long in_bytes, int source, int recv_tag,
                                      void *out, unsigned long long out_bytes, bool want_status) {
  State &state = *context.peer;
  Share &share = block_state().peer;
  LongCall call = sending_call(Begun::sent, want_status);
  const std::uint32_t slot = slot_to_exchange<S>(source, out, out_bytes);
  if (slot == no_slot)
    return Begun::nothing;
  const Comm *const comm = announce_by_route<S>(state, route, kept_slot_as_warp<S>(), send_tag, in,
                                                in_bytes, !is_shared(out), call, share);
  return comm == nullptr ? Begun::nothing
                         : go_on_exchanging<S>(state, *comm, source, recv_tag, out, out_bytes, slot,
                                               call, share);
}

/// Begins an MPI_Sendrecv that sends a long message. Returns storing, announced or offered, and
/// share.long_call says what has been matched; or from where the general way is to go on.
template <Scope S>
GMPI_NOINLINE Begun begin_exchange(State &state, const Comm &comm, int dest, int send_tag,
                                   const void *in, unsigned long long in_bytes,
                                   MPI_Datatype datatype, int source, int recv_tag, void *out,
                                   unsigned long long out_bytes, bool want_status, Share &share) {
  LongCall call = sending_call(Begun::sent, want_status);
  Begun begun = Begun::nothing;
  const std::uint32_t slot = slot_to_exchange<S>(source, out, out_bytes);
  const bool may_stream = comm.peer_of[dest] < state.near_peers && !is_shared(out);
  if (slot != no_slot)
    begun = announce_long<S>(state, comm, dest, send_tag, in, in_bytes, datatype, may_stream, call,
                             share);
  if (begun == Begun::nothing)
    return announce_quickly(state, comm, dest, send_tag, in, in_bytes, share);
  if (begun != Begun::over)
    return begun;
  return go_on_exchanging<S>(state, comm, source, recv_tag, out, out_bytes, slot, call, share);
}

/// Goes on with it where its message has been matched, and the other one has been stored. Returns
/// landing.
GMPI_DEVICE Begun end_exchange(int source, unsigned long long room, bool want_status,
                               Share &share) {
  if (thread_index() == 0) {
    LongCall &call = share.long_call;
    call.sending = nothing;
    call.source = source;
    call.room = room;
    call.want_status = want_status;
  }
  __syncwarp();
  return Begun::landing;
}

} // namespace gmpi::device::peer
