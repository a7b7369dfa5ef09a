// Long messages among the calls that a grid's blocks have left: those that are announced, and
// stored once the other rank has said where.
//
// Invariant: as of all long messages (quick_long_device.hpp), but that a lane of the first warp
// sees to each. Their records are there before anything is announced. While one MPI_Waitall makes
// them nobody else knows of them: a send is not active, and a receive that has got its message is
// not among those that are posted, before the general way is to go on with them.
#pragma once

#include "../quick/quick_device.hpp"

namespace gmpi::device::peer {

using gmpi::peer::LeftCall;
using gmpi::peer::Series;

/// Whether its message is announced, or may be.
GMPI_DEVICE bool is_long(const LeftCall &call) { return call.bytes > eager_bytes; }
/// Whether any is. A warp, whole.
GMPI_DEVICE bool has_long(const Series &series) {
  const std::uint32_t lane = lane_index();
  return __any_sync(whole_warp, lane < series.count() && is_long(series.call[lane])) != 0;
}

// --- sending ---

/// What announces a message whose place in a channel is known.
GMPI_DEVICE Transfer announcement_of(const LeftCall &call) {
  return announcement(call.context, call.slot, call.serial & 0xffff, call.tag, call.data,
                      call.bytes, call.first, call.sent.after);
}
/// The record of its request. (A request that is ready has had the same serial before: what has
/// answered it then is cleared.)
GMPI_DEVICE void describe_announced(State &state, const LeftCall &call) {
  GMPI_UNROLL
  for (std::uint32_t p = 0; p < ack_packets; ++p)
    store_packet(ack_at(state.acks, call.slot) + p * packet_words, 0, 0);
  describe_send(state, *call.comm, call.peer, call.slot, announcement_of(call));
  note_state(state.requests[call.slot], RequestState::awaiting_match);
}
/// Announces it: its record is there for whoever answers. One thread.
GMPI_DEVICE void announce_left(const LeftCall &call) {
  store_header_alone(call.ring, call.first, announcement_of(call).header);
}

// --- receiving ---

/// Where a receive's data can be stored.
struct OwnOffer {
  Match match{};
  unsigned long long offset = 0;

  /// False where the host is to be asked for one.
  GMPI_DEVICE bool find(const State &state, const LeftCall &call) {
    match = find_offer(state, static_cast<const unsigned char *>(call.data), call.bytes, offset);
    return match.number != 0;
  }
};

/// The record of a receive that may get an announced message.
GMPI_DEVICE void describe_long_receive(State &state, const LeftCall &call, const OwnOffer &its) {
  begin_receiving(state, call.slot, call.serial & 0xffff, *call.comm, call.rank, call.tag,
                  call.data, call.bytes);
  Request &request = state.requests[call.slot];
  request.offer = its.match;
  request.offset = its.offset;
}

// --- both, until all is over ---

/// Those that are under way; bits by place, the same in all lanes of the warp.
struct LongOnes {
  unsigned announced; ///< sends that have not been stored
  unsigned answered;  ///< of these: what says where they can be
  unsigned landing;   ///< receives whose data has not come
  unsigned since;     ///< turns since another one has been answered

  GMPI_DEVICE explicit LongOnes(const Series &series)
      : announced(series.announced), answered(series.answered), landing(series.landing), since(0) {}
  GMPI_DEVICE void keep(Series &series) const {
    series.announced = announced;
    series.answered = answered;
    series.landing = landing;
  }
  GMPI_DEVICE bool any() const { return (announced | landing) != 0; }

  /// Looks what has come. False where a message cannot be stored.
  GMPI_DEVICE bool look(const State &state, LeftCall &call) {
    const unsigned mine = 1u << lane_index();
    const bool asks = (announced & ~answered & mine) != 0, lands = (landing & mine) != 0;
    const std::uint64_t *from = asks    ? ack_at(state.acks, call.slot)
                                : lands ? landed_at(state.acks, call.slot)
                                        : words_of(state.summary);
    const std::uint32_t lap = lap_of_serial(call.serial);
    const Packet seen = Packet::load(from);
    const bool shows = (asks || lands) && seen.shows(lap);
    bool other = false, storable = false;
    if (asks && shows) {
      const Match match = unpack_match(seen.data());
      const Packet offset = Packet::load(from + packet_words);
      const Packet mapped = Packet::load(state.mapped[call.peer][match.place]);
      other = match.number == 0 || !mapped.shows(match.number);
      storable = !other && offset.shows(lap);
      if (storable)
        call.stored = {reinterpret_cast<unsigned char *>(mapped.data()) + offset.data(),
                       landed_at(state.peer_acks[call.peer], match.request),
                       lap_of_serial(match.serial)};
    }
    landing &= ~__ballot_sync(whole_warp, lands && shows);
    const unsigned now = __ballot_sync(whole_warp, storable);
    since = now != 0 ? 0 : since + 1;
    answered |= now;
    return !__any_sync(whole_warp, other);
  }

