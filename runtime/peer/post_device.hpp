// MPI_Irecv by a block's first warp, whole: the receive is posted or, where its message is there
// already, is one for all of the block to read, and nobody else has asked for it, takes that at
// once: its request is done then.
//
// Invariant: what has been posted before gets what it wants first, and what has been kept is given
// first. So a message that is there is taken only where nothing is kept, and no posted receive may
// want it.
#pragma once

#include "quick_long_device.hpp"
#include "short_device.hpp"

namespace gmpi::device::peer {

/// Whom a call receives from, if the block remembers it.
GMPI_DEVICE Source &source_of(const Arguments &a) {
  return block_state().sources[static_cast<std::uint32_t>(a.source) % Source::most];
}

/// What it has room for.
GMPI_DEVICE unsigned long long room_in(const Source &known, const Arguments &a) {
  return static_cast<std::uint64_t>(a.recv_count) * known.extent;
}

/// A block's MPI_Irecv looks whether its message is there, if that may be one which takes all of the
/// block some time to read: others are read together by those who wait. An announced message is
/// nothing to be taken; and of a grid's it takes longer to look than that saves.
template <Scope S> GMPI_DEVICE bool is_looked_for(unsigned long long room) {
  return S == Scope::block && room > 16384 && room <= eager_bytes;
}

/// What a nonblocking call returns; one thread says so.
GMPI_DEVICE void note_new_request(MPI_Request request, Share &share) {
  share.result = CallResult{};
  share.result.request = request;
}

/// A nonblocking call is over whose `request` lane 0 knows.
template <Scope S> GMPI_DEVICE Begun answer_with_request(MPI_Request request, Share &share) {
  if (thread_index() == 0) {
    note_new_request(request, share);
    end_with_request<S>(request);
  }
  __syncwarp();
  return Begun::answered;
}

/// Posts a receive at once, into memory of all of the block, where a request slot is at hand; the
/// warp, whole. Else it returns false, and nothing has happened. `request` is lane 0's.
template <Scope S>
GMPI_DEVICE bool post_as_warp(State &state, const Comm &comm, int source, const Wanted &wanted,
                              void *data, unsigned long long room, MPI_Request &request) {
  if (is_shared(data)) // nobody else could read what has been kept for it
    return false;
  Match offer{};
  unsigned long long offset = 0;
  if (room > eager_bytes) {
    offer = find_offer_as_warp(state, data, room, offset);
    if (offer.number == 0) // the host is to be asked for one
      return false;
  }
  bool posted = false;
  if (thread_index() == 0) {
    SlotReserve &reserve = reserve_of<S>();
    const Summary seen = look(state); // under way with what follows
    NewSlot slot;
    if (take_slot_at_once(context, reserve, slot)) {
      describe_post(state, comm, source, wanted, data, room, offer, offset, slot);
      posted = seen.kept == 0;
      if (posted)
        post_into_ring(state, slot.slot);
      else // its message may be there, for all of the block to copy
        return_slot(context, reserve, slot);
      request = encode_request({slot.slot, peer_device, slot.serial});
    }
  }
  return __any_sync(whole_warp, posted) != 0;
}

/// What comes next from a rank that the block remembers, as far as it is there: the lanes' packets
/// and the header.
struct Next {
  unsigned long long word; ///< as far as the block has come
  Position at;
  Packet packet;
  bool arrived, by_owned;      ///< all of the header is there
  std::uint64_t first, second; ///< of that

