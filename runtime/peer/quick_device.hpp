// The quick way of short calls: the first warp of a block, whole, decides and does all there is to
// do, between the barrier at which the block's threads meet and the one behind which the call is
// over. What takes longer is left to the general way, and so is what others of this rank have a say
// in.
//
// Invariant: where a call is over, or belongs to the proxy, nothing of it is left; otherwise
// the block's begun and what it stands for say how far it has come.
//
// In a call of grid scope the warp also tells the other blocks, as early as they can go on: once a
// send's data has been read, or what has been received is there for them, but before its slots have
// been given back.
#pragma once

#include "quick_long_device.hpp"

namespace gmpi::device::peer {

/// As much as a warp carries with a packet in each lane, and with some in each.
constexpr unsigned long long warp_bytes = (32 - header_packets) * packet_bytes;
constexpr std::uint32_t lane_packets = 5;
constexpr unsigned long long quick_bytes = (32 * lane_packets - header_packets) * packet_bytes;
static_assert(slots_for(quick_bytes) <= 2, "receive_quickly() gives back two slots at most");

/// This lane's eight of `bytes` bytes at `data`, which lanes from `headers` on carry.
GMPI_DEVICE std::uint64_t load_lane(const void *data, unsigned long long bytes, std::uint32_t lane,
                                    std::uint32_t headers) {
  auto *from = static_cast<const unsigned char *>(data);
  if (!is_local(data)) {
    unsigned long long at = (lane - headers) * packet_bytes;
    return lane >= headers && at < bytes ? load_data(from + at, bytes - at) : 0;
  }
  std::uint64_t value = 0; // the leader's own
  GMPI_NO_UNROLL
  for (std::uint32_t at = 0; at < bytes; at += packet_bytes) {
    std::uint64_t its = lane == 0 ? load_data(from + at, bytes - at) : 0;
    its = __shfl_sync(whole_warp, its, 0);
    if (lane == headers + at / packet_bytes)
      value = its;
  }
  return value;
}

/// Stores what lanes from `headers` on have received, `bytes` in all. What goes to every thread's
/// own memory is left in the block's, and in the launch's for the other blocks.
template <Scope S>
GMPI_DEVICE void store_lane(void *data, unsigned long long bytes, std::uint32_t lane,
                            std::uint32_t headers, std::uint64_t value) {
  BlockState &block = block_state();
  unsigned long long at = (lane - headers) * packet_bytes;
  bool stores = lane >= headers && at < bytes;
  if (!is_local(data)) {
    if (stores)
      store_data(static_cast<unsigned char *>(data) + at, bytes - at, value);
    return;
  }
  if (stores)
    store_data(block.small + at, bytes - at, value);
  if constexpr (S == Scope::grid) {
    if (stores)
      store_data(block.launch->broadcast + at, bytes - at, value);
    if (lane == 0)
      block.launch->task = {bytes, 0, 0, GridTask::copy};
  }
}

/// Whether it has room for what goes to every thread's own memory.
GMPI_DEVICE bool has_room(const void *to, unsigned long long bytes) {
  return !is_local(to) || bytes <= reply_data_bytes;
}

/// The eight bytes that packet `packet` of a message carries, of `bytes` in all: whole words of
/// four bytes at an address for such. Nothing for a packet of the header, or behind the end.
GMPI_DEVICE std::uint64_t load_words(const void *data, std::uint32_t bytes, std::uint32_t packet) {
  const std::uint32_t at = (packet - header_packets) * packet_bytes; // a header's: beyond any end
  auto *from = reinterpret_cast<const std::uint32_t *>(static_cast<const char *>(data) + at);
  const std::uint32_t low = at < bytes ? from[0] : 0;
  const std::uint32_t high = at < bytes && at + 4 < bytes ? from[1] : 0;
  return low | std::uint64_t(high) << 32;
}
/// Stores the same.
GMPI_DEVICE void store_words(void *data, std::uint32_t bytes, std::uint32_t packet,
                             std::uint64_t value) {
  const std::uint32_t at = (packet - header_packets) * packet_bytes;
  auto *to = reinterpret_cast<std::uint32_t *>(static_cast<char *>(data) + at);
  if (at < bytes)
    to[0] = static_cast<std::uint32_t>(value);
  if (at < bytes && at + 4 < bytes)
    to[1] = static_cast<std::uint32_t>(value >> 32);
}

/// Writes what a message of more than warp_bytes has beyond the first packet of each lane. Its
/// slots follow each other from `first` on.
GMPI_DEVICE void write_more(std::uint64_t *ring, unsigned long long first, const void *data,
                            std::uint32_t bytes, std::uint32_t lane) {
  const auto end = static_cast<std::uint32_t>(packets_for(bytes));
  std::uint64_t values[lane_packets];
  GMPI_UNROLL
  for (std::uint32_t i = 1; i < lane_packets; ++i)
    values[i] = load_words(data, bytes, lane + 32 * i);
  GMPI_UNROLL
  for (std::uint32_t i = 1; i < lane_packets; ++i)
    if (lane + 32 * i < end)
      store_packet(packet_at(ring, first, lane + 32 * i), values[i],
                   lap_of(first + (lane + 32 * i) / slot_packets));
}
/// Reads the same.
GMPI_DEVICE void read_more(std::uint64_t *ring, unsigned long long first, void *data,
                           std::uint32_t bytes, std::uint32_t lane) {
  const auto end = static_cast<std::uint32_t>(packets_for(bytes));
  Packet packets[lane_packets];
  GMPI_UNROLL
  for (std::uint32_t i = 1; i < lane_packets; ++i)
    if (lane + 32 * i < end)
      packets[i] = Packet::load(packet_at(ring, first, lane + 32 * i));
  GMPI_UNROLL
  for (std::uint32_t i = 1; i < lane_packets; ++i)
    if (lane + 32 * i < end) {
      const std::uint32_t p = lane + 32 * i, lap = lap_of(first + p / slot_packets);
      store_words(data, bytes, p,
                  packets[i].shows(lap) ? packets[i].data()
                                        : await_packet(packet_at(ring, first, p), lap));
    }
}

/// Sends at most eager_bytes through the route that the last such message has taken: at once, or
/// leaves the writing to the block. Does nothing where it is not known that the message can go by
/// it. `last`: with it the call is over; of a blocking one, a longer message is sent, too.
template <Scope S>
GMPI_DEVICE Begun send_by_route(MPI_Comm comm, int dest, int tag, const void *data, int count,
                                MPI_Datatype datatype, bool nonblocking, bool last) {
  const std::uint32_t i = static_cast<std::uint32_t>(dest) % Routes::most;
  const Route route = load_route<S>(i);
  // (All of it is looked at: each branch would wait for its own.)
  const bool known =
      (route.comm == comm) & (route.datatype == datatype) & (route.dest == dest) &
      (static_cast<std::uint32_t>(tag) <= static_cast<std::uint32_t>(context.tag_upper_bound));
  if (!known || is_local(data))
    return Begun::nothing;
  if (static_cast<std::uint32_t>(count) > route.longest)
    return last && !nonblocking && count > 0 && route.next < route.free_until
               ? send_long_by_route<S>(i, comm, route.context, route.order, route.out, route.next,
                                       tag, data, static_cast<std::uint64_t>(count) * route.extent)
               : Begun::nothing;
  const std::uint32_t bytes = static_cast<std::uint32_t>(count) * route.extent;
  const bool in_words = ((reinterpret_cast<std::uint64_t>(data) | bytes) & 3) == 0;
  const bool short_one = bytes <= quick_bytes && in_words;
  const std::uint32_t slots =
      bytes <= warp_bytes ? 1 : static_cast<std::uint32_t>(slots_for(bytes));
  if (route.next + slots > route.free_until)
    return Begun::nothing;
  State &state = *context.peer;
  BlockState &block = block_state();
  const std::uint32_t lane = thread_index();
  // These need nothing of each other.
  const std::uint64_t after = common_of(load_relaxed_device(route.order));
  const std::uint32_t told = lane == 0 ? load_relaxed_device(&state.summary.told) : 0;
  if (short_one) {
    std::uint64_t value = load_words(data, bytes, lane);
    const std::uint64_t head = static_cast<std::uint32_t>(tag) | std::uint64_t(route.context)
                                                                     << 32; // as pack_header()
    value = lane == 0 ? head : lane == 1 ? bytes : lane == 2 ? after : value;
    if (lane < header_packets + (bytes + packet_bytes - 1) / packet_bytes)
      store_packet(packet_at(route.out, route.next, lane), value, lap_of(route.next));
    if (bytes > warp_bytes)
      write_more(route.out, route.next, data, bytes, lane);
  } else if (lane == 0) {
    block.peer.request = nothing;
    block.peer.waits = false;
    block.peer.answers = nonblocking;
    block.peer.step = {Step::write,
                       false,
                       0,
                       slots,
                       {route.out,
                        nullptr,
                        route.next,
                        static_cast<unsigned char *>(const_cast<void *>(data)),
                        bytes,
                        {MessageKind::eager, route.context, 0, 0, tag, bytes, after}},
                       nullptr};
  }
  __syncwarp(); // the data has been read, and the route
  if (lane == 0) {
    if (short_one && last) {
      prepare_end<S>();
      tell_end_of_call<S>();
    }
    routes_of<S>().route[i].next = route.next + slots;
    increase_relaxed_device(route.order, slots * one_owned);
    count_call(state, bytes);
    if (told != 0)
      tell_progress(state);
  }
  return short_one ? Begun::over : last ? Begun::carrying : Begun::exchanging;
}
static_assert(std::uint32_t(MessageKind::eager) == 0 && header_packets == 3);

/// Sends at most eager_bytes through the common channel: at once, or leaves it to the block.
/// `last`: with it the call is over.
template <Scope S>
GMPI_DEVICE Begun send_quickly(State &state, const Comm &comm, int dest, int tag, const void *data,
                               unsigned long long bytes, MPI_Datatype datatype, bool nonblocking,
                               bool last, Share &share) {
  const std::uint32_t lane = thread_index(), peer = comm.peer_of[dest];
  const bool short_one = bytes <= warp_bytes;
  const std::uint64_t slots = short_one ? 1 : slots_for(bytes);
  Taken taken{};
  if (lane == 0)
    taken = take(state, peer, slots, bytes);
  Header header = header_of(comm, tag, bytes, false);
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
      use_slots(state, comm, peer, header, data, taken, nonblocking, share);
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

/// Receives from a rank that is named: at most quick_bytes at once; a longer message is left to the
/// block.
template <Scope S>
GMPI_DEVICE Begun receive_quickly(State &state, const Comm &comm, int source, int tag, void *data,
                                  unsigned long long room, bool want_status, Share &share) {
  constexpr unsigned headers = (1u << header_packets) - 1;
  const std::uint32_t lane = thread_index(), peer = comm.peer_of[source];
  Position at;
  if (!try_hold_channels(state, peer, at))
    return Begun::nothing;
  const Channel &common = state.channels[peer], &owned = state.channels[owned_channel(peer)];
  const std::uint64_t *from_common = packet_at(common.in, at.common, lane);
  const std::uint64_t *from_owned = packet_at(owned.in, at.owned, lane);
  std::uint32_t *const freed_common = common.in_freed + at.common % channel_slots;
  std::uint32_t *const freed_owned = owned.in_freed + at.owned % channel_slots;
  const std::uint32_t lap_common = lap_of(at.common), lap_owned = lap_of(at.owned);
  const bool simple =
      !want_status && !is_local(data) && (reinterpret_cast<std::uint64_t>(data) & 3) == 0;
  Patience patience;
  Packet packet{};
  Header header{};
  bool by_owned;
  GMPI_NO_UNROLL
  for (unsigned turns = 0;; ++turns) {
    Summary summary{};
    if (lane == 0)
      summary = look(state);
    packet = Packet::load(from_owned);
    const Packet other = Packet::load(from_common);
    // (Its turn it is, says the last packet of its header.)
    by_owned = true;
    unsigned arrived = __ballot_sync(
        whole_warp, packet.shows(lap_owned) & (lane != 2 || at.allows(max_peers, packet.data())));
    if ((arrived & headers) != headers) {
      by_owned = false;
      packet = other;
      arrived = __ballot_sync(whole_warp, packet.shows(lap_common) &
                                              (lane != 2 || at.allows(0, packet.data())));
    }
    bool stop = lane == 0 && (is_contended(summary) || patience.ends(turns));
    if ((arrived & headers) == headers) {
      header = unpack_header(__shfl_sync(whole_warp, packet.data(), 0),
                             __shfl_sync(whole_warp, packet.data(), 1), 0);
      const bool ours = is_for(header, comm, tag);
      if (ours && header.kind == MessageKind::announced && !is_local(data) &&
          !__any_sync(whole_warp, stop)) {
        const std::uint32_t channel = by_owned ? owned_channel(peer) : peer;
        return receive_long<S>(state, comm, source, tag, data, room, channel, at, header,
                               want_status, share);
      }
      stop = stop || !ours || !has_data(header);
      const unsigned wanted =
          header.bytes < warp_bytes
              ? (2u << (header_packets - 1 + (static_cast<unsigned>(header.bytes) + 7) / 8)) - 1
              : whole_warp;
      if (!__any_sync(whole_warp, stop) && (arrived & wanted) == wanted)
        break;
    }
    if (__any_sync(whole_warp, stop)) {
      if (lane == 0)
        let_channels_go(state, peer, at);
      return Begun::nothing;
    }
    if (lane == 0)
      relax();
  }
  const std::uint32_t lap = by_owned ? lap_owned : lap_common;
  const bool fits = header.bytes <= room;
  if (simple && header.kind == MessageKind::eager && fits && header.bytes <= quick_bytes &&
      (header.bytes & 3) == 0) { // what most are
    const auto bytes = static_cast<std::uint32_t>(header.bytes);
    store_words(data, bytes, lane, packet.data());
    if (bytes > warp_bytes)
      read_more(by_owned ? owned.in : common.in, by_owned ? at.owned : at.common, data, bytes,
                lane);
    __syncwarp();
    if (lane == 0) {
      const unsigned long long first = by_owned ? at.owned : at.common;
      const bool two = packets_for(bytes) > slot_packets;
      (by_owned ? at.owned : at.common) += two ? 2 : 1;
      let_channels_go(state, peer, at);
      prepare_end<S>();
      tell_end_of_call<S>();
      store_relaxed_system(by_owned ? freed_owned : freed_common, lap);
      if (two)
        free_share(by_owned ? owned.in_freed : common.in_freed, first + 1, first + 2, 0, 1);
    }
    return Begun::over;
  }
  const bool whole = header.bytes <= warp_bytes, answered = want_status || is_local(data);
  const unsigned long long end = header.bytes < room ? header.bytes : room;
  if (whole)
    store_lane<S>(data, end, lane, header_packets, packet.data());
  __syncwarp();
  if (lane == 0) {
    const std::uint32_t channel = by_owned ? owned_channel(peer) : peer;
    const unsigned long long next = by_owned ? at.owned : at.common;
    take_found(state, channel, at, header);
    if (!(whole && fits) || answered) {
      auto *to = is_local(data) ? block_state().small : static_cast<unsigned char *>(data);
      note_found(state, channel, source, to, room, next, header, whole, share);
      share.answers = answered;
      if (S == Scope::grid && want_status)
        block_state().launch->result = share.result;
    }
    if (whole && fits) {
      prepare_end<S>();
      tell_end_of_call<S>();
    }
    if (whole)
      store_relaxed_system(by_owned ? freed_owned : freed_common, lap);
  }
  return !fits      ? Begun::receiving
         : !whole   ? Begun::carrying
         : answered ? Begun::answered
                    : Begun::over;
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
                                     const Buffers &buffers, bool want_status, Share &share) {
  if (thread_index() == 0)
    share.sending = nothing;
  Begun begun = receive_quickly<S>(state, comm, a.source, a.recv_tag, buffers.out,
                                   buffers.out_bytes, want_status, share);
  if (begun != Begun::nothing)
    return begun;
  if (thread_index() == 0) {
    share.request = nothing;
    share.waits = share.step.check = false;
    share.step.kind = Step::none;
  }
  return Begun::sending; // and sent
}

/// A nonblocking call is over whose `request` lane 0 knows.
template <Scope S> GMPI_DEVICE Begun answer_with_request(MPI_Request request, Share &share) {
  if (thread_index() == 0) {
    share.result = CallResult{};
    share.result.request = request;
    if (S == Scope::grid)
      block_state().launch->result = share.result;
    prepare_end<S>();
    tell_end_of_call<S>();
  }
  __syncwarp();
  return Begun::answered;
}

/// Posts a receive. Leaves a message that has been kept to the block.
template <Scope S>
GMPI_DEVICE Begun post_quickly(State &state, const Comm &comm, const Arguments &a,
                               const Buffers &buffers, Share &share) {
  if (is_local(buffers.out))
    return Begun::nothing;
  Match offer{};
  unsigned long long offset = 0;
  bool tries = true;
  if (buffers.out_bytes > eager_bytes && !is_shared(buffers.out)) {
    offer = find_offer_as_warp(state, buffers.out, buffers.out_bytes, offset);
    tries = offer.number != 0; // else the host is asked for one
  }
  MPI_Request request{};
  if (thread_index() == 0 &&
      !(tries && post_at_once(state, comm, a.source, a.recv_tag, buffers.out, buffers.out_bytes,
                              offer, offset, share, request))) {
    begin_receive(state, comm, a.source, a.recv_tag, buffers.out, buffers.out_bytes, false, false,
                  share);
    request = request_for(share.request);
  }
  __syncwarp();
  return share.place == nothing ? answer_with_request<S>(request, share) : Begun::receiving;
}

/// As far as the call comes quickly. The block's first warp, whole; in a call of grid scope, that
/// of the block that makes it.
template <Function F, Scope S> GMPI_DEVICE Begun try_quickly(const Arguments &a) {
  constexpr bool sends = F == Function::Send || F == Function::Isend || F == Function::Sendrecv;
  constexpr bool receives = F == Function::Recv || F == Function::Sendrecv;
  Comm *comm = find_comm(a.comm);
  if (comm == nullptr)
    return Begun::elsewhere;
  const Buffers buffers = buffers_of(F, a, message_bytes);
  if (!takes<F>(*comm, a, buffers))
    return Begun::elsewhere;
  State &state = *context.peer;
  Share &share = block_state().peer;
  if constexpr (F == Function::Irecv)
    return post_quickly<S>(state, *comm, a, buffers, share);
  if constexpr (!(sends || receives))
    return Begun::nothing;
  const bool want_status = wants_status(a);
  if (sends && buffers.in_bytes > eager_bytes) {
    if (F == Function::Sendrecv && (a.dest == MPI_PROC_NULL || a.source == MPI_PROC_NULL))
      return Begun::nothing;
    if constexpr (F == Function::Send)
      return send_long<S>(state, *comm, a.dest, a.send_tag, buffers.in, buffers.in_bytes,
                          a.send_datatype, share);
    if constexpr (F == Function::Sendrecv)
      return begin_exchange<S>(state, *comm, a.dest, a.send_tag, buffers.in, buffers.in_bytes,
                               a.send_datatype, a.source, a.recv_tag, buffers.out,
                               buffers.out_bytes, share);
    MPI_Request request{};
    if (!announce_at_once(state, *comm, a.dest, a.send_tag, buffers.in, buffers.in_bytes,
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
  if (receives && !has_room(buffers.out, buffers.out_bytes))
    return Begun::nothing;
  if (receives && a.source == MPI_ANY_SOURCE)
    return Begun::nothing;
  if constexpr (F == Function::Sendrecv) {
    if (a.dest == MPI_PROC_NULL || a.source == MPI_PROC_NULL)
      return Begun::nothing;
    Begun begun = send_by_route<S>(a.comm, a.dest, a.send_tag, buffers.in, a.send_count,
                                   a.send_datatype, true, false);
    if (begun == Begun::nothing)
      begun = send_quickly<S>(state, *comm, a.dest, a.send_tag, buffers.in, buffers.in_bytes,
                              a.send_datatype, true, false, share);
    if (begun == Begun::over)
      begun = receive_after_send<S>(state, *comm, a, buffers, want_status, share);
    return begun;
  } else if constexpr (receives)
    return receive_quickly<S>(state, *comm, a.source, a.recv_tag, buffers.out, buffers.out_bytes,
                              want_status, share);
  else {
    return_nothing<F, S>(share, false);
    Begun begun = send_quickly<S>(state, *comm, a.dest, a.send_tag, buffers.in, buffers.in_bytes,
                                  a.send_datatype, F == Function::Isend, true, share);
    return begun == Begun::over && F == Function::Isend ? Begun::answered : begun;
  }
}

/// Whether begin_quickly() has anything to do in such a call.
template <Function F> constexpr bool goes_by_route = F == Function::Send || F == Function::Isend;

/// Whether such a call may come as far as Begun::storing.
template <Function F>
constexpr bool stores_quickly = F == Function::Send || F == Function::Sendrecv;

/// Begins a call with what its block's first warp, whole, can do of it without much ado; the
/// threads have met. Returns how far it has come; where it has not, go_on_quickly() is to follow.
template <Function F, Scope S> GMPI_DEVICE Begun begin_quickly(const Arguments &a) {
  constexpr bool nonblocking = F == Function::Isend;
  Begun begun = Begun::nothing;
  if (!arrives_to_lead<F, S>(a, begun))
    return begun;
  return_nothing<F, S>(block_state().peer, false); // before the other blocks are told
  begun = send_by_route<S>(a.comm, a.dest, a.send_tag, a.send_buffer, a.send_count, a.send_datatype,
                           nonblocking, true);
  return nonblocking && begun == Begun::over ? Begun::answered : begun;
}
template <Function F, Scope S> GMPI_DEVICE Begun go_on_quickly(const Arguments &a) {
  if constexpr (!goes_by_route<F>) {
    Begun begun;
    if (!arrives_to_lead<F, S>(a, begun))
      return begun;
  }
  arrive_alone<S>();
  return try_quickly<F, S>(a);
}

/// Has all of the block's threads, in whose number none is missing, carry the last step of a call.
/// Returns over, or answered.
template <Scope S> GMPI_DEVICE Begun carry_last_step() {
  const Share &share = block_state().peer;
  const Transfer &t = share.step.transfer;
  const std::uint32_t rank = thread_index(), size = block_threads();
  const bool reads = share.step.kind == Step::read, answers = share.answers;
  const unsigned long long high = share.step.high;
  if (reads)
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
  if (reads)
    free_share(t.freed, t.first, t.first + high, rank, size);
  return answers ? Begun::answered : Begun::over;
}

/// Has the first warp `receive()` what an MPI_Sendrecv receives, whose other message is on its way,
/// and all of the block carry what is left to them. Returns how far the call has come.
template <Scope S, class Receive> GMPI_DEVICE Begun receive_together(Receive receive) {
  const Begun begun = tell_all(thread_index() < 32 ? receive() : Begun::over);
  return begun == Begun::carrying ? carry_last_step<S>() : begun;
}

/// MPI_Sendrecv's, whose message is yet to be written. Returns how far the call has come.
template <Scope S> GMPI_DEVICE Begun write_and_receive(const Arguments &a) {
  constexpr Function F = Function::Sendrecv;
  Share &share = block_state().peer;
  const Step &step = share.step;
  if (!is_local(step.transfer.data))
    write_share(step.transfer, 0, step.high, thread_index(), block_threads());
  else if (thread_index() == 0)
    write_share(step.transfer, 0, step.high, 0, 1);
  __syncthreads();
  return receive_together<S>([&] {
    return receive_after_send<S>(*context.peer, *find_comm(a.comm), a,
                                 buffers_of(F, a, message_bytes), wants_status(a), share);
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
               ? end_exchange<S>(state, a.source, buffers.out_bytes, want_status, share)
               : receive_after_send<S>(state, *find_comm(a.comm), a, buffers, want_status, share);
  });
}

} // namespace gmpi::device::peer