  /// Whether one whose data has not come has to come through the channel: nobody knows where it
  /// could be stored.
  GMPI_DEVICE bool has_unstorable(const State &state, const LeftCall &call) const {
    const bool lands = (landing >> lane_index() & 1) != 0;
    return __any_sync(whole_warp, lands && state.requests[call.slot].offer.number == 0) != 0;
  }

  /// Whether those that can be are to be stored now: all, or the others' answers are not near.
  GMPI_DEVICE bool are_to_be_stored() const {
    constexpr unsigned patient = 4; // turns
    return answered != 0 && (answered == announced || since >= patient);
  }
  /// Leaves them to all blocks: block.copies.
  GMPI_DEVICE void leave_to_all(const LeftCall &call, Series &series) {
    Copies &copies = block_state().copies;
    const std::uint32_t lane = lane_index();
    const int before = __popc(answered & ((1u << lane) - 1));
    const bool stores = (answered >> lane & 1) != 0 && before < int(Copies::most);
    const unsigned those = __ballot_sync(whole_warp, stores);
    if (stores)
      copies.copy[before] = {call.stored.to, call.data, call.bytes, call.slot, false, false};
    if (lane == 0) {
      copies.count = static_cast<std::uint32_t>(__popc(those));
      series.storing = those;
    }
    __syncwarp();
  }
};

/// None of those that are sent, `announced`, has been answered. The first warp.
GMPI_DEVICE void begin_long_ones(Series &series, unsigned announced) {
  if (lane_index() == 0) {
    series.announced = announced;
    series.answered = series.storing = series.landing = 0;
    series.pending = series.tries = series.freed = 0;
    series.refills = false;
    series.wide = false;
  }
  __syncwarp();
}

/// All blocks have stored those of series.storing: who waits for them is told. The first warp.
GMPI_DEVICE void tell_stored(State &state, Series &series) {
  const std::uint32_t lane = lane_index();
  const unsigned storing = series.storing;
  if (storing == 0)
    return;
  if ((storing >> lane & 1) != 0) {
    const LeftCall &call = series.call[lane];
    release_system(); // what all have stored is there before that
    store_packet(call.stored.landed, 0, call.stored.lap);
    note_state(state.requests[call.slot], RequestState::done);
  }
  __syncwarp();
  if (lane == 0) {
    series.announced &= ~storing;
    series.answered &= ~storing;
    series.storing = 0;
    increase_relaxed_device(&state.stored, __popc(storing));
  }
  __syncwarp();
}

/// A receive's lane takes an announced message, and answers.
GMPI_DEVICE void take_announced_left(State &state, const LeftCall &call, std::uint32_t channel,
                                     const Header &header) {
  Request &request = state.requests[call.slot];
  give_announced(state, call.slot, header, channel, match_of(request, call.slot, header),
                 request.offset);
}

/// All have been received. The first warp.
GMPI_DEVICE void end_landed(State &state, const Series &series) {
  const std::uint32_t lane = lane_index();
  const LeftCall &call = series.call[lane];
  if (lane < series.count() && !call.sends && call.announced)
    note_state(state.requests[call.slot], RequestState::done);
}

/// The general way is to go on with those that are under way: the receives, before the channels are
/// given back.
GMPI_DEVICE void leave_landing(State &state, const LongOnes &ones) {
  if (lane_index() == 0 && ones.landing != 0)
    atomicAdd(&state.summary.posted, static_cast<std::uint32_t>(__popc(ones.landing)));
  release_device(); // whoever finds the data comes after
}

} // namespace gmpi::device::peer
