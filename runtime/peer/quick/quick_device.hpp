// The quick way of calls: the first warp of a block, whole, decides and does all there is to do,
// between the barrier at which the block's threads meet and the one behind which the call is over.
// What most short calls do comes before (short_send_device.hpp, short_receive_device.hpp). What takes
// longer is left to the general way, and so is what others of this rank have a say in.
//
// Invariant: where a call is over, or belongs to the proxy, nothing of it is left; otherwise
// the block's begun and what it stands for say how far it has come.
//
// In a call of grid scope the warp also tells the other blocks, as early as they can go on: once a
// send's data has been read, or what has been received is there for them, but before its slots have
// been given back.
#pragma once

#include "../channel/wide_device.hpp"
#include "../matching/post_device.hpp"
#include "exchange_device.hpp"

namespace gmpi::device::peer {

/// This lane's eight of `bytes` bytes at `data`, which lanes from `headers` on carry.
GMPI_DEVICE std::uint64_t load_lane(const void *data, unsigned long long bytes, std::uint32_t lane,
                                    std::uint32_t headers) {
  auto *from = static_cast<const unsigned char *>(data);
  if (!is_local(data)) {
    unsigned long long at = (lane - headers) * packet_bytes;
    return lane >= headers && at < bytes ? load_data(from + at, bytes - at) : 0;
  }
  return load_own(data, static_cast<std::uint32_t>(bytes), lane, headers);
}

/// Stores what lanes from `headers` on have received, `bytes` in all.
template <Scope S>
GMPI_DEVICE void store_lane(void *data, unsigned long long bytes, std::uint32_t lane,
                            std::uint32_t headers, std::uint64_t value) {
  const std::uint32_t at = (lane - headers) * packet_bytes; // a header's: beyond any end
  if (is_local(data))
    leave_own(static_cast<std::uint32_t>(bytes), at, value,
              S == Scope::grid && block_state().living_blocks > 1);
  else if (at < bytes)
    store_data(static_cast<unsigned char *>(data) + at, bytes - at, value);
}

/// Whether a warp can receive so much there: what goes to each thread's own memory, the other
/// blocks of a grid get from it alone.
GMPI_DEVICE bool has_room(const void *to, unsigned long long bytes, std::uint32_t most) {
  return !is_local(to) || bytes <= most;
}

/// Sends at most eager_bytes through the common channel: at once, or leaves it to the block.
/// `last`: with it the call is over. `own`: the slot of its request, if it has one already.
template <Scope S>
GMPI_DEVICE Begun send_quickly(State &state, const Comm &comm, int dest, int tag, const void *data,
                               unsigned long long bytes, MPI_Datatype datatype, bool nonblocking,
                               bool last, Share &share, std::uint32_t own = no_slot) {
  const std::uint32_t lane = thread_index(), peer = comm.peer_of[dest];
  const bool short_one = bytes <= warp_bytes;
  Header header = header_to(state, comm, peer, tag, data, bytes, false);
  const std::uint64_t slots = short_one ? 1 : slots_of(header);
  Taken taken{};
  if (lane == 0)
    taken = take(state, peer, slots, bytes);
  std::uint64_t value = short_one ? load_lane(data, bytes, lane, header_packets) : 0;
  unsigned long long first = __shfl_sync(whole_warp, taken.first, 0);
  header.after = __shfl_sync(whole_warp, taken.after, 0);
  if (lane < header_packets)
    value = pack_header(header, lane);
  const bool ends = short_one && last;
  if (lane == 0 && ends && taken.free)
    prepare_end<S>();
  const bool known = __shfl_sync(whole_warp, int(taken.free), 0) != 0;
  const bool free = known || find_free_as_warp(state, peer, first + slots, lane);
  if (!free || !short_one) {
    if (lane == 0) {
      taken.free = free;
      share.step.check = false;
      use_slots(state, comm, peer, header, data, taken, nonblocking, share, own);
      share.answers = nonblocking;
    }
    find_route<S>(state, comm, dest, datatype, slots, lane);
    return !free ? Begun::sending : last ? Begun::carrying : Begun::exchanging;
  }
  if (lane < packets_for(bytes))
    store_packet(packet_at(state.channels[peer].out, first, lane), value, lap_of(first));
  if (lane == 0 && last) {
    if (!known)
      prepare_end<S>();
    tell_end_of_call<S>();
  }
  find_route<S>(state, comm, dest, datatype, 1, lane);
  return Begun::over;
}

/// Looks for what comes next from `peer`; the warp holds the channels. False where others of this
/// rank have a say, or it takes long.
GMPI_DEVICE bool await_next(State &state, std::uint32_t peer, const Position &at,
                            Arrived &arrived) {
  Patience patience;
  GMPI_NO_UNROLL
  for (unsigned turns = 0;; ++turns) {
    const Summary summary = look(state);
    Packet packet;
    const std::uint32_t channel = find_next_as_warp(state, peer, at, packet);
    if (__any_sync(whole_warp, is_contended(summary) || patience.ends(turns)))
      return false;
    if (channel != max_channels) {
      arrived = {at.common, at.owned, channel,
                 unpack_header(of_lane(packet.data(), 0), of_lane(packet.data(), 1), 0)};
      return true;
    }
    if (lane_index() == 0)
      relax();
  }
}

/// Takes the announced message that has arrived from `source`, and is for it, as share.arrived
/// says; the warp holds the channels, which are given back. Returns as receive_long() does.
template <Scope S>
GMPI_NOINLINE Begun take_offered(const Comm &comm, int source, int tag, void *data,
                                 unsigned long long room, bool want_status) {
  Share &share = block_state().peer;
  const Arrived arrived = share.arrived;
  const Position at{arrived.common, arrived.owned};
  if (thread_index() == 0)
    note_taken(comm, source, at, arrived.channel, arrived.header);
  return receive_long<S>(*context.peer, comm, source, tag, data, room, arrived.channel, at,
                         arrived.header, want_status, share);
}

/// Takes what has arrived from `source`, if it is what is to be received: at most warp_bytes at
/// once; a longer message is left to the block, as a span or as block.peer.step says. The warp
/// holds the channels, which are given back.
template <Scope S>
GMPI_DEVICE Begun take_arrived(State &state, const Comm &comm, int source, int tag, void *data,
                               unsigned long long room, bool want_status, const Arrived &arrived,
                               Share &share) {
  const std::uint32_t lane = thread_index(), peer = comm.peer_of[source];
  const std::uint32_t channel = arrived.channel;
  const Position at{arrived.common, arrived.owned};
  const Header header = arrived.header;
  const bool ours = is_for(header, comm, tag);
  if (ours && header.kind == MessageKind::announced && !is_local(data)) {
    if (lane == 0)
      share.arrived = arrived;
    __syncwarp();
    return take_offered<S>(comm, source, tag, data, room, want_status);
  }
  if (ours && lane == 0)
    note_taken(comm, source, at, channel, header);
  if (!ours || !has_data(header)) {
    if (lane == 0)
      let_channels_go(state, peer, at);
    return Begun::nothing;
  }
  const Channel &its = state.channels[channel];
  const unsigned long long next = at.in(channel);
  const bool fits = header.bytes <= room, whole = header.bytes <= warp_bytes;
  const bool answered = want_status || is_local(data);
  if (S == Scope::grid && is_wide(header) && fits && is_for_all(data, header) &&
      can_carry_together(header.bytes)) {
    if (lane == 0) // (a placed one is acquired there)
      read_wide(state, peer, source, its.in, its.in_freed, arrived, data, want_status,
                answered ? Begun::answered : Begun::over);
    __syncwarp();
    return Begun::sharing;
  }
  if (header.form == Form::dense && fits && is_in_eights(data) && !is_local(data)) {
    if (lane == 0) {
      if (is_wide(header))
        give_token_back(state, peer, header.serial);
      if (want_status)
        note_short<S>(share, source, header.tag, static_cast<std::uint32_t>(header.bytes));
      Position behind = at;
      behind.move(channel, next + slots_of(header));
      note_span(its.in, its.in_freed, next, data, static_cast<std::uint32_t>(header.bytes), peer,
                behind, answered ? Begun::answered : Begun::over);
    }
    __syncwarp();
    return Begun::bundling;
  }
  if (whole) {
    const bool carries = lane >= header_packets && lane < packets_for(header.bytes);
    store_lane<S>(data, header.bytes < room ? header.bytes : room, lane, header_packets,
                  carries ? await_packet(packet_at(its.in, next, lane), lap_of(next)) : 0);
  }
  __syncwarp();
  if (lane == 0) {
    take_found(state, channel, at, header);
    if (!(whole && fits) || answered) {
      auto *to = is_local(data) ? block_state().small : static_cast<unsigned char *>(data);
      note_found_for<S>(state, channel, source, to, room, next, header, whole, answered,
                        want_status, share);
    }
    if (whole && fits) {
      prepare_end<S>();
      tell_end_of_call<S>();
    }
    if (whole)
      free_share(its.in_freed, next, next + 1, 0, 1);
  }
  return !fits      ? Begun::receiving
         : !whole   ? Begun::carrying
         : answered ? Begun::answered
                    : Begun::over;
}

/// Receives from a rank that is named. `begun`: found where the next message has arrived.
template <Scope S>
GMPI_DEVICE Begun receive_quickly(State &state, const Comm &comm, int source, int tag, void *data,
                                  unsigned long long room, bool want_status, Begun begun,
                                  Share &share) {
  const std::uint32_t peer = comm.peer_of[source];
  Arrived arrived;
  if (begun == Begun::found) {
    arrived = share.arrived;
  } else {
    Position at;
    if (!try_hold_channels(state, peer, at))
      return Begun::nothing;
    if (!await_next(state, peer, at, arrived)) {
      if (thread_index() == 0)
        let_channels_go(state, peer, at);
      return Begun::nothing;
    }
  }
  return take_arrived<S>(state, comm, source, tag, data, room, want_status, arrived, share);
}

/// What a call returns that has received nothing.
template <Function F, Scope S> GMPI_DEVICE void return_nothing(Share &share, bool want_status) {
  constexpr bool nonblocking = kind_of(F) == Kind::nonblocking;
  if (thread_index() != 0 || !(nonblocking || want_status))
    return;
  share.result = nothing_received();
  if (nonblocking)
    share.result.request = null_peer_request();
  if (S == Scope::grid)
    block_state().launch->result = share.result;
}

/// MPI_Sendrecv's other half, once the message has been sent.
template <Scope S>
GMPI_DEVICE Begun receive_after_send(State &state, const Comm &comm, const Arguments &a,
                                     const Buffers &buffers, bool want_status, Begun begun,
                                     Share &share) {
  if (thread_index() == 0)
    share.sending = nothing;
  begun = has_room(buffers.out, buffers.out_bytes, warp_bytes)
              ? receive_quickly<S>(state, comm, a.source, a.recv_tag, buffers.out,
                                   buffers.out_bytes, want_status, begun, share)
              : Begun::nothing;
  if (begun != Begun::nothing)
    return begun;
  if (thread_index() == 0) {
    share.request = nothing;
    share.waits = share.step.check = false;
    share.step.kind = Step::none;
  }
  return Begun::sending; // and sent
}

/// What it receives.
GMPI_DEVICE Buffers found_by(const Arguments &a) {
  return {nullptr, 0, a.recv_buffer, room_in(source_of(a), a)};
}

/// Posts any receive. Leaves a message that has been kept to the block.
template <Scope S>
GMPI_DEVICE Begun post_quickly(State &state, const Comm &comm, const Arguments &a,
                               const Buffers &buffers, Share &share) {
  if (is_local(buffers.out))
    return Begun::nothing;
  const Begun begun =
      post_as_warp<S, true>(state, comm, a.source, wanted_from(comm, a.source, a.recv_tag),
                            buffers.out, buffers.out_bytes, share);
  if (begun != Begun::nothing)
    return begun;
  if (thread_index() == 0) {
    begin_receive(state, comm, a.source, a.recv_tag, buffers.out, buffers.out_bytes, false, false,
                  share);
    note_new_request(request_for(share.request), share);
    if (share.place == nothing)
      show_request<S>(share);
  }
  __syncwarp();
  return share.place == nothing ? Begun::answered : Begun::receiving;
}

/// What is received behind an MPI_Sendrecv's message must be as MPI wants it, before that is sent.
GMPI_DEVICE bool receives_behind(const Arguments &a) {
  return a.recv_datatype == a.send_datatype && a.recv_count >= 0 &&
         (a.recv_tag >= 0 || a.recv_tag == MPI_ANY_TAG);
}

/// Sends by route `i`, to a rank on another host, what goes there as it is: all of the block are to
/// write it. Where too few of its slots are known to be free it looks for more; where there are
/// none, nothing has happened. The block's first warp, whole.
template <Function F, Scope S>
GMPI_DEVICE Begun send_apart(std::uint32_t i, const Route &route, int tag, const void *data,
                             std::uint64_t bytes) {
  State &state = *context.peer;
  Share &share = block_state().peer;
  const std::uint64_t order = load_relaxed_device(route.order);
  const std::uint32_t told = load_relaxed_device(&state.summary.told);
  const Header header{MessageKind::eager, route.context, 0,    0, tag, bytes,
                      common_of(order),   Form::apart,   false};
  const unsigned long long slots = slots_of(header), end = route.next + slots;
  if (end > route.free_until) {
    look_behind<S>(i, route.free_until);
    __syncwarp();
    if (end > load_route<S>(i).free_until)
      return Begun::nothing;
  }
  return_nothing<F, S>(share, false);
  __syncwarp(); // all have looked
  if (lane_index() == 0) {
    share.answers = F == Function::Isend;
    share.step = {Step::write,
                  false,
                  0,
                  slots,
                  {route.out, nullptr, route.next,
                   static_cast<unsigned char *>(const_cast<void *>(data)), bytes, header},
                  nullptr};
    increase_relaxed_device(route.order, slots * one_owned);
    note_next<S>(i, end);
    count_call(state, bytes);
    if (told != 0)
      tell_progress(state);
  }
  return F == Function::Sendrecv ? Begun::exchanging : Begun::carrying;
}

/// Sends by the route, if that leads there, what does not go in packets: announces a long message,
/// or has all of the block write one to another host. Else it does nothing.
template <Function F, Scope S> GMPI_DEVICE Begun send_by_route(const Arguments &a) {
  const std::uint32_t i = static_cast<std::uint32_t>(a.dest) % Routes::most;
  const Route route = load_route<S>(i);
  const std::uint64_t bytes = static_cast<std::uint64_t>(a.send_count) * route.extent;
  if (!leads_to(route, a.comm, a.dest, a.send_tag, a.send_datatype) || a.send_count < 0 ||
      is_local(a.send_buffer))
    return Begun::nothing;
  const bool receives = F != Function::Sendrecv ||
                        (receives_behind(a) && static_cast<std::uint32_t>(a.source) < route.size);
  if (bytes > eager_bytes) {
    if (F == Function::Isend || route.next >= route.free_until || !receives)
      return Begun::nothing;
    const LongRoute by{i, route.context, a.comm, route.order, route.next, route.out};
    if constexpr (F == Function::Sendrecv)
      return exchange_by_route<S>(
          by, a.send_tag, a.send_buffer, bytes, a.source, a.recv_tag, a.recv_buffer,
          std::uint64_t(static_cast<std::uint32_t>(a.recv_count)) * route.extent, wants_status(a));
    return send_long_by_route<S>(by, a.send_tag, a.send_buffer, bytes);
  }
  return bytes > far_packets_bytes && route.near == 0 && receives
             ? send_apart<F, S>(i, route, a.send_tag, a.send_buffer, bytes)
             : Begun::nothing;
}

/// Goes on with a call that has come as far as `begun`: nothing, left (as begin_wide() says), found
/// or sent; as far as it comes quickly. The block's first warp, whole; in a call of grid scope,
/// that of the block that makes it.
template <Function F, Scope S> GMPI_DEVICE Begun go_on_quickly(const Arguments &a, Begun begun) {
  constexpr bool sends = F == Function::Send || F == Function::Isend || F == Function::Sendrecv;
  constexpr bool receives = F == Function::Recv || F == Function::Sendrecv;
  constexpr bool posts = F == Function::Irecv;
  if (sends && begun == Begun::nothing) {
    begun = send_by_route<F, S>(a);
    if (begun != Begun::nothing)
      return begun;
  }
  if (begun == Begun::left)
    begun = Begun::nothing;
  Comm *comm = find_comm(a.comm);
  if (comm == nullptr)
    return Begun::elsewhere;
  const bool is_found = receives && begun == Begun::found; // so its arguments are right
  const Buffers buffers = is_found ? found_by(a) : buffers_of(F, a, message_bytes);
  if (!is_found && !takes<F>(*comm, a, buffers))
    return Begun::elsewhere;
  State &state = *context.peer;
  Share &share = block_state().peer;
  if constexpr (!(sends || receives || posts))
    return Begun::nothing;
  const bool want_status = wants_status(a);
  if ((receives || posts) && !is_found && a.source >= 0) {
    __syncwarp(); // all have looked whether it is remembered
    if (thread_index() == 0)
      remember_source(state, *comm, a.source, a.recv_datatype, // for the next call
                      S == Scope::grid && grid_blocks() > 1 ? block_state().launch : nullptr);
  }
  if constexpr (posts)
    return post_quickly<S>(state, *comm, a, buffers, share);
  if (F == Function::Sendrecv && begun != Begun::nothing)
    return receive_after_send<S>(state, *comm, a, buffers, want_status, begun, share);
  if (sends && buffers.in_bytes > eager_bytes) {
    if (F == Function::Sendrecv && (a.dest == MPI_PROC_NULL || a.source == MPI_PROC_NULL))
      return Begun::nothing;
    if constexpr (F != Function::Isend && S == Scope::grid)
      if ((F == Function::Send || a.source != MPI_ANY_SOURCE) &&
          send_wide(*comm, a.dest, a.send_tag, buffers.in, a.send_count, buffers.in_bytes,
                    a.send_datatype,
                    F == Function::Send ? Begun::over : Begun::sent) == Begun::sharing)
        return Begun::sharing;
    if constexpr (F == Function::Send)
      return send_long<S>(state, *comm, a.dest, a.send_tag, buffers.in, buffers.in_bytes,
                          a.send_datatype, share);
    if constexpr (F == Function::Sendrecv)
      return begin_exchange<S>(state, *comm, a.dest, a.send_tag, buffers.in, buffers.in_bytes,
                               a.send_datatype, a.source, a.recv_tag, buffers.out,
                               buffers.out_bytes, want_status, share);
    MPI_Request request{};
    if (!announce_at_once<S>(state, *comm, a.dest, a.send_tag, buffers.in, buffers.in_bytes,
                             request)) {
      const Begun begun =
          announce_quickly(state, *comm, a.dest, a.send_tag, buffers.in, buffers.in_bytes, share);
      if (is_local(buffers.in))
        return begun;
      if (thread_index() == 0)
        request = request_for(share.request);
    }
    return answer_with_request<S>(request, share);
  }
  if (receives && !has_room(buffers.out, buffers.out_bytes, warp_bytes))
    return Begun::nothing;
  if (receives && a.source == MPI_ANY_SOURCE)
    return Begun::nothing;
  if constexpr (F == Function::Sendrecv) {
    if (a.dest == MPI_PROC_NULL || a.source == MPI_PROC_NULL)
      return Begun::nothing;
    begun = send_quickly<S>(state, *comm, a.dest, a.send_tag, buffers.in, buffers.in_bytes,
                            a.send_datatype, true, false, share);
    if (begun == Begun::over)
      begun = receive_after_send<S>(state, *comm, a, buffers, want_status, Begun::nothing, share);
    return begun;
  } else if constexpr (receives)
    return receive_quickly<S>(state, *comm, a.source, a.recv_tag, buffers.out, buffers.out_bytes,
                              want_status, begun, share);
  else {
    return_nothing<F, S>(share, false);
    begun = send_quickly<S>(state, *comm, a.dest, a.send_tag, buffers.in, buffers.in_bytes,
                            a.send_datatype, F == Function::Isend, true, share);
    return begun == Begun::over && F == Function::Isend ? Begun::answered : begun;
  }
}

/// Whether a call begins with send_short(), and with receive_short().
template <Function F>
constexpr bool sends_short = F == Function::Send || F == Function::Isend || F == Function::Sendrecv;
template <Function F>
constexpr bool receives_short = F == Function::Recv || F == Function::Sendrecv;

/// Whether such a call may begin with send_wide_by(), by the route that its last message has taken.
template <Function F> constexpr bool sends_wide = F == Function::Send || F == Function::Sendrecv;
/// Begins it so, if it can; else nothing has happened, and it goes on from nothing, or left.
template <Function F> GMPI_DEVICE Begun begin_wide(const Arguments &a) {
  constexpr bool exchanges = F == Function::Sendrecv;
  const std::uint32_t i = static_cast<std::uint32_t>(a.dest) % Routes::most;
  if (exchanges && !receives_behind(a))
    return Begun::nothing;
  return send_wide_by(i, a.comm, a.dest, a.send_tag, a.send_buffer, a.send_count, a.send_datatype,
                      exchanges ? a.source : 0, exchanges ? Begun::sent : Begun::over);
}

/// Whether such a call may come as far as Begun::sharing.
template <Function F>
constexpr bool carries_wide = F == Function::Send || F == Function::Recv || F == Function::Sendrecv;

/// Whether such a call may come as far as Begun::storing.
template <Function F>
constexpr bool stores_quickly = F == Function::Send || F == Function::Sendrecv;

/// Begins a call that sends with what its block's first warp, whole, can do of it without much ado.
/// Returns how far it has come. `early`: as the other send_short() has it.
template <Function F, Scope S, bool own>
GMPI_DEVICE Begun send_short(const Arguments &a, const EarlyRoute<S> *early = nullptr) {
  constexpr Begun then = F == Function::Send    ? Begun::over
                         : F == Function::Isend ? Begun::answered
                                                : Begun::sent;
  if (F == Function::Isend) // for this block: the others are told with the end of the call
    return_nothing<F, Scope::block>(block_state().peer, false);
  if (F == Function::Sendrecv && !receives_behind(a))
    return Begun::nothing;
  return send_short<S, own>(a.comm, a.dest, a.send_tag, a.send_buffer, a.send_count,
                            a.send_datatype, F == Function::Sendrecv ? a.source : 0, then, early);
}

/// Receives the same way. `begun`: nothing, or sent; so it stays where nothing has happened.
/// Returns longer where that is left to the one with `in_rows`.
template <Function F, Scope S, bool own, bool in_rows>
GMPI_DEVICE Begun receive_short(const Arguments &a, Begun begun) {
  if (!own && !in_rows && receives_in_rows(a.source, a.recv_buffer, a.recv_count))
    return Begun::longer;
  Begun now = receive_short<S, own, in_rows>(a.comm, a.source, a.recv_tag, a.recv_buffer,
                                             a.recv_count, a.recv_datatype, wants_status(a));
  if (F != Function::Recv && now == Begun::offered)
    now = Begun::found;
  return now == Begun::nothing ? begun : now;
}

/// Has all of the block's threads, in whose number none is missing, carry the last step of a call.
/// Returns over, or answered.
template <Scope S> GMPI_DEVICE Begun carry_last_step() {
  const Share &share = block_state().peer;
  const Transfer &t = share.step.transfer;
  const std::uint32_t rank = thread_index(), size = block_threads();
  const bool reads = share.step.kind == Step::read, answers = share.answers;
  const unsigned long long high = share.step.high;
  const bool in_portions = is_in_portions(t.header);
  if (in_portions)
    carry_portions(BlockTeam{rank == 0}, share.step, 0, high, rank, size);
  else if (reads)
    read_packets(t, 0, high, rank, size);
  else if (!is_local(t.data))
    write_packets(t, 0, high, rank, size);
  else if (rank == 0) // its own
    write_share(t, 0, high, 0, 1);
  __syncthreads();
  if (rank == 0) {
    prepare_end<S>();
    tell_end_of_call<S>();
  }
  if (reads && !in_portions)
    free_share(t.freed, t.first, t.first + high, rank, size);
  return answers ? Begun::answered : Begun::over;
}

/// Has the first warp `receive()` what an MPI_Sendrecv receives, whose other message is on its way,
/// and all of the block carry what is left to them. Returns how far the call has come.
template <Scope S, class Receive> GMPI_DEVICE Begun receive_together(Receive receive) {
  const Begun begun = tell_all(thread_index() < 32 ? go_on_long<S>(receive()) : Begun::over);
  return begun == Begun::carrying   ? carry_last_step<S>()
         : begun == Begun::bundling ? read_span<S, true>()
         : begun == Begun::sharing  ? carry_with_grid()
                                    : begun;
}

/// MPI_Sendrecv's, whose message is yet to be written. Returns how far the call has come.
template <Scope S> GMPI_DEVICE Begun write_and_receive(const Arguments &a) {
  constexpr Function F = Function::Sendrecv;
  Share &share = block_state().peer;
  write_begun(share.step);
  return receive_together<S>([&] {
    return receive_after_send<S>(*context.peer, *find_comm(a.comm), a,
                                 buffers_of(F, a, message_bytes), wants_status(a), Begun::nothing,
                                 share);
  });
}

/// All of a block, or grid, store the long message that the first warp has found a place for.
/// Returns how far the call has come.
template <Function F, Scope S> GMPI_DEVICE Begun store_quickly(const Arguments &a) {
  constexpr bool last = F == Function::Send;
  store_message<S, last>();
  if (last)
    return Begun::over;
  return receive_together<S>([&] {
    Share &share = block_state().peer;
    State &state = *context.peer;
    const Buffers buffers = buffers_of(F, a, message_bytes);
    const bool want_status = wants_status(a);
    return share.long_call.receiving != nothing
               ? end_exchange(a.source, buffers.out_bytes, want_status, share)
               : receive_after_send<S>(state, *find_comm(a.comm), a, buffers, want_status,
                                       Begun::nothing, share);
  });
}

} // namespace gmpi::device::peer
