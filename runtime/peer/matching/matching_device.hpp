// Which receive gets which message: MPI's rules, applied by the receiving rank's own threads.
//
// Invariant: lists are changed under state.lock. A receive is posted into a ring, without it, and
// who has it puts that into lists, or gives it a message, before any that is posted later. Both
// channels from a rank are looked at by whoever has set the top bit of the common one's line: in
// the order of their messages, each is given to the earliest posted receive that it matches, or
// kept. Who has posted nothing may look at them without the lock while nobody has posted anything,
// nothing is kept and nothing is active: then no receive goes before its own.
#pragma once

#include "requests_device.hpp"

namespace gmpi::device::peer {

// --- receives that have been posted ---

/// Waits for entry `number` of the ring, whose number has been taken: its record follows soon.
GMPI_DEVICE std::uint32_t await_post(const PostRing &posts, std::uint32_t number) {
  unsigned long long entry;
  GMPI_NO_UNROLL
  while ((entry = load_relaxed_device(&posts.entry[number % PostRing::places])) >> 32 != number + 1)
    relax();
  return static_cast<std::uint32_t>(entry);
}

/// Gives a receive, which counts as posted, the kept message that it wants, under the lock. Returns
/// whether there was one. `place`: where its data lies; the caller copies that, and the request is
/// noted as done. Or it is `nothing`, where the data is yet to come.
GMPI_OUT_OF_LINE bool match_kept(State &state, std::uint32_t index, std::uint32_t &place) {
  Request &request = state.requests[index];
  const Wanted wanted = wanted_by(request);
  place = has_kept_none(state, wanted) ? nothing : take_kept(state, wanted, false);
  if (place == nothing)
    return false;
  const Kept &kept = state.kept[place];
  const Header header = kept.header;
  const std::uint32_t channel = kept.channel, from = peer_of_channel(channel);
  atomicSub(&state.summary.kept, 1u);
  if (header.kind == MessageKind::announced) {
    give_place(state, place);
    place = nothing;
    give_message(state, index, header, channel, kept.first);
    return true;
  }
  request.peer = from;
  request.header = header;
  atomicSub(&state.summary.posted, 1u);
  if (header.kind == MessageKind::synchronous)
    acknowledge(state, from, header);
  return true;
}

/// Puts the receives of the ring before entry `end` into lists; or gives them what has been kept
/// while they were being posted. Under the lock; one thread.
GMPI_OUT_OF_LINE void list_posts(State &state, std::uint32_t end) {
  PostRing &posts = state.posts;
  unsigned long long gone = posts.gone;
  GMPI_NO_UNROLL
  for (std::uint32_t number = posts.first; static_cast<std::int32_t>(end - number) > 0;
       ++number, gone >>= 1) {
    const std::uint32_t index = await_post(posts, number);
    store_relaxed_device(&posts.first, number + 1); // those behind may wait for the place
    if ((gone & 1) != 0)
      continue;
    acquire_device(); // its record
    std::uint32_t place;
    if (!match_kept(state, index, place)) {
      append_posted(state, index);
    } else if (place != nothing) {
      Request &request = state.requests[index];
      copy_share(request.data, kept_memory(state, place),
                 request.header.bytes < request.room ? request.header.bytes : request.room, 0, 1);
      set_state(request, RequestState::done);
      give_place(state, place);
    }
  }
  posts.gone = gone;
}
/// The same of all that have been posted.
GMPI_DEVICE void list_posts(State &state) {
  const std::uint32_t end = load_relaxed_device(&state.posts.next);
  if (end != state.posts.first)
    list_posts(state, end);
}
/// Whether a receive of the ring may want what has been kept while it was being posted. (Whoever
/// waits looks, since perhaps nothing comes any more.)
GMPI_DEVICE bool may_want_kept(const State &state, const Summary &summary) {
  return summary.kept != 0 &&
         load_relaxed_device(&state.posts.first) != load_relaxed_device(&state.posts.next);
}

// --- channels ---

GMPI_DEVICE bool has_message(const State &state, std::uint32_t channel, unsigned long long next) {
  return Packet::load(packet_at(state.channels[channel].in, next, 0)).shows(lap_of(next));
}
GMPI_DEVICE Header read_header(const State &state, std::uint32_t channel, unsigned long long next) {
  const std::uint64_t *from = packet_at(state.channels[channel].in, next, 0);
  const std::uint32_t lap = lap_of(next);
  std::uint64_t words[header_packets];
  Packet packets[header_packets]; // under way together
  GMPI_UNROLL
  for (std::uint32_t i = 0; i < header_packets; ++i)
    packets[i] = Packet::load(from + i * packet_words);
  GMPI_UNROLL
  for (std::uint32_t i = 0; i < header_packets; ++i)
    words[i] =
        packets[i].shows(lap) ? packets[i].data() : await_packet(from + i * packet_words, lap);
  return unpack_header(words[0], words[1], words[2]);
}

/// How far a rank has come in the channels from another.
struct Position {
  unsigned long long common, owned;

