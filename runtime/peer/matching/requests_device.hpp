// Requests, and places for messages that are kept: what becomes of them when a message has been
// matched.
//
// Invariant: a request is changed by who has made it, until others can know of it, and then under
// state.lock, or by whoever has it busy.
#pragma once

#include "../../transport/copy_device.hpp"
#include "match_lists_device.hpp"

namespace gmpi::device::peer {

GMPI_DEVICE RequestState state_of(const Request &request) {
  return static_cast<RequestState>(load_acquire_device(&request.state));
}
/// What was written of the request before is there for whoever sees this.
GMPI_DEVICE void set_state(Request &request, RequestState to) {
  store_release_device(&request.state, static_cast<std::uint32_t>(to));
}

/// The same for whoever sees what the caller releases later.
GMPI_DEVICE void note_state(Request &request, RequestState to) {
  store_relaxed_device(&request.state, static_cast<std::uint32_t>(to));
}

GMPI_DEVICE Summary look(const State &state) {
  std::uint64_t a, b;
  load_system(reinterpret_cast<const std::uint64_t *>(&state.summary), a, b);
  return {static_cast<std::uint32_t>(a), static_cast<std::uint32_t>(a >> 32),
          static_cast<std::uint32_t>(b), static_cast<std::uint32_t>(b >> 32)};
}

GMPI_DEVICE bool take_lock(State &state) {
  return load_relaxed_device(&state.lock) == 0 && cas_acquire_device(&state.lock, 0, 1) == 0;
}
/// For those who look for work: not while somebody waits for it, but for one microsecond in eight,
/// since what those who wait for it need may be for others to find.
GMPI_DEVICE bool try_lock(State &state) {
  return (load_relaxed_device(&state.wanted) == 0 || nanoseconds() / 1024 % 8 == 0) &&
         take_lock(state);
}
GMPI_DEVICE void lock(State &state) {
  if (take_lock(state))
    return;
  atomicAdd(&state.wanted, 1u);
  GMPI_NO_UNROLL
  while (!take_lock(state))
    pause();
  atomicSub(&state.wanted, 1u);
}
GMPI_DEVICE void unlock(State &state) {
  release_device();
  atomicExch(&state.lock, 0u);
}

GMPI_DEVICE unsigned char *kept_memory(const State &state, std::uint32_t index) {
  if (index >= first_wide_kept) {
    const std::uint32_t peer = (index - first_wide_kept) / wide_tokens;
    if (peer >= state.near_peers)
      return place_at(state.channels[place_channel(peer)].in, index % wide_tokens);
  }
  constexpr std::size_t behind_small = std::size_t(small_kept) * small_bytes;
  constexpr std::size_t behind_large = behind_small + std::size_t(large_kept) * eager_bytes;
  const std::size_t at = index < small_kept ? std::size_t(index) * small_bytes
                         : index < first_wide_kept
                             ? behind_small + std::size_t(index - small_kept) * eager_bytes
                             : behind_large + std::size_t(index - first_wide_kept) * wide_bytes;
  return state.kept_data + at;
}
/// A place for so much data; `nothing` where all are in use.
GMPI_DEVICE std::uint32_t take_place(State &state, unsigned long long bytes) {
  std::uint32_t &list = bytes <= small_bytes ? state.free_small : state.free_large;
  std::uint32_t index = list;
  if (index != nothing)
    list = state.kept[index].next;
  return index;
}
/// The sender of a wide message may use its token again: the message needs no place, or no longer.
GMPI_DEVICE void give_token_back(const State &state, std::uint32_t from, std::uint16_t serial) {
  const WideUse use = WideUse::of(serial);
  store_relaxed_system(token_at(state.peer_acks[from], state.self, use.token), use.number);
}
/// A channel, and the slot there from which a message is read.
struct Origin {
  std::uint32_t channel;
  unsigned long long first;
};
/// Of one whose header has been found at slot `first` of `channel`.
GMPI_DEVICE Origin origin_of(const Header &header, std::uint32_t channel,
                             unsigned long long first) {
  return is_placed(header)
             ? Origin{place_channel(peer_of_channel(channel)), WideUse::of(header.serial).slot()}
             : Origin{channel, first};
}
/// Where it is a wide one from another host: its header, which has been read, is all that the
/// channel has of it. Its data is there.
GMPI_DEVICE void take_placed(const State &state, std::uint32_t channel, unsigned long long first,
                             const Header &header) {
  if (!is_placed(header))
    return;
  acquire_system();
  free_share(state.channels[channel].in_freed, first, first + 1, 0, 1);
}
/// A place for the data of a message that has come through that channel, as above. A wide one's is
/// its token's.
GMPI_DEVICE std::uint32_t take_place_for(State &state, const Header &header,
                                         std::uint32_t channel) {
  return is_wide(header)
             ? first_wide_kept + peer_of_channel(channel) * wide_tokens +
                   WideUse::of(header.serial).token
             : take_place(state, header.kind == MessageKind::announced ? 0 : header.bytes);
}
GMPI_DEVICE void give_place(State &state, std::uint32_t index) {
  Kept &kept = state.kept[index];
  if (index >= first_wide_kept) {
    const std::uint32_t from = peer_of_channel(kept.channel);
    const std::uint16_t serial = kept.header.serial;
    if (!is_placed(kept.header))
      return give_token_back(state, from, serial);
    const unsigned long long slot = WideUse::of(serial).slot();
    return free_share(state.channels[place_channel(from)].in_freed, slot, slot + 1, 0, 1);
  }
  std::uint32_t &list = index < small_kept ? state.free_small : state.free_large;
  kept.next = list;
  list = index;
}

// --- requests that somebody must carry on ---

/// Nobody carries it on before it is let go, too.
GMPI_DEVICE void count_active(State &state, std::uint32_t index) {
  atomicOr(&state.active_words, 1u << index / 32);
  atomicOr(&state.active[index / 32], 1u << index % 32);
  atomicAdd(&state.summary.active, 1u);
}
/// The request's record is complete.
GMPI_DEVICE void activate(State &state, std::uint32_t index) {
  count_active(state, index);
  release_device();
  atomicExch(&state.requests[index].busy, 0u);
}
GMPI_DEVICE void deactivate(State &state, std::uint32_t index) {
  atomicAnd(&state.active[index / 32], ~(1u << index % 32));
  atomicSub(&state.summary.active, 1u);
}

/// The packets that answer this rank's request, in the use that `serial` says.
GMPI_DEVICE std::uint64_t *ack_of(const State &state, std::uint32_t request, std::uint32_t serial) {
  return ack_at((serial & answered_far) != 0 ? state.far_acks : state.acks, request);
}
/// The first packet of a request's answer. `near`: of where most answers come.
GMPI_DEVICE Packet answer_in(const State &state, std::uint32_t request, std::uint32_t serial,
                             Packet near) {
  return (serial & answered_far) != 0 ? Packet::load(ack_of(state, request, serial)) : near;
}
GMPI_DEVICE bool is_answered(const State &state, std::uint32_t request, std::uint32_t serial,
                             Packet near) {
  return answer_in(state, request, serial, near).shows(lap_of_serial(serial));
}

/// Whether an answer is that the message is to be streamed.
GMPI_DEVICE bool is_streamed(const Match &match) {
  return match.number == 0 && match.place == gmpi::peer::streamed_place;
}

/// Tells the sender of a message what has matched it. `second`: what the second packet says, where
/// the first is not all.
GMPI_DEVICE void acknowledge(State &state, std::uint32_t from, const Header &header,
                             const Match &match, unsigned long long second) {
  std::uint64_t *to = ack_at(state.peer_acks[from], header.request);
  store_packet(to, pack_match(match), lap_of_serial(header.serial));
  if (match.number != 0 || is_streamed(match))
    store_packet(to + packet_words, second, lap_of_serial(header.serial));
}
/// The same, where nothing more is to come.
GMPI_DEVICE void acknowledge(State &state, std::uint32_t from, const Header &header) {
  acknowledge(state, from, header, {0, 0, 0, 0}, 0);
}
/// The same of one that comes with its data, if its sender waits for that, or for a token that is
/// free with it. (A placed one's is when its data has been read.)
GMPI_DEVICE void tell_matched(State &state, std::uint32_t from, const Header &header) {
  if (header.kind == MessageKind::synchronous)
    acknowledge(state, from, header);
  else if (is_wide(header) && !is_placed(header))
    give_token_back(state, from, header.serial);
}
/// The same, where the message is to be streamed, from which bundle or chunk on.
GMPI_DEVICE void answer_to_stream(State &state, std::uint32_t from, const Header &header,
                                  unsigned long long first) {
  acknowledge(state, from, header, {0, 0, gmpi::peer::streamed_place, 0}, first);
}

/// What the sender of an announced message is told of the request that has matched it.
GMPI_DEVICE Match match_of(const Request &request, std::uint32_t index, const Header &header) {
  const bool fits = header.bytes <= request.room;
  return {index, request.serial, fits ? request.offer.place : 0, fits ? request.offer.number : 0};
}

/// Where a packet shows that a request's data has been stored; `acks` are its rank's.
GMPI_DEVICE std::uint64_t *landed_at(std::uint64_t *acks, std::uint32_t request) {
  return acks + gmpi::peer::Shared::landed_words + request * packet_words;
}
/// What a thread sees that waits for a request of its own, or for something else (`nothing`). The
/// loads are under way together.
struct Glance {
  Summary summary;
  RequestState its;
  bool acknowledged, landed;
  bool streamed; ///< it is a send, and the answer that its grid is to stream it

