// Leaving a call to the next one: all of a block's threads decide alike, by what the block
// remembers, and the first that comes to it notes it. See series_device.hpp.
//
// Invariant: where a call has been left, all that it is has been noted, and it has its request;
// else nothing has happened.
#pragma once

#include "series_ready_device.hpp"

namespace gmpi::device::peer {

/// The one message of a call that may be left.
struct ItsMessage {
  bool sends;
  void *data;
  int count;
  MPI_Datatype datatype;
  int rank, tag;

  /// Whether MPI takes such a tag.
  GMPI_DEVICE bool has_tag() const {
    return sends ? (tag >= 0) & (tag <= context.tag_upper_bound)
                 : (tag >= 0) | (tag == MPI_ANY_TAG);
  }
  /// Its length, where `known` is its rank and datatype.
  GMPI_DEVICE std::uint64_t bytes(const Source &known) const {
    return static_cast<std::uint64_t>(count) * known.extent;
  }
};
template <Function F> GMPI_DEVICE ItsMessage message_of(const Arguments &a) {
  static_assert(F == Function::Isend || F == Function::Irecv || waits_itself<F>);
  if constexpr (F == Function::Isend || F == Function::Send)
    return {true,      const_cast<void *>(a.send_buffer), a.send_count, a.send_datatype, a.dest,
            a.send_tag};
  else
    return {false, a.recv_buffer, a.recv_count, a.recv_datatype, a.source, a.recv_tag};
}

/// Notes what any call that has been left is. `bytes`: of its data; `number`: its request's.
GMPI_DEVICE void note_message(LeftCall &call, const ItsMessage &message, std::uint64_t bytes,
                              std::uint32_t number) {
  const auto request = decode_request(request_of_number(number));
  call.data = message.data;
  call.datatype = message.datatype;
  call.bytes = static_cast<std::uint32_t>(bytes);
  call.count = message.count;
  call.rank = message.rank;
  call.tag = message.tag;
  call.sends = message.sends;
  call.over = false;
  call.slot = request.slot;
  call.serial = request.serial;
}
/// Notes a call from kernel to kernel at its place. `known`: its rank and datatype. One thread.
GMPI_DEVICE void note_call(LeftCall &call, const Source &known, const ItsMessage &message,
                           std::uint32_t number) {
  call.comm = known.its;
  call.context = known.context;
  call.peer = known.peer;
  note_message(call, message, message.bytes(known), number);
}

// Of calls by way of the proxy (../../queue/left_device.hpp), those that only begin are left.

/// Whether such a call's data may be so long: what MPI is to read where it lies is not left.
template <Function F> GMPI_DEVICE bool is_queued_length(std::uint64_t bytes) {
  return (bytes <= most_left) &
         ((F == Function::Irecv) | (bytes <= inline_bytes) | (bytes <= context.direct_above));
}

/// Their requests: those that are ready, as ones of this device's proxy.
GMPI_DEVICE std::uint32_t queued_number(std::uint32_t number) {
  auto request = decode_request(request_of_number(number));
  request.device = context.device;
  return number_of_request(encode_request(request));
}

/// Whether such a call can be left at `place`, where the block knows what it is of.
template <Function F>
GMPI_DEVICE bool can_be_queued(const Series &series, const Series::Left &left, MPI_Comm comm,
                               const ItsMessage &message, std::uint32_t place) {
  const auto &known = series.queued;
  // (All of it is looked at: each branch would wait for its own.)
  return !waits_itself<F> & (known.extent != 0) & (known.comm == comm) &
         (known.datatype == message.datatype) & message.has_tag() & (message.rank >= 0) &
         (message.count >= 0) & (place < Series::most) &
         ((place == 0) | left.are_queued(series.first)) &
         is_queued_length<F>(static_cast<std::uint64_t>(message.count) * known.extent);
}

/// Notes it there. One thread.
GMPI_DEVICE void note_queued(Series &series, std::uint32_t place, Site site,
                             const ItsMessage &message, std::uint32_t number) {
  LeftCall &call = series.call[place];
  call.comm = nullptr;
  call.queued.comm = series.queued.comm;
  note_message(call, message, static_cast<std::uint64_t>(message.count) * series.queued.extent,
               number);
  series.site[place] = site;
}

/// As note_left(), of such a call; the block remembers what it is of.
template <Function F>
GMPI_DEVICE std::uint32_t note_queued_left(Site site, MPI_Comm comm, const ItsMessage &message) {
  BlockState &block = block_state();
  Series &series = block.series;
  const std::uint32_t call = series.next, place = series.count();
  if (place == 0)
    series.queued = {comm, message.datatype,
                     static_cast<std::uint32_t>(find_datatype(message.datatype).extent)};
  if (!can_be_queued<F>(series, series.left[thread_index() / 32], comm, message, place))
    return cannot_be_left;
  const std::uint32_t number = await_ready(*block.launch, call);
  if (number == none_is_ready)
    return lacks_request;
  note_queued(series, place, site, message, number);
  keep_ready(series, call, number);
  series.next = call + 1;
  GMPI_NO_UNROLL
  for (Series::Left &its : series.left) {
    its.next = series.next;
    its.note_queued(series.first);
  }
  return queued_number(number);
}

/// Notes a call, if it is one that can be left: of a predefined datatype and up to most_left, as
/// MPI wants it. Returns its request's number, cannot_be_left, or lacks_request. One thread.
template <Function F> GMPI_DEVICE std::uint32_t note_left(Site site, const Arguments &a) {
  BlockState &block = block_state();
  Series &series = block.series;
  const ItsMessage message = message_of<F>(a);
  const std::uint32_t call = series.next, place = series.count();
  if (place >= series.room)
    return cannot_be_left;
  const Source &known = block.sources[static_cast<std::uint32_t>(message.rank) % Source::most];
  if (context.peer == nullptr || !is_source(known, a.comm, message.rank, message.datatype)) {
    const Comm *const comm = context.peer == nullptr ? nullptr : find_comm(a.comm);
    if (comm == nullptr)
      return note_queued_left<F>(site, a.comm, message);
    if (!takes<F>(*comm, a, buffers_of(F, a, message_bytes)))
      return cannot_be_left;
    remember_source(*context.peer, *comm, message.rank, message.datatype, nullptr);
    if (!is_source(known, a.comm, message.rank, message.datatype))
      return cannot_be_left;
  }
  if (message.bytes(known) > most_left || !message.has_tag())
    return cannot_be_left;
  const std::uint32_t number = await_ready(*block.launch, call);
  if (number == none_is_ready)
    return lacks_request;
  note_call(series.call[place], known, message, number);
  series.site[place] = waits_itself<F> ? site : Site{};
  keep_ready(series, call, number);
  series.next = call + 1;
  GMPI_NO_UNROLL
  for (Series::Left &its : series.left) {
    its.next = series.next;
    if constexpr (waits_itself<F>)
      its.add_wait(series.first, place, F == Function::Send);
  }
  return number;
}

/// Leaves a call to the next one, which comes at once, if it can be. All of a block's threads.
/// Returns its request's number, or is_not_to_be_left.
template <Function F> GMPI_DEVICE std::uint32_t leave_to_next(Site site, const Arguments &a) {
  const BlockTeam team = BlockTeam::meet();
  Series &series = block_state().series;
  const auto note = [&] {
    if (team.leads())
      series.given = note_left<F>(site, a);
    __syncthreads();
    return series.given;
  };
  std::uint32_t given = note();
  if (given == lacks_request) {
    fill_ready(team);
    given = note();
    if (team.leads() && given == lacks_request)
      series.room = 0; // there are none for any more
  }
  return given != cannot_be_left && given != lacks_request ? given : is_not_to_be_left;
}

/// Whether a call is in any case none that is left: its request lies elsewhere, it names no rank or
/// counts less than nothing, or its data is each thread's own, or its block's.
template <Function F> GMPI_DEVICE bool is_odd(const Arguments &a, const ItsMessage &message) {
  return (!waits_itself<F> && !(is_local(a.new_request) | is_shared(a.new_request))) |
         (message.rank < 0) | (message.count < 0) | is_local(message.data) |
         is_shared(message.data);
}

/// Whether a call is over as it is: its message is from or to nobody.
template <Function F> GMPI_DEVICE bool is_over_at_once(const Arguments &a) {
  return goes_nowhere(F, a) && !returns_to_global<F>(a) && !(waits_itself<F> && wants_status(a));
}
GMPI_DEVICE std::uint32_t request_of_nobody() { return number_of_request(null_peer_request()); }

/// What has become of a call that may be left: if it is, its request's number, or else what it
/// returns.
struct Leaving {
  bool is_left;
  std::uint32_t number;
  unsigned there; ///< the lanes that make it together: all find the same
};
/// Finds the request of call number `call`, if it `can` be left and is not `odd`.
template <Function F>
GMPI_DEVICE Leaving find_request(const BlockState &block, Series &series, const Arguments &a,
                                 std::uint32_t call, bool odd, bool can) {
  std::uint32_t number = ready_of(series, call) ^ ready_entry(call, 0);
  const bool is_at_hand = number - 1 < (1u << 28) - 1; // neither none nor another call's
  const unsigned there = __ballot_sync(whole_warp, true);
  // (Another warp may be looking requests up: then some lanes have seen more than others.)
  const bool all_have_it = __ballot_sync(whole_warp, is_at_hand) == there;
  if (odd | !can | !all_have_it) {
    if (is_over_at_once<F>(a))
      return {false, request_of_nobody(), there};
    if (odd)
      return {false, is_not_to_be_left, there};
    if (can)
      number = look_up_ready(*block.launch, series, call, there == whole_warp);
    if (!can || number == none_is_ready)
      return {false, cannot_be_left, there};
  }
  return {true, number, there};
}
/// Whether this thread is the first that has left it, and is to note it.
GMPI_DEVICE bool is_first_to_leave(Series &series, std::uint32_t call, unsigned there) {
  return (there & ((1u << thread_index() % 32) - 1)) == 0 && series.next == call &&
         atomicCAS(&series.next, call, call + 1) == call;
}

/// The same for a call like those before it, by a function that calls none: of what the block
/// remembers. Returns its request's number, or else nothing has happened: is_not_to_be_left, or
/// cannot_be_left, where leave_to_next() may. (A message from or to nobody is over: its call says
/// so, and its block goes on.)
///
/// A block's warps do not meet: each counts for itself which call this is, all find the same, and
/// the first that comes to it notes it. They meet for the next call that is not left, whose block
/// looks at what has been noted; what the block remembers does not change before.
template <Function F> GMPI_DEVICE std::uint32_t leave_quickly(Site site, const Arguments &a) {
  BlockState &block = block_state();
  Series &series = block.series;
  if (series.room == 0)
    return is_over_at_once<F>(a) ? request_of_nobody() : is_not_to_be_left;
  const ItsMessage message = message_of<F>(a);
  const Source &known = block.sources[static_cast<std::uint32_t>(message.rank) % Source::most];
  Series::Left &left = series.left[thread_index() / 32];
  const Series::Left before = left;
  const std::uint32_t call = before.next, first = series.first, place = call - first;
  // (All of it is looked at: each branch would wait for its own.)
  const bool is_known = is_source(known, a.comm, message.rank, message.datatype);
  const bool fits = may_come_behind<F>(before.waited_from(first), before.sent_from(first));
  const bool odd = is_odd<F>(a, message) | (F == Function::Recv && (!fits | wants_status(a))) |
                   (is_known & (message.bytes(known) > most_left));
  const bool can = is_known & message.has_tag() & (place < Series::most) & fits;
  const Leaving leaving = find_request<F>(block, series, a, call, odd, can);
  if (!leaving.is_left)
    return leaving.number;
  // Each lane writes it, and sees that at its next call.
  if constexpr (waits_itself<F>) {
    Series::Left now = before;
    now.next = call + 1;
    now.add_wait(first, place, F == Function::Send);
    left = now;
  } else {
    left.next = call + 1;
  }
  if (is_first_to_leave(series, call, leaving.there)) {
    note_call(series.call[place], known, message, leaving.number);
    series.site[place] = waits_itself<F> ? site : Site{};
  }
  return leaving.number;
}

/// Whether calls on that communicator go by way of the proxy, as far as the block remembers.
template <Function F> GMPI_DEVICE bool may_be_queued(MPI_Comm comm) {
  return !waits_itself<F> && block_state().series.queued.comm == comm;
}
/// The same of such a call, like those before it. Returns its request's number; or nothing has
/// happened: is_not_to_be_left, or cannot_be_left, where leave_to_next() may.
template <Function F> GMPI_DEVICE std::uint32_t leave_queued(Site site, const Arguments &a) {
  BlockState &block = block_state();
  Series &series = block.series;
  const ItsMessage message = message_of<F>(a);
  Series::Left &left = series.left[thread_index() / 32];
  const Series::Left before = left;
  const std::uint32_t call = before.next, place = call - series.first;
  // (All of it is looked at: each branch would wait for its own.)
  const bool odd = is_odd<F>(a, message) | (series.room == 0);
  const bool can = can_be_queued<F>(series, before, a.comm, message, place);
  const Leaving leaving = find_request<F>(block, series, a, call, odd, can);
  if (!leaving.is_left)
    return leaving.number;
  left.next = call + 1;
  left.note_queued(series.first);
  if (is_first_to_leave(series, call, leaving.there))
    note_queued(series, place, site, message, leaving.number);
  return queued_number(leaving.number);
}

/// Leaves a wait to the next call, for a request of one that has been left: it is null then.
/// Returns whether it has; all threads find the same. It lies in each thread's own memory.
GMPI_DEVICE bool leave_wait(MPI_Request *request) {
  Series &series = block_state().series;
  if (series.room == 0 || !is_local(request))
    return false;
  Series::Left &left = series.left[thread_index() / 32];
  Series::Left now = left;
  const std::uint32_t first = series.first, count = now.next - first;
  const std::uint32_t waited = now.waited_from(first);
  const MPI_Request its = *request;
  if (its != MPI_REQUEST_NULL && its != null_peer_request()) {
    if (!is_kernel_request(its))
      return false;
    const std::uint32_t number = number_of_request(its);
    std::uint32_t place = 0;
    GMPI_NO_UNROLL
    while (place < count && ready_of(series, first + place) != ready_entry(first + place, number))
      ++place;
    if (place >= count || (waited >> place & 1) != 0)
      return false;
    __syncwarp(); // all have looked; each writes the same
    now.add_wait(first, place, false);
    left = now;
  }
  *request = MPI_REQUEST_NULL;
  return true;
}

} // namespace gmpi::device::peer