  GMPI_DEVICE unsigned long long in(std::uint32_t channel) const {
    return channel < max_peers ? common : owned;
  }
  GMPI_DEVICE void move(std::uint32_t channel, unsigned long long to) {
    (channel < max_peers ? common : owned) = to;
  }
  /// Whether it is the turn of a message of that channel whose header says `after`.
  GMPI_DEVICE bool allows(std::uint32_t channel, std::uint64_t after) const {
    return channel < max_peers ? owned_ahead(static_cast<std::uint32_t>(after), owned) <= 0
                               : after <= common;
  }
  GMPI_DEVICE unsigned long long word() const { return both_of(common, owned); }
};

/// `word`: that of the common channel's line; `owned`: of the owned one's, which may be older.
GMPI_DEVICE Position position_of(unsigned long long word, unsigned long long owned) {
  return {common_of(word), owned + owned_ahead(owned_of(word), owned)};
}
GMPI_DEVICE Position position_of(const State &state, std::uint32_t peer, unsigned long long word) {
  return position_of(word, load_relaxed_device(&state.receiving[owned_channel(peer)].next));
}

/// Takes hold of both channels from `peer`, whose word is known.
GMPI_DEVICE bool try_lock_channels(State &state, std::uint32_t peer, unsigned long long word) {
  return (word & locked) == 0 &&
         cas_relaxed_device(&state.receiving[peer].next, word, word | locked) == word;
}
/// Notes how far the caller, who holds them, has come.
GMPI_DEVICE void move_channels(State &state, std::uint32_t peer, const Position &to) {
  store_relaxed_device(&state.receiving[owned_channel(peer)].next, to.owned);
  store_relaxed_device(&state.receiving[peer].next, to.word() | locked);
}
/// Gives them back: the caller has written nothing that others must see.
GMPI_DEVICE void let_channels_go(State &state, std::uint32_t peer, const Position &to) {
  store_relaxed_device(&state.receiving[owned_channel(peer)].next, to.owned);
  store_relaxed_device(&state.receiving[peer].next, to.word());
}
/// Gives them back: whoever takes hold of them next sees what the caller has written.
GMPI_DEVICE void unlock_channels(State &state, std::uint32_t peer, const Position &to) {
  store_relaxed_device(&state.receiving[owned_channel(peer)].next, to.owned);
  store_release_device(&state.receiving[peer].next, to.word());
}

/// Whether a message comes with its data, and so may be taken at once.
GMPI_DEVICE bool has_data(const Header &header) {
  return header.kind == MessageKind::eager || header.kind == MessageKind::synchronous;
}
/// A warp alone sees to messages that are no longer.
constexpr unsigned long long short_bytes = 8192;

/// Gives a posted receive the message at `next` of a channel; one that is only announced has been
/// read then.
GMPI_DEVICE void give_to_posted(State &state, std::uint32_t index, const Header &header,
                                std::uint32_t channel, unsigned long long next) {
  give_message(state, index, header, channel, next);
  if (header.kind == MessageKind::announced)
    free_share(state.channels[channel].in_freed, next, next + slots_of(header), 0, 1);
}

/// Deals with one message at `next`, under the lock, the channels held. Returns the slot behind it,
/// or `next` itself where it cannot be kept, or with work.kind keep or, `by_warp`, read.
GMPI_DEVICE unsigned long long take_message(State &state, std::uint32_t channel,
                                            const Header &header, unsigned long long next,
                                            Work &work, bool by_warp = false) {
  if (header.kind == MessageKind::data)
    return next + give_data(state, header, channel, next);
  unsigned long long behind = next + slots_of(header);
  bool no_data = header.kind == MessageKind::announced || header.bytes == 0;
  std::uint32_t posted = take_posted(state, header, peer_of_channel(channel));
  if (posted != nothing) {
    if (by_warp && has_data(header) && header.bytes <= short_bytes && !state.requests[posted].own) {
      work = {WorkKind::read, posted};
      return next;
    }
    give_to_posted(state, posted, header, channel, next);
  } else {
    const std::uint32_t place = take_place_for(state, header, channel);
    if (place == nothing)
      return next;
    state.kept[place].channel = channel;
    state.kept[place].header = header;
    state.kept[place].first = next;
    if (!no_data && !is_placed(header)) {
      work = {WorkKind::keep, place};
      return next;
    }
    take_placed(state, channel, next, header);
    append_kept(state, place);
  }
  if (posted == nothing && no_data)
    free_share(state.channels[channel].in_freed, next, behind, 0, 1);
  return behind;
}

/// The channel from `peer` whose turn it is, and the header of its next message; max_channels where
/// nothing has come.
GMPI_DEVICE std::uint32_t find_next(const State &state, std::uint32_t peer, const Position &at,
                                    Header &header) {
  GMPI_NO_UNROLL
  for (std::uint32_t channel = peer; channel < max_channels; channel += max_peers) {
    if (!has_message(state, channel, at.in(channel)))
      continue;
    header = read_header(state, channel, at.in(channel));
    if (at.allows(channel, header.after))
      return channel;
  }
  return max_channels;
}

/// Whether a rank's channels may have something that nobody has looked at; without any lock.
GMPI_DEVICE bool may_have_messages(const State &state, std::uint32_t peer,
                                   unsigned long long word) {
  if ((word & locked) != 0 || state.channels[peer].in == nullptr)
    return false;
  const Position at = position_of(state, peer, word);
  return has_message(state, peer, at.common) || has_message(state, owned_channel(peer), at.owned);
}

/// So many peers' channels are to be looked at. Others' lie in the host's memory, far away: not
/// where nothing has come since all of them were found empty. `news`: what has been counted.
GMPI_DEVICE std::uint32_t peers_to_look_at(const State &state, unsigned long long &news) {
  if (state.far_news == nullptr)
    return state.peers;
  news = load_system(state.far_news);
  return news == load_relaxed_device(&state.far_quiet) ? state.near_peers : state.peers;
}

/// Deals with what has arrived, under the lock. Work of kind keep: the lock is kept, and one
/// rank's channels.
GMPI_OUT_OF_LINE Work look_into_channels(State &state) {
  Work work{};
  list_posts(state);
  unsigned long long news = 0;
  const std::uint32_t peers = peers_to_look_at(state, news);
  GMPI_NO_UNROLL
  for (std::uint32_t peer = 0; peer < peers; ++peer) {
    unsigned long long word = load_relaxed_device(&state.receiving[peer].next);
    if (!may_have_messages(state, peer, word) || !try_lock_channels(state, peer, word))
      continue;
    Position at = position_of(state, peer, word);
    GMPI_NO_UNROLL
    for (;;) {
      Header header;
      std::uint32_t channel = find_next(state, peer, at, header);
      if (channel == max_channels)
        break;
      unsigned long long next = at.in(channel);
      unsigned long long behind = take_message(state, channel, header, next, work);
      if (work.kind == WorkKind::keep) {
        move_channels(state, peer, at);
        return work;
      }
      at.move(channel, behind);
      if (behind == next)
        break;
    }
    unlock_channels(state, peer, at);
  }
  return work;
}

/// The message's data is in its place, and its slots are given back.
GMPI_DEVICE void end_keeping(State &state, std::uint32_t place) {
  Kept &kept = state.kept[place];
  append_kept(state, place);
  const std::uint32_t peer = peer_of_channel(kept.channel);
  Position at = position_of(state, peer, load_relaxed_device(&state.receiving[peer].next));
  at.move(kept.channel, kept.first + slots_of(kept.header));
  unlock_channels(state, peer, at);
  unlock(state);
}

/// Whether carrying the request on would lead anywhere; the caller holds it.
GMPI_DEVICE bool can_carry_on(const State &state, const Request &request, std::uint32_t index) {
  auto is_there = [&](unsigned long long end) { // the last slot that is needed
    return is_free(state.channels[request.channel].out_freed, request.first + end - 1);
  };
  const RequestState now = state_of(request);
  if (now == RequestState::queued)
    return is_there(slots_of(request.header));
  if (now == RequestState::sending)
    return is_there(portion_end(request.header, request.moved));
  if (now == RequestState::awaiting_match) {
    const Packet ack = Packet::load(ack_of(state, index, request.serial));
    return ack.shows(lap_of_serial(request.serial)) && !is_streamed(unpack_match(ack.data()));
  }
  if (now == RequestState::storing)
    return true;
  return now == RequestState::receiving &&
         (request.header.kind != MessageKind::data || // with its header it is there
          has_message(state, request.channel, request.first + request.moved));
}

GMPI_DEVICE void let_go(Request &request) {
  release_device();
  atomicExch(&request.busy, 0u);
}

/// Holds the request, if it can be carried on by somebody who waits for `own`. Nothing of it is
/// looked at before it is held: it may have ended, and be another call's by now.
GMPI_DEVICE bool try_carry_on(State &state, std::uint32_t index, std::uint32_t own) {
  Request &request = state.requests[index];
  if (load_relaxed_device(&request.busy) != 0 || cas_acquire_device(&request.busy, 0, 1) != 0)
    return false;
  if ((!request.own || index == own) && can_carry_on(state, request, index))
    return true;
  atomicExch(&request.busy, 0u); // nothing has been written
  return false;
}

/// Whether a request is worth trying: it may have ended, and be another call's by now.
GMPI_DEVICE bool seems_ready(const State &state, std::uint32_t index) {
  const Request &request = state.requests[index];
  const std::uint32_t its = load_relaxed_device(&request.state);
  const std::uint32_t serial = load_relaxed_device(&request.serial);
  const Packet ack = Packet::load(ack_of(state, index, 0));
  return its != static_cast<std::uint32_t>(RequestState::awaiting_match) ||
         is_answered(state, index, serial, ack);
}

/// A request that somebody could carry on, held; `own`: the one that the caller waits for, or
/// `nothing`.
GMPI_OUT_OF_LINE Work look_for_active(State &state, std::uint32_t own) {
  constexpr std::uint32_t together = 4;
  if (own != nothing && try_carry_on(state, own, own))
    return {WorkKind::carry_on, own};
  std::uint32_t words = load_relaxed_device(&state.active_words);
  GMPI_NO_UNROLL
  for (; words != 0; words &= words - 1) {
    const std::uint32_t first = (__ffs(static_cast<int>(words)) - 1) * 32;
    std::uint32_t left = load_relaxed_device(&state.active[first / 32]);
    GMPI_NO_UNROLL
    while (left != 0) {
      std::uint32_t ready = 0; // bits of these
      GMPI_UNROLL
      for (std::uint32_t i = 0; i < together; ++i) {
        const std::uint32_t bit = left & (~left + 1);
        left &= ~bit;
        if (bit != 0 && seems_ready(state, first + __ffs(static_cast<int>(bit)) - 1))
          ready |= bit;
      }
      GMPI_NO_UNROLL
      for (; ready != 0; ready &= ready - 1) {
        const std::uint32_t index = first + __ffs(static_cast<int>(ready)) - 1;
        if (index != own && try_carry_on(state, index, own))
          return {WorkKind::carry_on, index};
      }
    }
  }
  return {};
}

/// Whether any channel may have something that nobody has looked at; without the lock.
GMPI_DEVICE bool has_messages(State &state) {
  bool any = false, held = false;
  unsigned long long news = 0;
  const std::uint32_t peers = peers_to_look_at(state, news), near = state.near_peers;
  GMPI_NO_UNROLL
  for (std::uint32_t peer = 0; !any && peer < peers; ++peer) {
    if (peer == near && state.far_news != nullptr)
      acquire_system(); // what has been counted is there
    const unsigned long long word = load_relaxed_device(&state.receiving[peer].next);
    held = held || (word & locked) != 0;
    any = may_have_messages(state, peer, word);
  }
  if (!any && !held && peers != near && state.far_news != nullptr)
    store_relaxed_device(&state.far_quiet, news);
  return any;
}

/// One look at what has arrived, where somebody waits for it.
GMPI_DEVICE Work look_at_messages(State &state, const Summary &summary) {
  if (summary.posted == 0 || !(has_messages(state) || may_want_kept(state, summary)) ||
      !try_lock(state))
    return {};
  const Work work = look_into_channels(state);
  if (work.kind != WorkKind::keep)
    unlock(state);
  return work;
}

/// One look at what there is to do for this rank.
GMPI_DEVICE Work look_for_work(State &state, std::uint32_t own, const Glance &seen) {
  // All that is active may be the caller's own request, whose match has not come.
  const bool lacks_match =
      seen.summary.active == 1 && seen.its == RequestState::awaiting_match && !seen.acknowledged;
  Work work{};
  if (seen.summary.active != 0 && !lacks_match)
    work = look_for_active(state, own);
  if (work.kind == WorkKind::none)
    work = look_at_messages(state, seen.summary);
  // What the caller's own request waits for may have been found now.
  if (work.kind == WorkKind::none && seen.its == RequestState::awaiting_data &&
      try_carry_on(state, own, own))
    work = {WorkKind::carry_on, own};
  return work;
}

} // namespace gmpi::device::peer
