// The quickest way to receive a short message: what most calls do, and nothing else. A block's
// first warp, whole, receives what comes next from a rank that is named and that the block
// remembers (sources_device.hpp): with a packet in each lane, or a few (rows_device.hpp). Of a
// longer message it reads the header, and all of the block carry the rest (span_device.hpp), or all
// of the grid.
//
// Invariant: whatever is unusual is left to others, before anything has happened, or with
// block.peer.arrived. It calls no function: so no registers are saved, and what can be is under way
// together. What only data in each thread's own memory needs is in functions apart (`own`): even a
// branch around it would cost the others.
#pragma once

#include "../channel/rows_device.hpp"
#include "../channel/wide_device.hpp"
#include "../general/taking_device.hpp"
#include "short_send_device.hpp"
#include "sources_device.hpp"

namespace gmpi::device::peer {

/// Stores what load_words_if() loads.
GMPI_DEVICE void store_words(void *data, std::uint32_t bytes, std::uint32_t packet,
                             std::uint64_t value) {
  const std::uint32_t at = (packet - header_packets) * packet_bytes;
  auto *to = reinterpret_cast<std::uint32_t *>(static_cast<char *>(data) + at);
  if (at < bytes)
    to[0] = static_cast<std::uint32_t>(value);
  if (at < bytes && at + 4 < bytes)
    to[1] = static_cast<std::uint32_t>(value >> 32);
}

/// Leaves what has come for each thread's own memory, `bytes` in all, to the threads of the block
/// and, if it `shares` that, to those of the other blocks; this lane has the eight that begin with
/// number `at`. A warp, whole.
GMPI_DEVICE void leave_own(std::uint32_t bytes, std::uint32_t at, std::uint64_t value,
                           bool shares) {
  BlockState &block = block_state();
  if (at < bytes) {
    own_words(block)[at / packet_bytes] = value;
    if (shares)
      reinterpret_cast<std::uint64_t *>(block.launch->broadcast)[at / packet_bytes] = value;
  }
  if (shares && lane_index() == 0)
    block.launch->task = {bytes, 0, 0, GridTask::copy};
}

/// Those of its bits that have to be the same for a receive of that tag.
GMPI_DEVICE std::uint64_t bits_of_head(int tag) {
  return tag == MPI_ANY_TAG ? 0xffffffffull << 32 : ~0ull;
}

/// What the receive of such a message returns. Lane 0.
template <Scope S>
GMPI_DEVICE void note_short(Share &share, int source, int tag, std::uint32_t bytes) {
  share.truncated = false;
  share.result = nothing_received();
  share.result.source = source;
  share.result.tag = tag;
  share.result.bytes = bytes;
  if (S == Scope::grid)
    block_state().launch->result = share.result;
}

/// Where the channels from a rank go on behind a message of one slot or two, the next of one of
/// them; and where the last of these is given back, with which lap.
struct Behind {
  Position at{};
  std::uint32_t *freed;
  std::uint32_t lap;