  GMPI_DEVICE Next(const State &state, Source &known)
      : word(known.word), at{common_of(known.word), known.owned}, packet{}, arrived(false),
        by_owned(false), first(0), second(0) {
    constexpr unsigned headers = (1u << header_packets) - 1;
    const std::uint32_t lane = lane_index();
    const unsigned long long now = load_relaxed_device(&state.receiving[known.peer].next);
    const Packet owned = Packet::load(packet_at(known.in[1], at.owned, lane));
    packet = Packet::load(packet_at(known.in[0], at.common, lane));
    if (of_lane(now, 0) != word) { // somebody else has received from that rank
      __syncwarp();
      if (lane == 0 && (now & locked) == 0)
        renew_source(state, known, now);
      __syncwarp();
      return;
    }
    const unsigned in_owned = __ballot_sync(whole_warp, owned.shows(lap_of(at.owned)));
    const unsigned in_common = __ballot_sync(whole_warp, packet.shows(lap_of(at.common)));
    by_owned = (in_owned & headers) == headers &&
               at.allows(max_peers, of_lane(owned.data(), header_packets - 1));
    arrived = by_owned || ((in_common & headers) == headers &&
                           at.allows(0, of_lane(packet.data(), header_packets - 1)));
    if (by_owned)
      packet = owned;
    first = of_lane(packet.data(), 0);
    second = of_lane(packet.data(), 1);
  }
  GMPI_DEVICE Header header() const { return unpack_header(first, second, 0); }
  GMPI_DEVICE unsigned long long slot() const { return by_owned ? at.owned : at.common; }
};

/// Whether a posted receive may want such a message. Needs no lock.
GMPI_DEVICE bool may_be_wanted(const State &state, const Header &header) {
  const std::uint32_t list = list_of(header.context, header.tag);
  return load_relaxed_device(&state.posts.first) != load_relaxed_device(&state.posts.next) ||
         load_relaxed_device(&state.posted[list].first) != nothing ||
         load_relaxed_device(&state.posted_any_tag.first) != nothing;
}

/// Takes what comes next from a rank that the block remembers: an eager message of whole words,
/// into `data`, for a receive that is `wanted` so. Returns answered; or that all of the block are
/// to read the data; or nothing, and then nothing has happened.
template <Scope S>
GMPI_DEVICE Begun take_next(State &state, Source &known, const Next &next, const Wanted &wanted,
                            void *data, unsigned long long room, Share &share) {
  const std::uint32_t lane = lane_index();
  const auto bytes = static_cast<std::uint32_t>(next.second);
  const bool by_warp = bytes <= warp_bytes;
  unsigned long long before = locked;
  if (lane == 0)
    before = cas_relaxed_device(&state.receiving[known.peer].next, next.word, next.word | locked);
  const Summary summary = look(state);
  bool takes = false;
  NewSlot taken{};
  if (lane == 0 && before == next.word) {
    takes = summary.kept == 0 && take_slot_at_once(context, reserve_of<S>(), taken);
    if (!takes)
      let_channels_go(state, known.peer, next.at);
  }
  if (!__any_sync(whole_warp, takes))
    return Begun::nothing;
  const unsigned long long slot = next.slot();
  std::uint64_t *const ring = known.in[next.by_owned ? 1 : 0];
  if (by_warp && lane >= header_packets && (lane - header_packets) * packet_bytes < bytes)
    store_words(data, bytes, lane,
                next.packet.shows(lap_of(slot))
                    ? next.packet.data()
                    : await_packet(packet_at(ring, slot, lane), lap_of(slot)));
  __syncwarp();
  if (lane == 0) {
    const std::uint32_t index = taken.slot, serial = taken.serial;
    begin_receiving(state, state.acks, index, serial & 0xffff, *known.its, known.source, wanted,
                    data, room);
    Request &request = state.requests[index];
    request.header = next.header();
    note_state(request, RequestState::done);
    note_new_request(encode_request({index, peer_device, serial}), share);
    end_taking<S>(known, next.at, next.by_owned, by_warp, data, bytes, request.header.dense,
                  Begun::answered);
  }
  __syncwarp();
  return by_warp ? Begun::answered : way_of_span(next.header().dense);
}

/// So often it looks where the one before has found its message: this one's may come at once, and a
/// receive that is not posted takes half as long.
constexpr std::uint32_t looks_ahead = 4;

/// Receives from a rank that the block remembers; else it does nothing. `may_match`: where what
/// comes next is to be given to who has asked for it first, it returns found, and nothing has
/// happened.
template <Scope S> GMPI_DEVICE Begun post_short(const Arguments &a, bool may_match) {
  Source &known = source_of(a);
  State &state = *context.peer;
  Share &share = block_state().peer;
  if (!is_source(known, a.comm, a.source, a.recv_datatype) || a.recv_count < 0 ||
      (a.recv_tag < 0 && a.recv_tag != MPI_ANY_TAG) || is_local(a.recv_buffer))
    return Begun::nothing;
  const unsigned long long room = room_in(known, a);
  const Wanted wanted{known.context, known.peer, a.recv_tag};
  if (known.near != 0 && is_looked_for<S>(room)) {
    const Summary summary = look(state);
    const std::uint32_t looks = known.ahead != 0 ? looks_ahead : 1;
    Next next(state, known);
    GMPI_NO_UNROLL
    for (std::uint32_t i = 1; i < looks && !next.arrived; ++i)
      next = Next(state, known);
    if (lane_index() == 0)
      known.ahead = next.arrived;
    const Header header = next.header();
    const bool takes = next.arrived && wanted.is(header, known.peer) &&
                       header.kind == MessageKind::eager && header.bytes <= room &&
                       is_in_words(a.recv_buffer, header.bytes) &&
                       (!header.dense || is_in_eights(a.recv_buffer)) &&
                       !__any_sync(whole_warp, summary.kept != 0);
    const bool gives = next.arrived && may_match && has_data(header);
    if (takes || gives) {
      const bool is_wanted =
          __any_sync(whole_warp, summary.posted != 0 && may_be_wanted(state, header)) != 0;
      if (is_wanted && gives)
        return Begun::found;
      if (takes && !is_wanted)
        return take_next<S>(state, known, next, wanted, a.recv_buffer, room, share);
    }
  }
  MPI_Request request{};
  return post_as_warp<S>(state, *known.its, a.source, wanted, a.recv_buffer, room, request)
             ? answer_with_request<S>(request, share)
             : Begun::nothing;
}

/// Gives what has arrived from a rank, which the block remembers, to those who have asked for it,
/// up to the first message that is long, or that nobody has asked for. A warp, whole.
GMPI_OUT_OF_LINE void match_from(Source &known) {
  State &state = *context.peer;
  Matcher matcher(state);
  if (known.peer >= Matcher::most_peers || !matcher.take_hold())
    return;
  matcher.take_messages_from(1u << known.peer, true);
  matcher.let_go();
  if (lane_index() == 0) {
    const unsigned long long word = load_relaxed_device(&state.receiving[known.peer].next);
    if ((word & locked) == 0)
      renew_source(state, known, word);
  }
  __syncwarp();
}

} // namespace gmpi::device::peer
