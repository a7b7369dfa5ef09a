// The quick way of a long message that a block, or a grid, sends: announced, answered, and stored.
// See quick_long_device.hpp.
//
// Invariant: until others of the rank have a say, nobody else knows of the request, whose answer
// the first warp awaits.
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

} // namespace gmpi::device::peer