  GMPI_DEVICE Glance(const State &state, std::uint32_t own)
      : summary(look(state)), its(RequestState::idle), acknowledged(false), landed(false),
        streamed(false) {
    if (own == nothing)
      return;
    const Request &request = state.requests[own];
    its = static_cast<RequestState>(load_relaxed_device(&request.state));
    const Packet ack = Packet::load(ack_of(state, own, 0));
    const Packet last = Packet::load(landed_at(state.acks, own));
    const std::uint32_t serial = load_relaxed_device(&request.serial);
    const Packet answer = answer_in(state, own, serial, ack);
    acknowledged = answer.shows(lap_of_serial(serial));
    landed = last.shows(lap_of_serial(serial));
    streamed = acknowledged && is_streamed(unpack_match(answer.data()));
  }
};

/// Whether the request is done that the caller waits for, or all blocks of the caller's grid are to
/// stream it now.
GMPI_DEVICE bool is_done(State &state, std::uint32_t index, const Glance &seen) {
  if (seen.its == RequestState::awaiting_match && seen.streamed)
    return true;
  if (seen.its != RequestState::awaiting_data || !seen.landed)
    return seen.its == RequestState::done;
  acquire_system();
  atomicSub(&state.summary.posted, 1u);
  set_state(state.requests[index], RequestState::done);
  return true;
}

/// The request's message is in the channel from slot `first` on, or on its way there.
GMPI_DEVICE void start_receiving(State &state, std::uint32_t index, unsigned long long first) {
  Request &request = state.requests[index];
  request.first = first;
  request.moved = 0;
  set_state(request, RequestState::receiving);
  activate(state, index);
  atomicSub(&state.summary.posted, 1u);
}

/// Where the portion ends that begins with a message's slot number `low`.
GMPI_DEVICE unsigned long long portion_end(const Header &header, unsigned long long low) {
  unsigned long long all = carried_slots(header);
  return all - low < portion_slots ? all : low + portion_slots;
}

/// Gives the request its message, which is announced, and answers that.
GMPI_DEVICE void give_announced(State &state, std::uint32_t index, const Header &header,
                                std::uint32_t channel, const Match &match,
                                unsigned long long offset) {
  Request &request = state.requests[index];
  const std::uint32_t from = peer_of_channel(channel);
  request.peer = from;
  request.channel = channel;
  request.header = header;
  // Its data is looked for under the lock; once it has landed, the request may be another's.
  note_state(request, RequestState::awaiting_data);
  acknowledge(state, from, header, match, offset);
}

/// Gives the request its message, which lies in the channel from slot `first` on, or is announced
/// there.
GMPI_DEVICE void give_message(State &state, std::uint32_t index, const Header &header,
                              std::uint32_t channel, unsigned long long first) {
  Request &request = state.requests[index];
  if (header.kind == MessageKind::announced)
    return give_announced(state, index, header, channel, match_of(request, index, header),
                          request.offset);
  const std::uint32_t from = peer_of_channel(channel);
  const Origin origin = origin_of(header, channel, first);
  take_placed(state, channel, first, header);
  request.peer = from;
  request.channel = origin.channel;
  request.header = header;
  start_receiving(state, index, origin.first);
  tell_matched(state, from, header);
}

/// Notes that the data of an announced message is next: to a rank, or from there.
GMPI_DEVICE void note_data(const State &state, Header &header, std::uint32_t peer) {
  header.kind = MessageKind::data;
  header.form = peer < state.near_peers ? Form::plain : Form::apart;
}
/// The data of an announced message comes: its envelope is known. Returns the slots that it has.
GMPI_DEVICE unsigned long long give_data(State &state, const Header &header, std::uint32_t channel,
                                         unsigned long long first) {
  auto index = static_cast<std::uint32_t>(header.tag);
  Request &request = state.requests[index];
  request.channel = channel;
  note_data(state, request.header, peer_of_channel(channel));
  start_receiving(state, index, first);
  return carried_slots(request.header);
}

} // namespace gmpi::device::peer
