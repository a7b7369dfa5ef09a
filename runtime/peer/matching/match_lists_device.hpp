// The lists of posted receives and of kept messages, under the state's lock: many of each, by a
// hash of communicator and tag, so that one of thousands is found as soon as one of a few.
//
// Invariant: a message is in the list of its communicator and tag, and so is a receive, but those
// of any tag, which have a list of their own. Each list is in order; an entry's number tells its
// place among those of other lists.
#pragma once

#include "../channel/channel_device.hpp"

namespace gmpi::device::peer {

/// What a receive asks for. `peer` may be any_source.
struct Wanted {
  std::uint32_t context, peer;
  std::int32_t tag;

  GMPI_DEVICE bool is(const Header &header, std::uint32_t from) const {
    return context == header.context && (peer == any_source || peer == from) &&
           (tag == MPI_ANY_TAG || tag == header.tag);
  }
};
GMPI_DEVICE Wanted wanted_from(const Comm &comm, int source, int tag) {
  return {comm.context, source == MPI_ANY_SOURCE ? any_source : comm.peer_of[source], tag};
}
GMPI_DEVICE Wanted wanted_by(const Request &request) {
  return {request.context, request.peer, request.tag};
}

GMPI_DEVICE std::uint32_t list_of(std::uint32_t context, std::int32_t tag) {
  return (context * 37 + static_cast<std::uint32_t>(tag)) % match_lists;
}

/// An entry as its list has it. Index `nothing`: there is none.
struct Listed {
  MatchList *list;
  std::uint32_t index, before;
};

template <class Entry>
GMPI_DEVICE void append(State &state, MatchList &list, Entry *entries, std::uint32_t index) {
  const std::uint32_t first = list.first, last = list.last, number = state.listed;
  entries[index].next = nothing;
  entries[index].number = number;
  state.listed = number + 1;
  if (first == nothing)
    store_relaxed_device(&list.first, index); // some look whether there is any without the lock
  else
    entries[last].next = index;
  list.last = index;
}
template <class Entry> GMPI_DEVICE void take_out(const Listed &taken, Entry *entries) {
  MatchList &list = *taken.list;
  const std::uint32_t next = entries[taken.index].next;
  if (taken.before == nothing)
    store_relaxed_device(&list.first, next);
  else
    entries[taken.before].next = next;
  if (list.last == taken.index)
    list.last = taken.before;
}

/// The list's first that is `wanted`.
template <class Entry, class Wanted>
GMPI_DEVICE Listed find_in(MatchList &list, const Entry *entries, Wanted wanted) {
  std::uint32_t before = nothing, at = list.first;
  GMPI_NO_UNROLL
  while (at != nothing && !wanted(entries[at])) {
    before = at;
    at = entries[at].next;
  }
  return {&list, at, before};
}
template <class Entry>
GMPI_DEVICE Listed earlier(const Listed &a, const Listed &b, const Entry *entries) {
  if (a.index == nothing || b.index == nothing)
    return a.index == nothing ? b : a;
  // (Numbers wrap.)
  return static_cast<std::int32_t>(entries[a.index].number - entries[b.index].number) < 0 ? a : b;
}

/// The earliest posted receive that the message is for.
GMPI_DEVICE Listed find_posted(State &state, const Header &header, std::uint32_t from) {
  const auto wants = [&](const Request &request) { return wanted_by(request).is(header, from); };
  MatchList &certain = state.posted[list_of(header.context, header.tag)];
  return earlier(find_in(certain, state.requests, wants),
                 find_in(state.posted_any_tag, state.requests, wants), state.requests);
}
/// The earliest kept message that is wanted.
GMPI_OUT_OF_LINE Listed find_kept(State &state, const Wanted &wanted) {
  const auto is_wanted = [&](const Kept &kept) {
    return wanted.is(kept.header, peer_of_channel(kept.channel));
  };
  if (wanted.tag != MPI_ANY_TAG)
    return find_in(state.kept_lists[list_of(wanted.context, wanted.tag)], state.kept, is_wanted);
  Listed found{nullptr, nothing, nothing};
  GMPI_NO_UNROLL
  for (std::uint32_t i = 0; i < match_lists / 32; ++i)
    GMPI_NO_UNROLL
  for (std::uint32_t left = state.kept_bits[i]; left != 0; left &= left - 1) {
    MatchList &list = state.kept_lists[32 * i + __ffs(static_cast<int>(left)) - 1];
    found = earlier(found, find_in(list, state.kept, is_wanted), state.kept);
  }
  return found;
}

GMPI_DEVICE std::uint32_t take_posted(State &state, const Header &header, std::uint32_t from) {
  const Listed found = find_posted(state, header, from);
  if (found.index != nothing) {
    take_out(found, state.requests);
    --state.in_lists;
  }
  return found.index;
}
/// The earliest kept message that is wanted, taken out. `with_data`: only where it has come with
/// its data.
GMPI_OUT_OF_LINE std::uint32_t take_kept(State &state, const Wanted &wanted, bool with_data) {
  const Listed found = find_kept(state, wanted);
  if (found.index == nothing ||
      (with_data && state.kept[found.index].header.kind == MessageKind::announced))
    return nothing;
  take_out(found, state.kept);
  const auto list = static_cast<std::uint32_t>(found.list - state.kept_lists);
  if (found.list->first == nothing)
    state.kept_bits[list / 32] &= ~(1u << list % 32);
  return found.index;
}
/// Whether there is certainly none, at this moment. Needs no lock.
GMPI_DEVICE bool has_kept_none(const State &state, const Wanted &wanted) {
  return load_relaxed_device(&state.summary.kept) == 0 ||
         (wanted.tag != MPI_ANY_TAG &&
          load_relaxed_device(&state.kept_lists[list_of(wanted.context, wanted.tag)].first) ==
              nothing);
}
/// Where a receive with that tag is posted.
GMPI_DEVICE MatchList &posted_list(State &state, std::uint32_t context, std::int32_t tag) {
  return tag == MPI_ANY_TAG ? state.posted_any_tag : state.posted[list_of(context, tag)];
}
GMPI_DEVICE void append_posted(State &state, std::uint32_t index) {
  const Request &request = state.requests[index];
  ++state.in_lists;
  append(state, posted_list(state, request.context, request.tag), state.requests, index);
}
GMPI_DEVICE void append_kept(State &state, std::uint32_t place) {
  const Header &header = state.kept[place].header;
  const std::uint32_t list = list_of(header.context, header.tag);
  if (state.kept_lists[list].first == nothing)
    state.kept_bits[list / 32] |= 1u << list % 32;
  append(state, state.kept_lists[list], state.kept, place);
  atomicAdd(&state.summary.kept, 1u);
}

} // namespace gmpi::device::peer
