// The quick way of long messages that a block, or a grid, sends and another receives: the first
// warp agrees with the other rank on where the message belongs, and all threads store it there.
//
// Invariant: a request is begun here in a slot that the block or launch keeps. A send's is not
// among the active ones: only this warp knows of it. Where it takes longer, or others of this rank
// have a say, it is made one of those that all who wait carry on, and the general way goes on. A
// receive's is one of those that are posted, from when its message has been matched.
#pragma once

#include "../../mpi/first_warp_device.hpp"
#include "../../queue/kept_slots_device.hpp"
#include "../channel/routes_device.hpp"
#include "../channel/wide_device.hpp"
#include "../general/receive_device.hpp"
#include "../general/taking_device.hpp"

namespace gmpi::device::peer {

GMPI_DEVICE const std::uint64_t *words_of(const Summary &summary) {
  return reinterpret_cast<const std::uint64_t *>(&summary);
}
/// Whether others of this rank have something to do, or to say, beside `posted` receives; a
/// Summary's words. (What is kept only a receive must look at.)
GMPI_DEVICE bool has_others(const Packet &summary, std::uint32_t posted) {
  return static_cast<std::uint32_t>(summary.low) != posted || summary.high != 0;
}

/// Looks until `comes(seen, shows)`, where the first two lanes have `seen` what is at their
/// `awaited`, and the bits of `shows` say in which lanes it shows `lap`. False where others of this
/// rank have a say, or something has come by the channel that may be what is received.
template <class Comes>
GMPI_DEVICE bool watch(State &state, const LongCall &call, const std::uint64_t *awaited,
                       std::uint32_t lap, Comes comes) {
  constexpr std::uint32_t summary_lane = 2, channel_lane = 3;
  const std::uint32_t lane = thread_index(), posted = call.receiving != nothing ? 1 : 0;
  const bool looks_at_channel = lane == channel_lane && posted != 0;
  const std::uint64_t *from = lane < summary_lane ? awaited
                              : looks_at_channel  ? packet_at(call.in, call.next, 0)
                                                  : words_of(state.summary);
  if (lane >= summary_lane)
    lap = lap_of(call.next);
  Patience patience;
  GMPI_NO_UNROLL
  for (unsigned turns = 0;; ++turns) {
    const Packet seen = Packet::load(from);
    const bool shows = seen.shows(lap);
    if (comes(seen, __ballot_sync(whole_warp, shows)))
      return true;
    const bool stop = lane == summary_lane ? has_others(seen, posted)
                      : looks_at_channel   ? shows
                                           : patience.ends(turns);
    if (__any_sync(whole_warp, stop))
      return false;
    if (lane == 0)
      relax();
  }
}

// --- sending ---

/// Of a call that begins with what it sends. `then`: see LongCall.
GMPI_DEVICE LongCall sending_call(Begun then, bool want_status = false) {
  LongCall call{};
  call.receiving = nothing;
  call.want_status = want_status;
  call.then = then;
  return call;
}

/// A message that is to be announced as the request of `slot`, from channel slot number `first` on.
/// `streams`: all blocks of a grid will wait to stream it.
GMPI_DEVICE Transfer announcement(std::uint32_t comm_context, std::uint32_t slot,
                                  std::uint32_t serial, int tag, const void *data,
                                  unsigned long long bytes, unsigned long long first,
                                  std::uint64_t after, bool streams = false) {
  Transfer t{};
  t.data = static_cast<unsigned char *>(const_cast<void *>(data));
  t.room = bytes;
  t.first = first;
  t.header = {MessageKind::announced,
              comm_context,
              static_cast<std::uint16_t>(slot),
              static_cast<std::uint16_t>(serial),
              tag,
              bytes,
              after,
              Form::packets,
              streams};
  return t;
}
/// Announces it. A warp.
GMPI_DEVICE void store_header(std::uint64_t *ring, const Transfer &t) {
  const std::uint32_t lane = thread_index();
  if (lane < header_packets)
    store_packet(packet_at(ring, t.first, lane), pack_header(t.header, lane), lap_of(t.first));
}

/// Notes an announced message while its answer is on its way: as call.sending, which is `slot`.
GMPI_DEVICE void note_announced(State &state, const Comm &comm, std::uint32_t peer,
                                std::uint32_t slot, const Transfer &t, bool free, LongCall &call,
                                Share &share) {
  if (thread_index() == 0) {
    describe_send(state, comm, peer, slot, t);
    note_state(state.requests[slot], free ? RequestState::awaiting_match : RequestState::queued);
    share.request = slot;
    share.waits = share.step.check = false;
    share.step.kind = Step::none;
    share.step.transfer.data = t.data;
    share.step.high = t.header.bytes;
    if (!free)
      activate(state, slot);
  }
  __syncwarp();
  call.sending = slot;
  call.to = peer;
  call.send_lap = lap_of_serial(t.header.serial);
}

/// Announces a message to a rank of this host, or one that may be streamed to any, as the request
/// of a kept slot, call.sending. Returns over; sending where its slot of the channel is not free
/// yet; nothing where no slot is kept, or the message is in memory that not all of the block can
/// read. `may_stream`: nothing keeps the grid from that, if it is one.
template <Scope S>
GMPI_DEVICE Begun announce_long(State &state, const Comm &comm, int dest, int tag, const void *data,
                                unsigned long long bytes, MPI_Datatype datatype, bool may_stream,
                                LongCall &call, Share &share) {
  const std::uint32_t lane = thread_index(), peer = comm.peer_of[dest];
  const bool streams = may_stream && waits_to_stream<S>(data, bytes);
  const bool far = peer >= state.near_peers;
  call.streams = streams;
  if (is_local(data) || (far && !streams))
    return Begun::nothing;
  std::uint32_t slot = no_slot, serial = 0;
  Taken taken{};
  if (lane == 0) {
    slot = kept_slot<S>();
    if (slot != no_slot) {
      taken = take(state, peer, 1, bytes);
      serial = next_use(state, slot, true);
    }
  }
  slot = of_lane(slot, 0);
  if (slot == no_slot)
    return Begun::nothing;
  if (far) {
    if (lane < ack_packets)
      store_packet(ack_of(state, slot, answered_far) + lane * packet_words, 0, 0);
    release_system(); // the relay, which has the message later, writes there later
    __syncwarp();
  }
  const Transfer t = announcement(comm.context, slot, of_lane(serial, 0), tag, data, bytes,
                                  of_lane(taken.first, 0), of_lane(taken.after, 0), streams);
  const bool free =
      of_lane(int(taken.free), 0) != 0 || find_free_as_warp(state, peer, t.first + 1, lane);
  if (free)
    store_header(state.channels[peer].out, t);
  note_announced(state, comm, peer, slot, t, free, call, share);
  find_route<S>(state, comm, dest, datatype, 1, lane);
  return free ? Begun::over : Begun::sending;
}

/// The general way is to go on with what has been begun. Returns from where.
GMPI_DEVICE Begun leave_long(State &state, const LongCall &call, Share &share) {
  if (thread_index() == 0) {
    const bool receives = call.receiving != nothing;
    share.step.kind = Step::none;
    share.request = receives ? call.receiving : call.sending;
    share.sending = receives ? call.sending : nothing;
    if (call.sending != nothing)
      activate(state, call.sending);
  }
  __syncwarp();
  return call.receiving != nothing ? Begun::matched : Begun::sending;
}

/// The answer to call.sending: whether it is there, and the message can be stored where it says; or
/// is to be streamed, with which the call is over. (Where it is not, that is as if all blocks
/// stored it.)
enum class Answer : std::uint32_t { none, storable, streamed, other };

/// What the first two lanes have `seen` of it; where it is storable, share.step says how then;
/// where it is to be streamed, all blocks have been told to.
template <Scope S>
GMPI_DEVICE Answer answer_of(State &state, const LongCall &call, const Packet &seen, unsigned shows,
                             Share &share) {
  if ((shows & 1) == 0)
    return Answer::none;
  const Match match = unpack_match(of_lane(seen.data(), 0));
  const unsigned long long offset = of_lane(seen.data(), 1);
  if (match.number == 0 && !is_streamed(match))
    return Answer::other;
  if ((shows & 2) == 0)
    return Answer::none; // its other packet is on its way
  if constexpr (S == Scope::grid)
    if (is_streamed(match)) {
      if (thread_index() == 0) {
        share.shares = true;
        begin_to_stream(state, call.to, share.step.transfer.data, share.step.high, offset,
                        call.then);
      }
      return call.then == Begun::sent ? Answer::storable : Answer::streamed;
    }
  const bool by_all = S == Scope::grid && are_all_there(); // while the packet is on its way
  const Packet mapped = Packet::load(state.mapped[call.to][match.place]);
  if (!mapped.shows(match.number) || share.step.high > step_bytes<S>)
    return Answer::other;
  __syncwarp();
  if (thread_index() == 0) {
    unsigned char *const target = reinterpret_cast<unsigned char *>(mapped.data()) + offset;
    unsigned char *const data = share.step.transfer.data;
    share.landed = landed_at(state.peer_acks[call.to], match.request);
    share.landed_lap = lap_of_serial(match.serial);
    share.shares = by_all && share.step.high >= shared_store_bytes && !is_shared(data);
    if (S == Scope::grid && share.shares) {
      tell_to_store(block_state(), target, data, share.step.high, call.then);
    } else {
      share.step.kind = Step::store;
      share.step.low = 0;
      share.step.target = target;
    }
  }
  return Answer::storable;
}
/// Where this lane looks for it.
GMPI_DEVICE const std::uint64_t *answer_at(const State &state, const LongCall &call) {
  const std::uint32_t far = call.to >= state.near_peers ? answered_far : 0;
  return ack_of(state, call.sending, far) + thread_index() % ack_packets * packet_words;
}

/// Awaits the answer to call.sending. Returns storing, sharing or left.
template <Scope S> GMPI_DEVICE Begun await_match(State &state, const LongCall &call, Share &share) {
  Answer answer = Answer::none;
  watch(state, call, answer_at(state, call), call.send_lap,
        [&](const Packet &seen, unsigned shows) {
          answer = answer_of<S>(state, call, seen, shows, share);
          return answer != Answer::none;
        });
  return answer == Answer::storable   ? Begun::storing
         : answer == Answer::streamed ? Begun::sharing
                                      : Begun::left;
}

/// Leaves a long call's rest to a function that calls none: what it waits for, it finds without
/// registers to restore. Returns `then`.
GMPI_DEVICE Begun keep_call(const LongCall &call, Share &share, Begun then) {
  if (thread_index() == 0)
    share.long_call = call;
  __syncwarp();
  return then;
}

/// Announces the long message of a nonblocking call to a rank of this host, where a request slot is
/// at hand. Else it returns false, and nothing has happened. `handle` is lane 0's.
template <Scope S>
GMPI_DEVICE bool announce_at_once(State &state, const Comm &comm, int dest, int tag,
                                  const void *data, unsigned long long bytes, MPI_Request &handle) {
  const std::uint32_t lane = thread_index(), peer = comm.peer_of[dest];
  if (is_local(data) || peer >= state.near_peers)
    return false;
  NewSlot slot{no_slot, 0};
  Taken taken{};
  if (lane == 0 && take_slot_at_once(context, reserve_of<S>(), slot))
    taken = take(state, peer, 1, bytes);
  const std::uint32_t index = of_lane(slot.slot, 0), serial = of_lane(slot.serial, 0);
  if (index == no_slot)
    return false;
  const Transfer t = announcement(comm.context, index, serial & 0xffff, tag, data, bytes,
                                  of_lane(taken.first, 0), of_lane(taken.after, 0));
  const bool free =
      of_lane(int(taken.free), 0) != 0 || find_free_as_warp(state, peer, t.first + 1, lane);
  if (lane < ack_packets)
    store_packet(ack_at(state.acks, index) + lane * packet_words, 0, 0);
  __syncwarp();
  if (lane == 0) {
    describe_send(state, comm, peer, index, t);
    note_state(state.requests[index], free ? RequestState::awaiting_match : RequestState::queued);
    activate(state, index); // with a fence: whoever acknowledges comes after
    handle = encode_request({index, peer_device, serial});
  }
  __syncwarp();
  if (free)
    store_header(state.channels[peer].out, t);
  return true;
}

/// Announces a long message in any case. Leaves what follows to the general way. `own`: the slot of
/// its request, if it has one already.
GMPI_DEVICE Begun announce_quickly(State &state, const Comm &comm, int dest, int tag,
                                   const void *data, unsigned long long bytes, Share &share,
                                   std::uint32_t own = no_slot) {
  const std::uint32_t lane = thread_index();
  if (lane == 0)
    begin_send(state, comm, dest, tag, data, bytes, false, false, share, own);
  __syncwarp();
  if (share.step.kind == Step::write) {
    store_header(share.step.transfer.ring, share.step.transfer);
    __syncwarp();
    if (lane == 0)
      share.step.kind = Step::none;
  }
  return Begun::sending;
}

/// Announces a long message. Returns announced, or sending.
template <Scope S>
GMPI_NOINLINE Begun send_long(State &state, const Comm &comm, int dest, int tag, const void *data,
                              unsigned long long bytes, MPI_Datatype datatype, Share &share) {
  LongCall call = sending_call(Begun::over);
  const Begun begun =
      announce_long<S>(state, comm, dest, tag, data, bytes, datatype, true, call, share);
  return begun == Begun::over      ? keep_call(call, share, Begun::announced)
         : begun == Begun::nothing ? announce_quickly(state, comm, dest, tag, data, bytes, share)
                                   : begun;
}

/// The same through a route that leads there, of which this is needed; its slot number `next` is
/// free.
struct LongRoute {
  std::uint32_t i, comm_context;
  MPI_Comm comm;
  unsigned long long *order, next;
  std::uint64_t *out;
};
/// Announces a message so, as the request of `slot`, call.sending. Returns its communicator; null,
/// and nothing has happened, where it cannot. `may_stream`: as above.
template <Scope S>
GMPI_DEVICE const Comm *announce_by_route(State &state, const LongRoute &route, std::uint32_t slot,
                                          int tag, const void *data, unsigned long long bytes,
                                          bool may_stream, LongCall &call, Share &share) {
  const std::uint32_t lane = thread_index();
  const std::uint32_t peer = peer_of_channel(routes_of<S>().channel[route.i]);
  if (slot == no_slot || peer >= state.near_peers)
    return nullptr;
  // These need nothing of each other.
  const std::uint64_t after = common_of(load_relaxed_device(route.order));
  const std::uint32_t serial = lane == 0 ? next_use(state, slot, true) : 0;
  const std::uint32_t told = lane == 0 ? load_relaxed_device(&state.summary.told) : 0;
  const bool streams = may_stream && waits_to_stream<S>(data, bytes);
  call.streams = streams;
  const Transfer t = announcement(route.comm_context, slot, of_lane(serial, 0), tag, data, bytes,
                                  route.next, after, streams);
  store_header(route.out, t);
  __syncwarp(); // the route has been read
  if (lane == 0) {
    note_next<S>(route.i, route.next + 1);
    increase_relaxed_device(route.order, one_owned);
    count_call(state, bytes);
    if (told != 0)
      tell_progress(state);
  }
  const Comm *const comm = find_comm(route.comm);
  note_announced(state, *comm, peer, slot, t, true, call, share);
  return comm;
}
template <Scope S> GMPI_DEVICE std::uint32_t kept_slot_as_warp() {
  return of_lane(thread_index() == 0 ? kept_slot<S>() : no_slot, 0);
}
/// Of an MPI_Send. Returns announced; or nothing, and nothing has happened.
template <Scope S>
GMPI_NOINLINE Begun send_long_by_route(LongRoute route, int tag, const void *data,
                                       unsigned long long bytes) {
  Share &share = block_state().peer;
  LongCall call = sending_call(Begun::over);
  return announce_by_route<S>(*context.peer, route, kept_slot_as_warp<S>(), tag, data, bytes, true,
                              call, share) != nullptr
             ? keep_call(call, share, Begun::announced)
             : Begun::nothing;
}

/// All of the block, or the grid, store a message where it belongs, or stream it; then the receiver
/// is told. `last`: with it the call is over.
template <Scope S, bool last> GMPI_DEVICE void store_message() {
  if constexpr (S == Scope::grid)
    if (block_state().peer.shares) { // they have been told
      carry_stream();
      return;
    }
  const std::conditional_t<S == Scope::grid, GridTeam, BlockTeam> team{
      BlockTeam{thread_index() == 0}};
  do_store(team);
  if (thread_index() == 0) {
    Share &share = block_state().peer;
    release_system(); // what all have stored is there before that
    store_packet(share.landed, 0, share.landed_lap);
    if (last) {
      prepare_end<S>();
      tell_end_of_call<S>();
    }
    increase_relaxed_device(&context.peer->stored, 1);
  }
}

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
