// Calls of a grid that its blocks leave to the next one: where a program makes several one behind
// the other, the blocks meet once for all of them. The translator says behind which calls another
// one comes at once (gmpi::grid::followed).
//
// Invariant: all blocks, and their warps, decide alike which calls they leave, by what is the same
// for all of them, and know what these return without asking each other: each such call takes the
// next of the requests that the launch has ready. A wait that is left is noted with its call, and
// nothing but waits is left then. An MPI_Send is left with its wait: others that send may be left
// behind it, but nothing that receives, maybe into its buffer. So is an MPI_Recv, behind calls that
// only begin, and nothing but waits is left behind it. The block that makes the next call
// makes those before it first, in their order; by then all blocks have arrived, so nobody reads the
// requests while it puts others in their place. A request that is ready is an ordinary one
// otherwise: whoever waits for it gives its slot back.
#pragma once

#include "series_long_device.hpp"

namespace gmpi::device::peer {

using gmpi::peer::LeftStatuses;
using gmpi::peer::ReadyRequests;

/// Where a call has no request; the last one where that is known before the block's threads meet.
constexpr std::uint32_t cannot_be_left = ~0u, lacks_request = ~1u, is_not_to_be_left = ~2u;
/// Of ReadyRequests::place.
constexpr std::uint32_t none_is_ready = 0;
/// Longer messages are not left: a LeftCall counts bytes in 32 bits.
constexpr unsigned long long most_left = 1ull << 30;

/// The number of this thread's next call that is left. It needs no meeting: all find the same.
GMPI_DEVICE std::uint32_t next_call() {
  return block_state().series.left[thread_index() / 32].next;
}
/// Whether there are any before that which have not been made.
GMPI_DEVICE bool has_left() { return next_call() != block_state().series.first; }
/// Whether those that have been left, or made last, go by way of the proxy. Behind a barrier.
GMPI_DEVICE bool are_queued(const Series &series) { return series.call[0].comm == nullptr; }
/// Of which of them the wait has been left, too: bits by place.
GMPI_DEVICE std::uint32_t waited_calls() {
  const Series &series = block_state().series;
  return series.left[thread_index() / 32].waited_from(series.first);
}
/// Which of these are MPI_Sends.
GMPI_DEVICE std::uint32_t sent_calls() {
  const Series &series = block_state().series;
  return series.left[thread_index() / 32].sent_from(series.first);
}
/// Whether a call to F may be left behind those. (What has been waited for is over before something
/// else begins.)
template <Function F> GMPI_DEVICE bool may_come_behind(std::uint32_t waited, std::uint32_t sent) {
  return F == Function::Irecv || F == Function::Recv ? waited == 0 : waited == sent;
}
/// Whether its wait is left with it.
template <Function F> constexpr bool waits_itself = F == Function::Send || F == Function::Recv;
/// Whether this block is to make them now.
GMPI_DEVICE bool is_behind_others() { return block_state().series.count() != 0; }

// --- requests that are ready ---

/// Puts the request of that slot, 0: none, where call number `call` looks for it. One thread.
GMPI_DEVICE void put_ready(LaunchState &launch, std::uint32_t call, const NewSlot &slot) {
  const std::uint32_t number =
      slot.slot == 0 ? none_is_ready
                     : number_of_request(encode_request({slot.slot, peer_device, slot.serial}));
  store_relaxed_device(&launch.ready.place[call % ReadyRequests::most],
                       number | static_cast<unsigned long long>(call / ReadyRequests::most) << 32);
}
/// The same of a slot that it takes, if there is a free one.
GMPI_DEVICE void make_ready(LaunchState &launch, std::uint32_t call) {
  NewSlot slot{};
  if (launch.ready.reserved != 0 && !take_slot_at_once(context, reserve_of<Scope::grid>(), slot)) {
    const std::uint32_t found = try_acquire_slot(context);
    if (found != no_slot)
      slot = {found, context.records[found].serial};
  }
  put_ready(launch, call, slot);
}

/// Has requests ready for later calls, in place of those of the last `count` before number `next`:
/// from the reserve, whose count and slots, `spare` in each lane, have been loaded; or else as many
/// as are at hand. A warp, whole.
GMPI_DEVICE void refill_ready(LaunchState &launch, SlotReserve &reserve, std::uint32_t reserved,
                              const NewSlot &spare, std::uint32_t next, std::uint32_t count) {
  const std::uint32_t lane = lane_index();
  NewSlot slot{of_lane(spare.slot, reserved - 1 - lane),
               of_lane(spare.serial, reserved - 1 - lane)};
  GMPI_NO_UNROLL
  for (std::uint32_t i = reserved; i < count; ++i)
    if (lane == i && !take_slot_at_once(context, slot))
      slot.slot = 0;
  if (lane < count)
    put_ready(launch, next - count + lane + ReadyRequests::most, slot);
  if (lane == 0)
    reserve.count = reserved > count ? reserved - count : 0;
}
GMPI_DEVICE void refill_ready_as_warp(LaunchState &launch, const Series &series) {
  SlotReserve &reserve = reserve_of<Scope::grid>();
  const std::uint32_t reserved = reserve.count;
  const NewSlot spare = reserve.of[lane_index()];
  __syncwarp(); // all have looked at it
  refill_ready(launch, reserve, reserved, spare, series.next, series.count());
}
/// The same by one thread.
GMPI_DEVICE void refill_ready_alone(LaunchState &launch, const Series &series) {
  GMPI_NO_UNROLL
  for (std::uint32_t i = 0; i < series.count(); ++i)
    make_ready(launch, series.next - series.count() + i + ReadyRequests::most);
}

/// The request's number of call number `call`, or none_is_ready; which may be on its way.
GMPI_DEVICE std::uint32_t await_ready(const LaunchState &launch, std::uint32_t call) {
  unsigned long long found;
  GMPI_NO_UNROLL
  while ((found = load_relaxed_device(&launch.ready.place[call % ReadyRequests::most])) >> 32 !=
         call / ReadyRequests::most)
    relax();
  return static_cast<std::uint32_t>(found);
}

/// Meets the other blocks, one of which gets the launch requests for the next calls: the first
/// time, or where there were none. What has been left stays so.
GMPI_NOINLINE void fill_ready(BlockTeam team) {
  BlockState &block = BlockTeam::block();
  if (team.leads() && arrive(block) == GridCommand::lead) {
    LaunchState &launch = *block.launch;
    ReadyRequests &ready = launch.ready;
    if (ready.reserved == 0) {
      ready.reserved = ReadyRequests::most;
      if (atomicAdd(&context.slot_queue->reserved, ready.reserved) + ready.reserved >
          most_reserved) {
        atomicSub(&context.slot_queue->reserved, ready.reserved);
        ready.reserved = 0;
      }
    }
    const std::uint32_t next = block.series.next;
    GMPI_NO_UNROLL
    for (std::uint32_t i = 0; i < ReadyRequests::most - block.series.count(); ++i)
      if (await_ready(launch, next + i) == none_is_ready)
        make_ready(launch, next + i);
    command(block, GridCommand::done, arrivals(block));
  }
  __syncthreads();
}

// --- leaving a call ---

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

/// What series.ready says of call number `call` whose request has this number.
GMPI_DEVICE std::uint32_t ready_entry(std::uint32_t call, std::uint32_t number) {
  return number | call / (2 * Series::most) << 28;
}
/// Where.
GMPI_DEVICE std::uint32_t &ready_of(Series &series, std::uint32_t call) {
  return series.ready[call % (2 * Series::most)];
}
/// Has a request at hand, if there is one.
GMPI_DEVICE void keep_ready(Series &series, std::uint32_t call, std::uint32_t number) {
  if (number != none_is_ready)
    ready_of(series, call) = ready_entry(call, number);
}

// Of calls by way of the proxy (../../queue/left_device.hpp), those that only begin are left.

/// What is longer is not left. (What is sent goes with its Attribute; but six of 32 KiB each way
/// take as long one behind the other, where the host has something to do sooner.)
template <Function F>
constexpr unsigned long long most_queued = F == Function::Isend ? 16 * 1024 : most_left;
static_assert(most_queued<Function::Isend> <= inline_bytes);

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
  return !waits_itself<F> && known.extent != 0 && known.comm == comm &&
         known.datatype == message.datatype && message.has_tag() && message.rank >= 0 &&
         message.count >= 0 && place < Series::most &&
         (place == 0 || left.are_queued(series.first)) &&
         static_cast<std::uint64_t>(message.count) * known.extent <= most_queued<F>;
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

/// Has the requests for the next calls at hand, from call number `call` on, as far as they are
/// ready; that one is, or there is none. Returns its number, or none_is_ready. A warp; `whole`:
/// none of its threads is missing.
GMPI_DEVICE std::uint32_t look_up_ready(const LaunchState &launch, Series &series,
                                        std::uint32_t call, bool whole) {
  constexpr std::uint32_t most = ReadyRequests::most;
  static_assert(most == 32);
  if (!whole) {
    const std::uint32_t number = await_ready(launch, call);
    keep_ready(series, call, number);
    return number;
  }
  const std::uint32_t its = call + lane_index();
  unsigned long long found;
  bool shows;
  do {
    found = load_relaxed_device(&launch.ready.place[its % most]);
    shows = found >> 32 == its / most;
  } while ((__ballot_sync(whole_warp, shows) & 1) == 0);
  const auto number = static_cast<std::uint32_t>(found);
  if (shows)
    keep_ready(series, its, number);
  return of_lane(number, 0);
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
  const auto is_over = [&] {
    return goes_nowhere(F, a) && !returns_to_global<F>(a) && !(waits_itself<F> && wants_status(a));
  };
  constexpr auto nobody = [] { return number_of_request(null_peer_request()); };
  if (series.room == 0)
    return is_over() ? nobody() : is_not_to_be_left;
  const ItsMessage message = message_of<F>(a);
  const Source &known = block.sources[static_cast<std::uint32_t>(message.rank) % Source::most];
  const std::uint32_t thread = thread_index(), lane = thread % 32;
  Series::Left &left = series.left[thread / 32];
  const Series::Left before = left;
  const std::uint32_t call = before.next, first = series.first, place = call - first;
  std::uint32_t number = ready_of(series, call) ^ ready_entry(call, 0);
  // (All of it is looked at: each branch would wait for its own.)
  const bool is_known = is_source(known, a.comm, message.rank, message.datatype);
  const bool fits = may_come_behind<F>(before.waited_from(first), before.sent_from(first));
  const bool odd = is_odd<F>(a, message) | (F == Function::Recv && (!fits | wants_status(a))) |
                   (is_known & (message.bytes(known) > most_left));
  const bool can = is_known & message.has_tag() & (place < Series::most) & fits;
  const bool is_at_hand = number - 1 < (1u << 28) - 1; // neither none nor another call's
  const unsigned there = __ballot_sync(whole_warp, true);
  // (Another warp may be looking requests up: then some lanes have seen more than others.)
  const bool all_have_it = __ballot_sync(whole_warp, is_at_hand) == there;
  if (odd | !can | !all_have_it) {
    if (is_over())
      return nobody();
    if (odd)
      return is_not_to_be_left;
    if (can)
      number = look_up_ready(*block.launch, series, call, there == whole_warp);
    if (!can || number == none_is_ready)
      return cannot_be_left;
  }
  // Each lane writes it, and sees that at its next call.
  if constexpr (waits_itself<F>) {
    Series::Left now = before;
    now.next = call + 1;
    now.add_wait(first, place, F == Function::Send);
    left = now;
  } else {
    left.next = call + 1;
  }
  if ((there & ((1u << lane) - 1)) == 0 && series.next == call &&
      atomicCAS(&series.next, call, call + 1) == call) {
    note_call(series.call[place], known, message, number);
    series.site[place] = waits_itself<F> ? site : Site{};
  }
  return number;
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
  if (goes_nowhere(F, a) && !returns_to_global<F>(a))
    return number_of_request(null_peer_request());
  const ItsMessage message = message_of<F>(a);
  if (series.room == 0 || is_odd<F>(a, message))
    return is_not_to_be_left;
  const std::uint32_t thread = thread_index();
  Series::Left &left = series.left[thread / 32];
  const std::uint32_t call = left.next, place = call - series.first;
  if (!can_be_queued<F>(series, left, a.comm, message, place))
    return cannot_be_left;
  std::uint32_t number = ready_of(series, call) ^ ready_entry(call, 0);
  const unsigned there = __ballot_sync(whole_warp, true);
  const bool is_at_hand = number - 1 < (1u << 28) - 1;
  if (__ballot_sync(whole_warp, is_at_hand) != there)
    number = look_up_ready(*block.launch, series, call, there == whole_warp);
  if (number == none_is_ready)
    return cannot_be_left;
  left.next = call + 1;
  left.note_queued(series.first);
  if ((there & ((1u << thread % 32) - 1)) == 0 && series.next == call &&
      atomicCAS(&series.next, call, call + 1) == call)
    note_queued(series, place, site, message, number);
  return queued_number(number);
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

// --- making them ---

/// Posts a receive that has been left, into the ring while nothing is kept; else its message may be
/// among those, see share.place. One thread.
GMPI_DEVICE void post_left(State &state, const LeftCall &call, Share &share) {
  const Comm &comm = *call.comm;
  if (load_relaxed_device(&state.summary.kept) != 0)
    return begin_receive_in(state, comm, call.rank, call.tag, call.data, call.bytes, false,
                            call.slot, share);
  OwnOffer own;
  if (is_long(call))
    own.match = find_or_ask_for_offer(state, static_cast<unsigned char *>(call.data), call.bytes,
                                      own.offset);
  const PostNumber number = take_post_number(state, call.slot);
  describe_post(state, comm, call.rank, wanted_from(comm, call.rank, call.tag), call.data,
                call.bytes, own.match, own.offset, {call.slot, call.serial});
  post_into_ring(state, call.slot, number);
  share.place = nothing;
}

/// Nothing is left of a call but to wait for its request. One thread.
GMPI_DEVICE void note_made(State &state, LeftCall &call) {
  const Comm &comm = *call.comm;
  begin_use(state, call.slot, call.serial & 0xffff, call.sends, comm, comm.context, call.data,
            call.bytes);
  Request &request = state.requests[call.slot];
  request.peer = comm.peer_of[call.rank];
  request.rank = call.rank;
  request.tag = call.tag;
  request.header = header_of(comm, call.tag, call.sends ? call.bytes : call.carried, false);
  note_state(request, RequestState::done);
  call.over = true;
}

/// Sends, from call number series.made on, as far as the block's first warp can do it alone: it,
/// whole. Returns over; or how far the next has come, which all of the block are to go on with.
GMPI_DEVICE Begun send_left(State &state, Series &series, Share &share) {
  std::uint32_t i = series.made;
  Begun begun = Begun::over;
  GMPI_NO_UNROLL
  for (; i < series.count(); ++i) {
    LeftCall &call = series.call[i];
    if (!call.sends || call.over)
      continue;
    if (is_long(call)) {
      begun = announce_quickly(state, *call.comm, call.rank, call.tag, call.data, call.bytes, share,
                               call.slot);
      break;
    }
    begun = send_short<Scope::grid, false>(call.comm->handle, call.rank, call.tag, call.data,
                                           call.count, call.datatype, 0, Begun::sent);
    if (begun == Begun::nothing)
      begun = send_quickly<Scope::grid>(state, *call.comm, call.rank, call.tag, call.data,
                                        call.bytes, call.datatype, true, false, share, call.slot);
    if (begun != Begun::sent && begun != Begun::over)
      break;
    begun = Begun::over;
    if (lane_index() == 0)
      note_made(state, call);
    __syncwarp(); // the route is as the next needs it
  }
  __syncwarp();
  if (lane_index() == 0)
    series.made = i;
  return begun;
}

/// Where the messages that have been left to be sent go: lane by lane, in order.
struct Places {
  Route route;
  std::uint32_t route_index;
  unsigned long long first;
  std::uint32_t slots;
  unsigned same; ///< lanes whose messages take the same route
  bool sends, dense;
  bool has_room; ///< those slots are known to be free
  bool is_last;  ///< no later one takes the same route
  bool is_wide;  ///< it is long, and goes with its data
  WideUse use;   ///< of such a one
};

/// Finds tokens for long messages that can go with their data, to be carried by all blocks of the
/// grid: places.is_wide, and use. Returns whether this lane's could go so, but there is no token
/// for it. `sends`: whether it is to be sent. A warp, whole; its function calls none.
GMPI_DEVICE bool find_tokens(const State &state, const Series &series, bool sends, Places &places) {
  const std::uint32_t lane = lane_index();
  const LeftCall &call = series.call[lane];
  const bool may_be_wide = sends && is_long(call) && call.bytes <= wide_bytes &&
                           call.peer < state.near_peers && is_for_all(call.data, call.bytes) &&
                           can_carry_together(call.bytes);
  std::uint32_t used[wide_tokens] = {}, back[wide_tokens] = {};
  if (may_be_wide) {
    const std::uint32_t *const returned = token_at(state.acks, call.peer, 0);
    GMPI_UNROLL
    for (std::uint32_t i = 0; i < wide_tokens; ++i) {
      used[i] = load_relaxed_device(&state.wide_uses[call.peer][i]);
      back[i] = load_relaxed_system(returned + i);
    }
  }
  const unsigned same = __match_any_sync(whole_warp, may_be_wide ? call.peer : max_peers);
  std::uint32_t before = __popc(same & ((1u << lane) - 1)); // of that rank
  places.is_wide = false;
  places.use = {};
  GMPI_UNROLL
  for (std::uint32_t i = 0; i < wide_tokens; ++i)
    if (may_be_wide && used[i] == back[i] && before-- == 0) {
      places.is_wide = true;
      places.use = {i, WideUse::behind(used[i])};
    }
  return may_be_wide && !places.is_wide;
}

/// Whether this lane's call sends, and has not.
GMPI_DEVICE bool is_to_send(const Series &series) {
  const LeftCall &call = series.call[lane_index()];
  return lane_index() < series.count() && call.sends && !call.over;
}

/// Finds out, in the usual case: they take routes. Nothing has happened yet. Returns whether it is
/// so for this lane. `with_long`: some may be long; `sends`: whether this lane's is to be sent.
template <bool with_long>
GMPI_DEVICE bool find_places(const Series &series, bool sends, Places &places) {
  const std::uint32_t lane = lane_index();
  const LeftCall &call = series.call[lane];
  places.sends = sends;
  places.route_index =
      places.sends ? static_cast<std::uint32_t>(call.rank) % Routes::most : Routes::most;
  places.route = {};
  if (places.sends)
    places.route = load_route<Scope::grid>(places.route_index);
  const Route &route = places.route;
  const std::uint32_t bytes = places.sends ? call.bytes : 0;
  const bool announces = with_long && bytes > eager_bytes && !places.is_wide;
  const unsigned same = places.same = __match_any_sync(whole_warp, places.route_index);
  const unsigned sending = __ballot_sync(whole_warp, places.sends);
  const bool one_each = __all_sync(whole_warp, announces || bytes <= slot_bytes) != 0;
  // Slots of those that take the same route.
  unsigned long long before = one_each ? __popc(same & sending & ((1u << lane) - 1)) : 0;
  places.dense = false;
  places.slots = places.sends ? 1 : 0;
  GMPI_NO_UNROLL
  for (unsigned those = one_each ? 0 : sending; those != 0; those &= those - 1) {
    const std::uint32_t j =
        __ffs(static_cast<int>(those)) - 1; // (its own turn is the last to count)
    places.dense = !announces && may_be_dense(bytes, call.data, route, route.next + before);
    places.slots = announces ? 1 : static_cast<std::uint32_t>(slots_for(bytes, places.dense));
    const std::uint32_t its = of_lane(places.slots, j);
    if (j < lane && (same >> j & 1) != 0)
      before += its;
  }
  places.first = route.next + before;
  places.is_last = same >> lane == 1;
  places.has_room = !places.sends || places.first + places.slots <= route.free_until;
  return !places.sends || (leads_to(route, call.comm->handle, call.rank, call.tag, call.datatype) &&
                           (announces || (with_long && places.is_wide)
                                ? route.near != 0
                                : static_cast<std::uint32_t>(call.count) <= route.longest));
}

/// What a packet of such a message's header says.
GMPI_DEVICE std::uint64_t header_packet(const LeftCall &call, std::uint32_t packet) {
  return packet == 0 ? call.sent.head : packet == 1 ? call.sent.size : call.sent.after;
}

GMPI_DEVICE void write_header_packet(const LeftCall &call, std::uint32_t packet) {
  store_packet(packet_at(call.ring, call.first, packet), header_packet(call, packet),
               lap_of(call.first));
}

/// Writes one message whose place is known, of a packet at most. One thread.
GMPI_DEVICE void write_left(const LeftCall &call) {
  const std::uint64_t data =
      call.carried == 0 ? 0
                        : load_data(static_cast<const unsigned char *>(call.data), call.carried);
  GMPI_UNROLL
  for (std::uint32_t p = 0; p < header_packets; ++p)
    write_header_packet(call, p);
  if (call.carried != 0)
    store_packet(packet_at(call.ring, call.first, header_packets), data, lap_of(call.first));
}

/// Writes or reads one message whose place is known, as `rank` of `size` threads.
template <bool reads>
GMPI_DEVICE void carry_left(const LeftCall &call, std::uint32_t rank, std::uint32_t size) {
  if (!reads && rank < header_packets)
    write_header_packet(call, rank);
  auto *const data = static_cast<unsigned char *>(call.data);
  const SpanWindow window(call.ring, data, call.first, call.carried);
  if (call.dense) {
    carry_packets<true, reads>(window, rank, size, [] {});
  } else if (is_in_words(data, call.carried)) {
    carry_packets<false, reads>(window, rank, size, [] {});
  } else {
    carry_bytes<reads>(window, rank, window.packets(), size);
  }
}
/// The same of series.to_carry and to_share: all of a block, in whose number none is missing. They
/// have met when it returns.
template <bool reads> GMPI_NOINLINE void carry_all_left() {
  const Series &series = block_state().series;
  const std::uint32_t warp = thread_index() / 32, warps = block_threads() / 32;
  std::uint32_t turn = 0; // whose message it is
  GMPI_NO_UNROLL
  for (std::uint32_t those = series.to_carry; those != 0; those &= those - 1) {
    if (turn == warp)
      carry_left<reads>(series.call[__ffs(static_cast<int>(those)) - 1], lane_index(), 32);
    turn = turn + 1 == warps ? 0 : turn + 1;
  }
  GMPI_NO_UNROLL
  for (std::uint32_t those = series.to_share; those != 0; those &= those - 1)
    carry_left<reads>(series.call[__ffs(static_cast<int>(those)) - 1], thread_index(),
                      block_threads());
  __syncthreads();
}

/// What a block's first warp writes, or reads, by itself: so many messages at most, of which each
/// lane has so many packets. (To have the block's other warps do it takes some 4,000 cycles.)
constexpr std::uint32_t most_alone = 8, packets_alone = 16;

/// How many lanes then have one of so many messages: a power of two, by its logarithm.
GMPI_DEVICE std::uint32_t lanes_shift(std::uint32_t messages) {
  return messages <= 1 ? 5 : __clz(static_cast<int>(messages - 1)) - 27;
}
GMPI_DEVICE bool is_for_lanes(std::uint32_t bytes, std::uint32_t shift) {
  return bytes <= packets_alone * packet_bytes << shift;
}
/// Whether it may carry all that has been left, by length. The warp, whole.
GMPI_DEVICE bool may_carry_alone(const Series &series) {
  const std::uint32_t lane = lane_index(), count = series.count();
  const LeftCall &call = series.call[lane];
  const auto sent =
      static_cast<std::uint32_t>(__popc(__ballot_sync(whole_warp, lane < count && call.sends)));
  const std::uint32_t most = sent > count - sent ? sent : count - sent;
  return most <= most_alone &&
         __all_sync(whole_warp, lane >= count || is_for_lanes(call.bytes, lanes_shift(most)));
}

/// It carries the messages of `those` lanes, whose places are known, if it may: of each the data is
/// whole words of four bytes, at an address for eight. Returns whether it has. The warp, whole; it
/// calls no function.
template <bool reads> GMPI_DEVICE bool carry_alone(const Series &series, unsigned those) {
  constexpr std::uint32_t at_once = 4;
  const std::uint32_t lane = lane_index();
  const auto messages = static_cast<std::uint32_t>(__popc(those));
  const std::uint32_t shift = lanes_shift(messages), lanes = 1u << shift;
  const LeftCall &own = series.call[lane];
  const bool may =
      (those >> lane & 1) == 0 || (!own.dense && is_in_eights(own.data) && (own.carried & 3) == 0 &&
                                   is_for_lanes(own.carried, shift));
  if (messages > most_alone || !__all_sync(whole_warp, may))
    return false;
  __syncwarp(); // the lanes' places are there for the others
  const std::uint32_t number = lane >> shift, rank = lane & (lanes - 1);
  GMPI_NO_UNROLL
  for (std::uint32_t i = 0; i < number; ++i)
    those &= those - 1;
  if (those != 0) {
    const LeftCall &call = series.call[__ffs(static_cast<int>(those)) - 1];
    static_assert(32 / most_alone >= header_packets);
    if (!reads && rank < header_packets)
      write_header_packet(call, rank);
    const SpanWindow window(call.ring, static_cast<unsigned char *>(call.data), call.first,
                            call.carried);
    carry_span<reads, at_once, true>(window, rank, window.packets(), lanes, [] {});
  }
  __syncwarp();
  return true;
}

/// Of several messages, those that are no longer are a warp's each.
constexpr std::uint32_t most_by_one_warp = 8192;

/// Notes which of these messages a warp each is to carry, and which all of the block. A warp,
/// whole.
GMPI_DEVICE void note_to_carry(Series &series, bool carries, std::uint32_t bytes) {
  const unsigned by_warp = __ballot_sync(whole_warp, carries && bytes <= most_by_one_warp);
  const unsigned by_block = __ballot_sync(whole_warp, carries && bytes > most_by_one_warp);
  if (lane_index() == 0) {
    series.to_carry = by_warp;
    series.to_share = by_block;
  }
  __syncwarp();
}

/// Takes these places. A lane writes its message if that is no longer than a packet; the others are
/// to be carried, but for those that are announced: these are described. `order`: the sender's word
/// for both channels. `alone`: the warp carries them, if it may. Returns whether there are any to
/// be carried.
template <bool with_long, bool alone = false>
GMPI_DEVICE bool take_places(State &state, Series &series, const Places &places,
                             std::uint64_t order) {
  LeftCall &call = series.call[lane_index()];
  const bool announces = with_long && places.sends && is_long(call) && !places.is_wide;
  const std::uint32_t bytes = places.sends && !announces ? call.bytes : 0;
  if (places.sends) {
    increase_relaxed_device(places.route.order, places.slots * one_owned);
    count_call(state, call.bytes);
    if (places.is_last)
      note_next<Scope::grid>(places.route_index, places.first + places.slots);
    call.ring = places.route.out;
    call.first = places.first;
    call.carried = bytes;
    call.sent.head = head_of(call.tag, places.route.context) | (places.dense ? dense_bit : 0);
    call.sent.size = bytes;
    call.sent.after = common_of(order);
    call.dense = places.dense;
    if (with_long && places.is_wide) {
      call.sent.size |= std::uint64_t(places.use.serial()) << 48;
      store_relaxed_device(&state.wide_uses[call.peer][places.use.token], places.use.number);
      increase_relaxed_device(&state.wide, 1);
    }
    if (announces)
      describe_announced(state, call);
    else if (bytes <= packet_bytes)
      write_left(call);
  }
  const unsigned carried = __ballot_sync(whole_warp, bytes > packet_bytes);
  if (alone && (carried == 0 || carry_alone<false>(series, carried)))
    return false;
  note_to_carry(series, bytes > packet_bytes, bytes);
  return carried != 0;
}

/// Makes all calls that have been left, in the usual case: those that receive are posted, and those
/// that send have taken their places, and announced what is long. Returns over; or spanning, where
/// all of the block are to write series.to_carry; or nothing, and nothing has happened. The block's
/// first warp, whole; it calls no function.
template <bool with_long>
GMPI_DEVICE Begun make_left(State &state, Series &series, LaunchState &launch) {
  const std::uint32_t lane = lane_index(), count = series.count(), next = series.next;
  LeftCall &call = series.call[lane];
  const bool receives = lane < count && !call.sends && !call.over;
  PostRing &posts = state.posts;
  SlotReserve &reserve = launch.reserve;
  // All of this is under way together.
  const std::uint32_t kept = load_relaxed_device(&state.summary.kept);
  const std::uint32_t end = load_relaxed_device(&posts.next);
  const std::uint32_t begin = load_relaxed_device(&posts.first);
  const std::uint32_t reserved = reserve.count;
  const NewSlot spare = reserve.of[lane]; // which one, the count tells
  Places places;
  places.is_wide = false;
  bool usual = find_places<with_long>(series, is_to_send(series), places) && places.has_room;
  OwnOffer own;
  if (with_long && receives && is_long(call))
    usual = usual && own.find(state, call);
  // (Others may be posting, too; they are not so many.)
  usual = usual && (!receives || (kept == 0 && end - begin + 32 < PostRing::places));
  if (!__all_sync(whole_warp, usual))
    return Begun::nothing;
  const std::uint64_t order = places.sends ? load_relaxed_device(places.route.order) : 0;
  const unsigned receiving = __ballot_sync(whole_warp, receives);
  std::uint32_t number = 0;
  if (lane == 0 && receiving != 0) {
    increase_relaxed_device(&state.summary.posted, __popc(receiving));
    number = add_in_flight_device(&posts.next, __popc(receiving));
  }
  refill_ready(launch, reserve, reserved, spare, next, count);
  if (receives)
    describe_post(state, *call.comm, call.rank, wanted_from(*call.comm, call.rank, call.tag),
                  call.data, call.bytes, own.match, own.offset, {call.slot, call.serial});
  const bool carries = take_places<with_long>(state, series, places, order);
  const bool announces = with_long && places.sends && is_long(call);
  if (announces)
    count_active(state, call.slot);
  else if (places.sends)
    note_made(state, call);
  number = of_lane(number, 0) + static_cast<std::uint32_t>(__popc(receiving & ((1u << lane) - 1)));
  __syncwarp();
  release_device(); // who waits for what has been sent sees that, too, whenever it is told
  if (receives)
    show_post(posts, call.slot, number);
  if (announces) {
    atomicExch(&state.requests[call.slot].busy, 0u);
    announce_left(call);
  }
  if (lane == 0) {
    increase_relaxed_device(&state.left, count);
    series.end();
  }
  __syncwarp();
  return carries ? Begun::spanning : Begun::over;
}

/// The sum of what those of `lanes` have. A warp, whole.
GMPI_DEVICE std::uint32_t sum_of_lanes(std::uint32_t value, unsigned lanes) {
  std::uint32_t sum = 0;
  GMPI_NO_UNROLL
  for (unsigned those = __ballot_sync(whole_warp, value != 0); those != 0; those &= those - 1) {
    const std::uint32_t j = __ffs(static_cast<int>(those)) - 1, its = of_lane(value, j);
    sum += (lanes >> j & 1) != 0 ? its : 0;
  }
  return sum;
}

/// Has the grid's messages to whom it has left some take routes, with slots for all of these, and
/// for those of some series like this behind them: it takes longer to find that there are none than
/// to look at a few more. `sends`: whether this lane's is one of them. The first warp, whole.
GMPI_DEVICE void find_routes(State &state, const Series &series, bool sends) {
  constexpr std::uint32_t least = 256;
  const std::uint32_t lane = lane_index();
  const LeftCall &call = series.call[lane];
  const unsigned its = __match_any_sync(whole_warp, sends ? call.rank : -1); // lanes of its rank
  const bool dense = call.bytes >= least_dense && (call.bytes & 3) == 0 && is_in_eights(call.data);
  const auto own =
      static_cast<std::uint32_t>(!sends                    ? 0
                                 : call.bytes > wide_bytes ? 1
                                                           : slots_for(call.bytes, dense));
  const std::uint32_t slots = sum_of_lanes(own, its);
  GMPI_NO_UNROLL
  for (unsigned firsts = __ballot_sync(whole_warp, sends && (its & ((1u << lane) - 1)) == 0);
       firsts != 0; firsts &= firsts - 1) {
    const std::uint32_t i = __ffs(static_cast<int>(firsts)) - 1;
    const LeftCall &first = series.call[i];
    const std::uint32_t all = 2 * of_lane(slots, i);
    find_route<Scope::grid>(state, *first.comm, first.rank, first.datatype,
                            all < least ? least : all, lane);
    __syncwarp();
  }
}

/// The same, one message, by all of a block where some of its threads have left. Returns sending,
/// where it has to wait for slots, or sent; over, where there is none.
GMPI_DEVICE Begun send_left_together(BlockTeam team, Series &series, std::uint32_t count,
                                     const Share &share) {
  if (team.leads())
    while (series.made < count &&
           (!series.call[series.made].sends || series.call[series.made].over))
      ++series.made;
  team.sync();
  if (series.made == count)
    return Begun::over;
  const LeftCall &call = series.call[series.made];
  send(team, {Function::Isend, Scope::grid, {}}, *call.comm, call.rank, call.tag, call.data,
       call.bytes, true, false, call.slot);
  team.sync();
  return share.request == nothing ? Begun::sent : Begun::sending;
}

/// Begins the calls that have been left, one by one. It waits for nothing.
GMPI_NOINLINE void begin_one_by_one(BlockTeam team) {
  BlockState &block = BlockTeam::block();
  State &state = *context.peer;
  Series &series = block.series;
  Share &share = block.peer;
  const std::uint32_t count = series.count();
  if (team.leads())
    series.made = 0;
  team.sync();
  GMPI_NO_UNROLL
  for (std::uint32_t i = 0; i < count; ++i)
    if (const LeftCall &call = series.call[i]; !call.sends && !call.over) {
      if (team.leads())
        post_left(state, call, share);
      begin_to_receive(team, *call.comm, call.rank, call.tag, call.data, call.bytes, true, false);
      team.sync();
    }
  const bool by_warp = BlockTeam::has_warp();
  GMPI_NO_UNROLL
  for (;;) {
    Begun begun =
        by_warp ? tell_all(thread_index() < 32 ? send_left(state, series, share) : Begun::over)
                : send_left_together(team, series, count, share);
    if (begun == Begun::over)
      break;
    if (begun == Begun::spanning || begun == Begun::bundling) {
      begun == Begun::spanning ? write_span<Scope::grid, false>() : write_span<Scope::grid, true>();
      tell_of_span();
    } else if (begun == Begun::exchanging) {
      write_begun(share.step);
    }
    team.sync();
    if (team.leads()) {
      if (begun != Begun::sending)
        note_made(state, series.call[series.made]);
      ++series.made;
    }
    team.sync();
  }
}
/// Makes them so.
GMPI_DEVICE void make_one_by_one(BlockTeam team) {
  BlockState &block = BlockTeam::block();
  State &state = *context.peer;
  Series &series = block.series;
  const std::uint32_t count = series.count();
  begin_one_by_one(team);
  if (team.leads()) {
    refill_ready_alone(*block.launch, series);
    increase_relaxed_device(&state.left, count);
    series.end();
    release_device(); // who waits for what has been sent sees that, whenever it is told
  }
  team.sync();
}

template <bool with_long> GMPI_NOINLINE Begun make_left_as_warp() {
  BlockState &block = block_state();
  return make_left<with_long>(*context.peer, block.series, *block.launch);
}
GMPI_DEVICE Begun make_left_as_warp() {
  return has_long(block_state().series) ? make_left_as_warp<true>() : make_left_as_warp<false>();
}
GMPI_NOINLINE void find_routes_as_warp() {
  const Series &series = block_state().series;
  find_routes(*context.peer, series, is_to_send(series));
}

/// Makes the calls that have been left, for all blocks: they have met for the next one. All of the
/// block that makes that.
GMPI_NOINLINE void make_series(BlockTeam team) {
  if (BlockTeam::has_warp()) {
    Begun begun = Begun::over;
    if (thread_index() < 32) {
      begun = make_left_as_warp();
      if (begun == Begun::nothing) {
        find_routes_as_warp();
        begun = make_left_as_warp();
      }
    }
    begun = tell_all(begun);
    if (begun == Begun::spanning) {
      carry_all_left<false>();
      if (thread_index() == 0 && load_relaxed_device(&context.peer->summary.told) != 0)
        tell_progress(*context.peer);
    }
    if (begun != Begun::nothing)
      return;
  }
  make_one_by_one(team);
}

} // namespace gmpi::device::peer