  GMPI_DEVICE Behind(const Source &known, Position before, bool by_owned, std::uint32_t slots = 1)
      : at(before) {
    unsigned long long &its = by_owned ? at.owned : at.common;
    its += slots;
    freed = known.freed[by_owned ? 1 : 0] + (its - 1) % channel_slots;
    lap = lap_of(its - 1);
  }
};

/// Has all of the block read the next message of a rank that it remembers, whose channels are held,
/// and are at `at`. The call returns `then` when they have. Lane 0.
GMPI_DEVICE void leave_to_all(Source &known, Position at, bool by_owned, void *data,
                              std::uint32_t bytes, bool dense, Begun then) {
  const unsigned long long slot = by_owned ? at.owned : at.common;
  (by_owned ? at.owned : at.common) += slots_for(bytes, dense);
  note_position(known, at);
  note_span(known.in[by_owned ? 1 : 0], known.freed[by_owned ? 1 : 0], slot, data, bytes,
            known.peer, at, then);
}

/// Whoever waits for a message looks so often, in turns, whether others of the rank have a say; and
/// after so many it is time to say what is waited for.
constexpr unsigned look_again = 16, most_turns = look_again << 10;

/// Receives what comes next from a rank that the block remembers, if it is a message of whole words
/// that fits. Else nothing has happened; or the message is found, or offered, and the channels are
/// held. Returns over, or answered; or that all of the block are to carry a span. `own`: into each
/// thread's own memory, of any length that a warp carries. `in_rows`: it looks for what comes
/// in rows, too, with the header; into room for no more than that.
///
/// To take hold of the channels takes one atomic where nobody else has received from that rank
/// since the block has: it succeeds if nothing has been taken meanwhile, so nothing has been kept,
/// and where the channels go on is known. It is under way together with the first look.
///
/// What can be known before the message has come is computed before: how each lane tells that its
/// packet is one of a message to take, and what is to be stored when that has been taken.
template <Scope S, bool own, bool in_rows>
GMPI_DEVICE Begun receive_short(MPI_Comm comm, int source, int tag, void *data, int count,
                                MPI_Datatype datatype, bool want_status) {
  constexpr unsigned headers = (1u << header_packets) - 1;
  BlockState &block = block_state();
  State &state = *context.peer;
  const std::uint32_t lane = lane_index();
  Source &known = block.sources[static_cast<std::uint32_t>(source) % Source::most];
  if (count < 0 || (tag < 0 && tag != MPI_ANY_TAG) || !(own || is_in_words(data, 0)))
    return Begun::nothing;
  if (!is_source(known, comm, source, datatype))
    return Begun::nothing;
  const std::uint64_t room = std::uint64_t(static_cast<std::uint32_t>(count)) * known.extent;
  if (own && room > warp_bytes)
    return Begun::nothing;
  const std::uint32_t peer = known.peer;
  unsigned long long *const word_at = &state.receiving[peer].next;
  Position at{};
  Packet owned, common;
  Packet rows[row_count];
  const std::uint64_t *from_owned, *from_common;
  const auto look_for_packets = [&] {
    if constexpr (in_rows) {
      Rows(known.in[1], at.owned, lane).look(rows);
      owned = rows[0];
    } else {
      owned = Packet::load(from_owned);
    }
    common = Packet::load(from_common);
  };
  GMPI_NO_UNROLL
  for (bool is_second = false;; is_second = true) {
    const unsigned long long word = known.word;
    at = {common_of(word), known.owned};
    unsigned long long before = word;
    if (lane == 0)
      before = cas_relaxed_device(word_at, word, word | locked); // in flight
    const Summary summary = look(state);
    from_owned = packet_at(known.in[1], at.owned, lane);
    from_common = packet_at(known.in[0], at.common, lane);
    look_for_packets();
    before = of_lane(before, 0);
    // Others of the rank may need somebody to go on, or what is held here.
    const bool has_a_say = __any_sync(whole_warp, is_contended(summary));
    if (before == word && !has_a_say)
      break;
    if (before == word && lane == 0)
      let_channels_go(state, peer, at);
    if (before == word || (before & locked) != 0 || is_second)
      return Begun::nothing;
    __syncwarp();
    if (lane == 0) // somebody else has received from that rank
      renew_source(state, known, before);
    __syncwarp();
  }
  const std::uint32_t lap_owned = lap_of(at.owned), lap_common = lap_of(at.common);
  // Whether this lane's packet is one of a message whose turn it is: the third says what is to come
  // before that. (What they count are never 2^31 apart.)
  const bool counts = lane == header_packets - 1;
  const auto is_turn_in_owned = [&](const Packet &packet) {
    const auto ahead = static_cast<std::int32_t>(packet.low - at.common);
    return packet.shows(lap_owned) & (!counts | (ahead <= 0));
  };
  const auto is_turn_in_common = [&](const Packet &packet) {
    const auto after = static_cast<std::uint32_t>(packet.low);
    return packet.shows(lap_common) & (!counts | (owned_ahead(after, at.owned) <= 0));
  };
  // And of one to take: these bits of an eager message's header, dense or not, and so many bytes.
  constexpr std::uint64_t odd = own ? 0 : 3, above = 0xffffffffull << 32;
  const std::uint64_t wanted = head_of(tag, known.context), matters = bits_of_head(tag);
  const std::uint64_t must_be = lane == 0 ? wanted : 0;
  const std::uint64_t compared = lane == 0 ? matters & ~dense_bit : lane == 1 ? above | odd : 0;
  const std::uint32_t most = lane != 1            ? ~0u
                             : room < eager_bytes ? static_cast<std::uint32_t>(room)
                                                  : eager_bytes;
  Behind behind(known, at, true); // as most come
  const auto note_status = [&](std::uint64_t first, std::uint32_t bytes) {
    if (want_status)
      note_short<S>(block.peer, source, static_cast<std::int32_t>(first), bytes);
  };
  std::uint64_t value; // of this lane's packet of the message
  bool by_owned;
  std::uint32_t bytes;
  GMPI_NO_UNROLL
  for (unsigned turns = 1;; ++turns) {
    unsigned shown = __ballot_sync(whole_warp, is_turn_in_owned(owned));
    by_owned = (shown & headers) == headers;
    value = owned.data();
    if (!by_owned) {
      shown = __ballot_sync(whole_warp, is_turn_in_common(common));
      value = common.data();
    }
    if ((shown & headers) == headers) {
      const bool fits_here =
          (((value ^ must_be) & compared) == 0) & (static_cast<std::uint32_t>(value) <= most);
      const unsigned fitting = __ballot_sync(whole_warp, fits_here);
      bytes = of_lane(static_cast<std::uint32_t>(value), 1);
      const bool is_ours = (fitting & headers) == headers, by_warp = bytes <= warp_bytes;
      const bool dense = !by_warp && (of_lane(value, 0) & dense_bit) != 0;
      if (in_rows && is_ours && is_in_rows(data, bytes)) {
        const Rows from(known.in[by_owned ? 1 : 0], by_owned ? at.owned : at.common, lane);
        if (!by_owned)
          from.look(rows);
        GMPI_NO_UNROLL
        while (!from.are_there(rows, bytes)) {
          relax();
          from.look(rows);
        }
        from.store(rows, data, bytes);
        break;
      }
      if (is_ours && !by_warp && (!dense || is_in_eights(data))) {
        const std::uint64_t first = want_status ? of_lane(value, 0) : 0;
        if (lane == 0) {
          note_status(first, bytes);
          leave_to_all(known, at, by_owned, data, bytes, dense,
                       want_status ? Begun::answered : Begun::over);
        }
        return way_of_span(dense);
      }
      if (!is_ours || dense) {
        const Header header = unpack_header(of_lane(value, 0), of_lane(value, 1), 0);
        if (lane == 0)
          block.peer.arrived = {at.common, at.owned, by_owned ? owned_channel(peer) : peer, header};
        __syncwarp();
        return header.kind == MessageKind::announced && header.context == known.context &&
                       (tag == MPI_ANY_TAG || tag == header.tag) && !own
                   ? Begun::offered
                   : Begun::found;
      }
      const unsigned packets = header_packets + (bytes + packet_bytes - 1) / packet_bytes;
      if ((~shown & (~0u >> (32 - packets))) == 0)
        break;
    }
    if (turns % look_again == 0 &&
        (turns == most_turns || __any_sync(whole_warp, is_contended(look(state))))) {
      if (lane == 0)
        let_channels_go(state, peer, at);
      return Begun::nothing;
    }
    if (lane == 0)
      relax();
    look_for_packets();
  }
  bool brings = false;
  if constexpr (own) {
    const bool others = S == Scope::grid && block.living_blocks > 1;
    brings = others && bytes <= packet_bytes && !want_status;
    leave_own(bytes, (lane - header_packets) * packet_bytes, value, others && !brings);
  } else if (!in_rows || bytes <= warp_bytes) {
    store_words(data, bytes, lane, value);
  }
  const std::uint64_t first = want_status ? of_lane(value, 0) : 0;
  const std::uint64_t brought = own && brings ? of_lane(value, header_packets) : 0;
  __syncwarp();
  if (lane == 0) {
    note_status(first, bytes);
    if (own && !want_status)
      block.peer.result.bytes = bytes; // for end_quickly()
    const std::uint32_t slots = in_rows ? slots_in_rows(bytes) : 1;
    if (!by_owned || slots == 2)
      behind = Behind(known, at, by_owned, slots);
    note_position(known, behind.at);
    if (brings) {
      bring(block, bytes, brought);
    } else {
      prepare_end<S>();
      tell_end_of_call<S>();
    }
    let_channels_go(state, peer, behind.at);
    store_relaxed_system(behind.freed, behind.lap);
    if (slots == 2) {
      const Behind first_slot(known, at, by_owned);
      store_relaxed_system(first_slot.freed, first_slot.lap);
    }
  }
  return want_status || own ? Begun::answered : Begun::over;
}

/// Whether such a receive looks for messages in rows.
GMPI_DEVICE bool receives_in_rows(int source, const void *data, int count) {
  const Source &known = block_state().sources[static_cast<std::uint32_t>(source) % Source::most];
  const std::uint64_t room = std::uint64_t(static_cast<std::uint32_t>(count)) * known.extent;
  return (room > warp_bytes) & (room <= rows_bytes) & is_in_eights(data);
}

/// Has all blocks of the grid read the message that has arrived by a channel from `source`, and
/// gives the channels back. `then`: over, or answered. Lane 0.
GMPI_DEVICE void read_wide(State &state, std::uint32_t peer, int source, std::uint64_t *ring,
                           std::uint32_t *freed, const Arrived &arrived, void *data,
                           bool want_status, Begun then) {
  BlockState &block = block_state();
  const Header &header = arrived.header;
  if (want_status)
    note_short<Scope::grid>(block.peer, source, header.tag,
                            static_cast<std::uint32_t>(header.bytes));
  Position behind{arrived.common, arrived.owned};
  const unsigned long long slot = behind.in(arrived.channel);
  behind.move(arrived.channel, slot + slots_of(header));
  if (is_placed(header)) {
    const Origin origin = origin_of(header, arrived.channel, slot);
    const Channel &places = state.channels[origin.channel];
    take_placed(state, arrived.channel, slot, header);
    tell_to_read(block, places.in, places.in_freed, origin.first, data, header, peer, then);
  } else {
    tell_to_read(block, ring, freed, slot, data, header, peer, then);
  }
  let_channels_go(state, peer, behind);
}

/// Whether the message that receive_short() has found is one to take.
GMPI_DEVICE bool is_found_for(const Source &known, MPI_Comm comm, int source, int tag, int count) {
  const Header &header = block_state().peer.arrived.header;
  return known.comm == comm && known.source == source && header.context == known.context &&
         (tag == MPI_ANY_TAG || tag == header.tag) &&
         header.bytes <= std::uint64_t(static_cast<std::uint32_t>(count)) * known.extent;
}
/// Has all blocks of the grid read it, if it is to be taken, and a wide one. Returns sharing then;
/// else found, as it is. The same warp.
GMPI_DEVICE Begun read_wide_found(MPI_Comm comm, int source, int tag, void *data, int count,
                                  bool want_status) {
  const Source &known = block_state().sources[static_cast<std::uint32_t>(source) % Source::most];
  Arrived arrived = block_state().peer.arrived;
  Header &header = arrived.header;
  if (!is_wide(header) || header.form == Form::apart ||
      !is_found_for(known, comm, source, tag, count) || !is_for_all(data, header) ||
      !can_carry_together(header.bytes))
    return Begun::found;
  if (header.form != Form::dense)
    header.form = Form::packets; // as it is: so the compiler knows
  if (lane_index() == 0) {
    const bool by_owned = arrived.channel >= max_peers;
    note_taken(*known.its, source, {arrived.common, arrived.owned}, arrived.channel, header);
    read_wide(*context.peer, known.peer, source, known.in[by_owned], known.freed[by_owned], arrived,
              data, want_status, want_status ? Begun::answered : Begun::over);
  }
  __syncwarp();
  return Begun::sharing;
}
/// The same of one that comes as it is, from another host: all blocks of the grid or, but for
/// `shared`, all of the block. Returns sharing, or carrying, then.
template <Scope S, bool shared = false>
GMPI_DEVICE Begun read_apart_found(MPI_Comm comm, int source, int tag, void *data, int count,
                                   bool want_status) {
  const Source &known = block_state().sources[static_cast<std::uint32_t>(source) % Source::most];
  const Arrived &arrived = block_state().peer.arrived;
  const Header &header = arrived.header;
  if (header.form != Form::apart || is_local(data) ||
      !is_found_for(known, comm, source, tag, count))
    return Begun::found;
  const bool shares = S == Scope::grid && header.bytes >= least_read_together && !is_shared(data) &&
                      can_carry_together(header.bytes);
  if (shared && !shares)
    return Begun::found;
  if (lane_index() == 0) {
    State &state = *context.peer;
    const bool by_owned = arrived.channel >= max_peers;
    const Position at{arrived.common, arrived.owned};
    note_taken(*known.its, source, at, arrived.channel, header);
    if (shares) {
      acquire_system();
      read_wide(state, known.peer, source, known.in[by_owned], known.freed[by_owned], arrived, data,
                want_status, want_status ? Begun::answered : Begun::over);
    } else {
      take_found(state, arrived.channel, at, header);
      note_found_for<S>(state, arrived.channel, source, static_cast<unsigned char *>(data),
                        header.bytes, at.in(arrived.channel), header, false, want_status,
                        want_status, block_state().peer);
    }
  }
  __syncwarp();
  return shares ? Begun::sharing : Begun::carrying;
}

} // namespace gmpi::device::peer
