// Point-to-point calls on communicators whose messages kernels carry themselves.
//
// Invariant: whoever waits carries on whatever this rank has to do, its own and others'; so a rank
// that waits never keeps another from ending. Nobody holds a lock while others must do something,
// but for the rest of a message of at most eager_bytes that is being written.
//
// A team's leader decides, and tells the others in team.shared(): structs that each thread had for
// itself would be hundreds of bytes of local memory in every thread.
#pragma once

#include "../mpi/datatypes_device.hpp"
#include "../queue/call_result.hpp"
#include "../queue/team_device.hpp"
#include "matching_device.hpp"
#include "reduce_device.hpp"

namespace gmpi::device::peer {

/// The communicator's entry, where kernels carry its messages; null where MPI does.
GMPI_DEVICE Comm *find_comm(MPI_Comm comm) {
  State *state = context.peer;
  if (state == nullptr)
    return nullptr;
  if (comm == context.world)
    return context.peer_world;
  GMPI_NO_UNROLL
  for (std::uint32_t i = 0; i < state->comms_used; ++i)
    if (state->comms[i].handle == comm && state->comms[i].context != 0)
      return &state->comms[i];
  return nullptr;
}

/// A thread that makes its call alone.
struct Alone {
  static constexpr Scope scope = Scope::thread;
  Share *own;

  GMPI_DEVICE bool leads() const { return true; }
  GMPI_DEVICE Share &shared() const { return *own; }
  GMPI_DEVICE void sync() const {}
  GMPI_DEVICE void number(unsigned &rank, unsigned &size) const {
    rank = 0;
    size = 1;
  }
  GMPI_DEVICE void send(void *to, const void *from, unsigned long long bytes) const {
    copy_share(to, from, bytes, 0, 1);
  }
  GMPI_DEVICE void receive(void *to, unsigned long long offset, const void *from,
                           unsigned long long bytes, bool) const {
    copy_share(static_cast<unsigned char *>(to) + offset, from, bytes, 0, 1);
  }
};

/// Whether the team's first warp is whole, to do something as a warp.
GMPI_DEVICE bool acts_as_warp(const Alone &) { return false; }
GMPI_DEVICE bool acts_as_warp(const BlockTeam &) { return BlockTeam::has_warp(); }

/// team.receive(), or its part in a copy to where others read it; apart, so that whoever calls
/// needs no more registers for it.
template <class Team>
GMPI_NOINLINE void receive_from(Team team, void *to, unsigned long long offset, const void *from,
                                unsigned long long bytes, bool last) {
  team.receive(to, offset, from, bytes, last);
}
template <class Team>
GMPI_NOINLINE void send_to(Team team, void *to, const void *from, unsigned long long bytes) {
  team.send(to, from, bytes);
}

// --- the proxy's knowledge ---

/// Tells the proxy of a wait, once it is long: for its reports.
GMPI_OUT_OF_LINE void tell_of(State &state, Wait &wait) {
  Attribute attribute{};
  attribute.function = wait.call.function;
  attribute.scope = wait.call.scope;
  attribute.site = wait.call.site;
  attribute.launch = block_state().launch_index;
  attribute.peer = true;
  attribute.slot = wait.told = wait.request != nothing ? wait.request : acquire_slot(context);
  attribute.arguments.comm = wait.comm->handle;
  attribute.arguments.dest = attribute.arguments.source = attribute.arguments.root = wait.rank;
  attribute.arguments.send_tag = attribute.arguments.recv_tag = wait.tag;
  atomicAdd(&state.summary.told, 1u);
  post(context, attribute);
}
GMPI_OUT_OF_LINE void tell_end(State &state, Wait &wait) {
  tell(Function::carried, wait.call.scope, wait.call.site, wait.told);
  atomicSub(&state.summary.told, 1u);
  if (wait.told != wait.request)
    release_slot(context, wait.told);
}

/// While others of this rank have been waiting for long, the proxy hears now and then that the rank
/// goes on.
GMPI_OUT_OF_LINE void tell_progress(State &state) {
  constexpr unsigned long long between = 100000000;
  unsigned long long now = nanoseconds(), last = load_relaxed_device(&state.last_told);
  if (now - last > between && atomicCAS(&state.last_told, last, now) == last)
    tell(Function::progress, Scope::thread, {0, 0}, 0);
}

// --- waiting ---

/// Where rank `from` puts its packets of a round, in rank `to`'s memory.
GMPI_DEVICE std::uint64_t *round_of(const Comm &comm, std::uint32_t round, int to, int from) {
  std::uint32_t half = round % 2;
  return comm.rounds[to] + (std::size_t(half) * comm.size + from) * round_packets * packet_words;
}

/// Whether all other ranks have begun the round.
GMPI_DEVICE bool all_have_begun(const Comm &comm, std::uint32_t round) {
  bool all = true;
  GMPI_NO_UNROLL
  for (int rank = 0; rank < comm.size; ++rank)
    if (rank != comm.rank)
      all = all && Packet::load(round_of(comm, round, comm.rank, rank)).shows(round);
  return all;
}

GMPI_DEVICE bool has_come(State &state, const Wait &wait) {
  switch (wait.what) {
  case Wait::request_done:
    return state_of(state.requests[wait.request]) == RequestState::done;
  case Wait::slots:
    return are_free(state.peer[wait.peer].out_freed, wait.first, wait.until);
  default:
    return all_have_begun(*wait.comm, static_cast<std::uint32_t>(wait.until));
  }
}

/// Until what is waited for has come, or there is work to do for the whole team. One thread.
GMPI_OUT_OF_LINE Work await(State &state, Wait &wait) {
  GMPI_NO_UNROLL
  for (unsigned turns = 0;; ++turns) {
    if (has_come(state, wait)) {
      if (wait.told != nothing)
        unseen (&tell_end<>)(state, wait);
      return {WorkKind::over, 0};
    }
    Work work = look_for_work(state, wait.request);
    if (work.kind != WorkKind::none)
      return work;
    if (turns % 1024 == 1023 && wait.told == nothing && nanoseconds() - wait.since >= long_wait)
      unseen (&tell_of<>)(state, wait);
    relax();
  }
}

/// What is to be done next for a request that the caller holds.
GMPI_OUT_OF_LINE void begin_step(State &state, std::uint32_t index, unsigned long long at_most,
                                 Step &step) {
  constexpr int patience = 64; // looks, before a smaller step is made
  Request &request = state.requests[index];
  const Peer &peer = state.peer[request.peer];
  unsigned long long all = slots_of(request.header);
  step.kind = Step::none;
  step.check = false;
  step.low = request.moved;
  step.transfer.first = request.first;
  step.transfer.data = request.data;
  step.transfer.room = request.room;
  step.transfer.header = request.header;
  step.transfer.ring = peer.out;
  step.transfer.freed = peer.in_freed;
  switch (state_of(request)) {
  case RequestState::queued:
    step.high = all;
    if (are_free(peer.out_freed, request.first, request.first + all))
      step.kind = Step::write;
    return;
  case RequestState::awaiting_match: {
    Packet match = Packet::load(state.acks + index * packet_words);
    if (!match.shows(lap_of_serial(request.header.serial)))
      return;
    if (request.header.kind == MessageKind::synchronous) {
      step.kind = Step::over;
      return;
    }
    request.header.kind = MessageKind::data;
    request.header.tag = static_cast<std::int32_t>(match.data());
    request.first = take_slots(state, request.peer, slots_for(request.header.bytes));
    set_state(request, RequestState::sending);
    return;
  }
  case RequestState::sending:
    step.high = all - step.low < at_most ? all : step.low + at_most;
    step.transfer.freed = peer.out_freed;
    step.check = true;
    step.kind = Step::write;
    GMPI_NO_UNROLL
    for (int i = 0; i < patience && !is_free(peer.out_freed, request.first + step.high - 1); ++i)
      relax();
    return;
  case RequestState::receiving:
    // As much as is known to be on its way: the sender writes a message's slots in order, a step's
    // at once.
    step.transfer.ring = peer.in;
    step.high = all - step.low < at_most ? all : step.low + at_most;
    GMPI_NO_UNROLL
    for (int i = 0;
         i < patience && !has_message(state, request.peer, request.first + step.high - 1); ++i)
      relax();
    GMPI_NO_UNROLL
    for (unsigned long long some = at_most; some != 0; some = some > 8 ? some / 8 : some - 1) {
      step.high = all - step.low < some ? all : step.low + some;
      if (has_message(state, request.peer, request.first + step.high - 1)) {
        step.kind = Step::read;
        return;
      }
    }
    return;
  default:
    return;
  }
}

GMPI_OUT_OF_LINE void end_step(State &state, std::uint32_t index, const Step &step) {
  Request &request = state.requests[index];
  bool over = step.kind == Step::over;
  if (step.kind == Step::write || step.kind == Step::read) {
    if (state_of(request) == RequestState::queued && request.header.kind != MessageKind::eager) {
      set_state(request, RequestState::awaiting_match);
    } else {
      request.moved = step.high;
      over = step.high == slots_of(request.header);
    }
  }
  if (!over)
    return let_go(request);
  deactivate(state, index);
  set_state(request, RequestState::done); // from here on it may be another's
}

/// So many slots are worth another round of the whole grid; a step takes no more than half a
/// channel, so that both ends are at work.
constexpr unsigned long long shared_step_slots = 128;
constexpr unsigned long long block_step_slots = 256, grid_step_slots = channel_slots / 2;

/// Cuts a step down to those first slots that are free: all members look.
template <class Team> GMPI_NOINLINE void check_slots(Team team) {
  Share &shared = team.shared();
  const Step &step = shared.step;
  const unsigned long long first = step.transfer.first;
  unsigned rank = 0, size = 1;
  team.number(rank, size);
  if (team.leads())
    shared.limit = first + step.high;
  team.sync();
  GMPI_NO_UNROLL
  for (unsigned long long slot = first + step.low + rank; slot < first + step.high; slot += size)
    if (!is_free(step.transfer.freed, slot)) {
      if constexpr (Team::scope == Scope::thread)
        shared.limit = slot; // in local memory, where there are no atomics
      else
        atomicMin(&shared.limit, slot);
      break;
    }
  team.sync();
  if (team.leads()) {
    shared.step.high = shared.limit - first;
    if (shared.step.high == step.low)
      shared.step.kind = Step::none;
  }
  team.sync();
}

GMPI_OUT_OF_LINE void share_step(GridTeam team) { team.share_step(team.shared().step); }

/// Writes or reads what team.shared().step says, and gives back what was read. All members know the
/// step. Ends with the team's barrier, but for what is given back.
template <class Team> GMPI_DEVICE void do_step(const Team &team) {
  const Step &step = team.shared().step;
  unsigned rank = 0, size = 1;
  if (Team::scope != Scope::thread && is_local(step.transfer.data)) { // sent; the leader's
    if (team.leads())
      write_share(step.transfer, step.low, step.high, rank, size);
    return team.sync();
  }
  if constexpr (Team::scope == Scope::grid)
    if (step.high - step.low >= shared_step_slots && !team.alone())
      return unseen(&share_step<>)(team);
  team.number(rank, size);
  do_part(team, step, 0, step.high - step.low, rank, size);
}

/// Does what the leader has found.
template <class Team> GMPI_NOINLINE void do_work(Team team) {
  State &state = *context.peer;
  Share &shared = team.shared();
  if (team.leads()) {
    if (shared.work.kind == WorkKind::keep) {
      const Kept &kept = state.kept[shared.work.index];
      const Peer &peer = state.peer[kept.peer];
      shared.step = {Step::read,
                     false,
                     0,
                     slots_of(kept.header),
                     {peer.in, peer.in_freed, kept.first, kept_memory(state, shared.work.index),
                      kept.header.bytes, kept.header}};
    } else {
      unseen (&begin_step<>)(state, shared.work.index,
                             Team::scope == Scope::grid && BlockTeam::block().living_blocks > 1
                                 ? grid_step_slots
                                 : block_step_slots,
                             shared.step);
    }
  }
  team.sync();
  if (shared.step.check)
    unseen (&check_slots<Team>)(team);
  if (shared.step.kind == Step::write || shared.step.kind == Step::read)
    do_step(team);
  team.sync();
  if (team.leads()) {
    if (shared.work.kind == WorkKind::keep)
      end_keeping(state, shared.work.index);
    else
      end_step(state, shared.work.index, shared.step);
  }
  team.sync();
}

/// The team waits for what the leader has put into shared().wait, and works meanwhile.
template <class Team> GMPI_NOINLINE void wait_for(Team team) {
  Share &shared = team.shared();
  if (team.leads()) {
    shared.wait.since = nanoseconds();
    shared.wait.told = nothing;
  }
  for (;;) {
    if (team.leads())
      shared.work = unseen(&await<>)(*context.peer, shared.wait);
    team.sync();
    bool over = shared.work.kind == WorkKind::over;
    team.sync();
    if (over)
      return;
    unseen (&do_work<Team>)(team);
  }
}

// --- sending ---

/// A new request of this rank's; the caller fills the rest.
GMPI_DEVICE std::uint32_t new_request(State &state, bool sends, const Comm &comm, void *data,
                                      unsigned long long room) {
  std::uint32_t index = acquire_slot(context);
  Request &request = state.requests[index];
  request.busy = 1;
  request.comm = &comm;
  request.sends = sends;
  request.own = is_local(data) || is_shared(data);
  request.staging = nothing;
  request.data = static_cast<unsigned char *>(data);
  request.room = room;
  request.moved = 0;
  return index;
}

/// A send that does not end at once, in slots that are `free` or not.
GMPI_OUT_OF_LINE void begin_request(State &state, const Comm &comm, std::uint32_t peer, bool free,
                                    Share &shared) {
  Transfer &t = shared.step.transfer;
  shared.request = new_request(state, true, comm, t.data, t.room);
  Request &request = state.requests[shared.request];
  t.header.request = static_cast<std::uint16_t>(shared.request);
  t.header.serial = static_cast<std::uint16_t>(context.records[shared.request].serial);
  store_packet(state.acks + shared.request * packet_words, 0, 0);
  fence_device(); // whoever acknowledges comes after
  request.peer = peer;
  request.rank = comm.rank_of[peer];
  request.tag = t.header.tag;
  request.header = t.header;
  request.first = t.first;
  set_state(request, free ? RequestState::awaiting_match : RequestState::queued);
  activate(state, shared.request);
}

/// Slots that one thread has taken.
struct Taken {
  unsigned long long first;
  bool free;
};

/// Takes the slots of a message of `bytes`, and counts it.
GMPI_DEVICE Taken take(State &state, std::uint32_t peer, unsigned long long slots,
                       unsigned long long bytes) {
  // These need nothing of each other.
  std::uint32_t told = load_relaxed_device(&state.summary.told);
  unsigned long long free_until = load_relaxed_device(&state.sending[peer].free_until);
  unsigned long long first = take_slots(state, peer, slots);
  atomicAdd(&state.calls, 1ull);
  atomicAdd(&state.bytes, bytes);
  if (told != 0)
    tell_progress(state);
  return {first, first + slots <= free_until};
}

/// Says what the team does with them.
GMPI_OUT_OF_LINE void use_slots(State &state, const Comm &comm, std::uint32_t peer,
                                const Header &header, const void *data, Taken taken,
                                bool nonblocking, Share &shared) {
  Transfer &t = shared.step.transfer;
  shared.request = nothing;
  shared.step.low = 0;
  shared.step.high = slots_of(header);
  shared.step.kind = taken.free ? Step::write : Step::none;
  shared.waits = false;
  t.ring = state.peer[peer].out;
  t.data = static_cast<unsigned char *>(const_cast<void *>(data));
  t.room = header.bytes;
  t.header = header;
  t.first = taken.first;
  // What lies in local memory is sent, or at least on its way, when the call returns.
  if (header.kind == MessageKind::eager && (taken.free || !nonblocking || is_local(data)))
    shared.waits = !taken.free;
  else
    unseen (&begin_request<>)(state, comm, peer, taken.free, shared);
}

GMPI_DEVICE Header header_of(const Comm &comm, int tag, unsigned long long bytes,
                             bool synchronous) {
  MessageKind kind = bytes > eager_bytes ? MessageKind::announced
                     : synchronous       ? MessageKind::synchronous
                                         : MessageKind::eager;
  return {kind, comm.context, 0, 0, tag, bytes};
}

/// One thread takes the message's slots and says what its team does at once.
GMPI_OUT_OF_LINE void begin_send(State &state, const Comm &comm, int dest, int tag,
                                 const void *data, unsigned long long bytes, bool synchronous,
                                 bool nonblocking, Share &shared) {
  Header header = header_of(comm, tag, bytes, synchronous);
  std::uint32_t peer = comm.peer_of[dest];
  unsigned long long slots = slots_of(header);
  Taken taken = take(state, peer, slots, bytes);
  const std::uint32_t *freed = state.peer[peer].out_freed;
  const unsigned long long end = taken.first + slots;
  shared.step.check = false;
  if (!taken.free) {
    if (slots <= 8)
      taken.free = find_free(state, peer, end);
    else if (header.kind == MessageKind::eager && !nonblocking)
      taken.free = shared.step.check = true; // all members look
    else
      taken.free = are_free(freed, taken.first, end);
  }
  shared.step.transfer.freed = state.peer[peer].out_freed;
  use_slots(state, comm, peer, header, data, taken, nonblocking, shared);
}

/// A message that a warp writes at once: a packet each.
constexpr unsigned long long warp_bytes = (32 - header_packets) * packet_bytes;
constexpr unsigned whole_warp = 0xffffffffu;

/// Sends such a message, as a block's first warp, whole. `shared` says what is left to do, if
/// anything.
GMPI_OUT_OF_LINE void send_as_warp(State &state, const Comm &comm, int dest, int tag,
                                   const void *data, unsigned long long bytes, bool nonblocking,
                                   Share &shared) {
  std::uint32_t lane = thread_index(), peer = comm.peer_of[dest];
  Header header = header_of(comm, tag, bytes, false);
  auto *from = static_cast<const unsigned char *>(data);
  unsigned long long at = (lane - header_packets) * packet_bytes;
  std::uint64_t value = 0;
  if (lane < header_packets) {
    value = pack_header(header, lane);
  } else if (is_local(data)) { // the leader's
    at = bytes;
  } else if (at < bytes) {
    value = load_data(from + at, bytes - at);
  }
  Taken taken{};
  if (lane == 0)
    taken = take(state, peer, 1, bytes);
  if (is_local(data))
    for (std::uint32_t packet = header_packets; packet < packets_for(bytes); ++packet) {
      std::uint64_t its = 0;
      unsigned long long there = (packet - header_packets) * packet_bytes;
      if (lane == 0)
        its = load_data(from + there, bytes - there);
      its = __shfl_sync(whole_warp, its, 0);
      if (lane == packet)
        value = its;
    }
  unsigned long long first = __shfl_sync(whole_warp, taken.first, 0);
  if (__shfl_sync(whole_warp, int(taken.free), 0) == 0 &&
      !find_free_as_warp(state, peer, first + 1, lane)) {
    if (lane == 0) {
      shared.step.check = false;
      use_slots(state, comm, peer, header, data, taken, nonblocking, shared);
    }
    return;
  }
  if (lane < packets_for(bytes))
    store_packet(packet_at(state.peer[peer].out, first, lane), value, lap_of(first));
  if (lane == 0) {
    shared.request = nothing;
    shared.step.check = false;
    shared.step.kind = Step::over;
    shared.waits = false;
  }
}

/// All of a message's slots are free, or it has to wait for them.
template <class Team> GMPI_NOINLINE void check_message_slots(Team team) {
  Share &shared = team.shared();
  const unsigned long long all = shared.step.high;
  check_slots(team);
  if (team.leads()) {
    shared.waits = shared.step.high != all;
    shared.step.high = all;
    if (shared.waits)
      shared.step.kind = Step::none;
  }
  team.sync();
}

template <class Team>
GMPI_NOINLINE void await_slots(Team team, Call call, const Comm &comm, int dest, int tag) {
  Share &shared = team.shared();
  Transfer sent{}; // work for others uses the same place
  unsigned long long high = shared.step.high;
  if (team.leads()) {
    sent = shared.step.transfer;
    shared.wait = {
        Wait::slots, call, &comm, nothing, comm.peer_of[dest], sent.first, sent.first + high,
        dest,        tag,  0,     nothing};
  }
  unseen (&wait_for<Team>)(team);
  if (team.leads())
    shared.step = {Step::write, false, 0, high, sent};
  team.sync();
}

/// Sends, or begins to. Leaves the request that is yet to be waited for in shared().request.
template <class Team>
GMPI_DEVICE void send(const Team &team, Call call, const Comm &comm, int dest, int tag,
                      const void *data, unsigned long long bytes, bool nonblocking) {
  Share &shared = team.shared();
  if (acts_as_warp(team) && bytes <= warp_bytes && call.function != Function::Ssend) {
    if (thread_index() < 32)
      unseen (&send_as_warp<>)(*context.peer, comm, dest, tag, data, bytes, nonblocking, shared);
  } else if (team.leads())
    unseen (&begin_send<>)(*context.peer, comm, dest, tag, data, bytes,
                           call.function == Function::Ssend, nonblocking, shared);
  team.sync();
  if (shared.step.check)
    unseen (&check_message_slots<Team>)(team);
  if (shared.waits)
    unseen (&await_slots<Team>)(team, call, comm, dest, tag);
  if (shared.step.kind == Step::write)
    do_step(team);
}

// --- receiving ---

/// The result of a receive whose message is known. The leader calls it.
GMPI_DEVICE void note_message(Share &shared, int source, const Header &header, int tag,
                              unsigned long long room) {
  shared.result = nothing_received();
  shared.result.source = source;
  shared.result.tag = tag;
  shared.result.bytes = header.bytes < room ? header.bytes : room;
  shared.truncated = header.bytes > room;
}

/// A message that is there before its receive has been posted, or comes while one thread looks for
/// it alone. Fails where others have something to say.
GMPI_OUT_OF_LINE void receive_at_once(State &state, const Comm &comm, int source, int tag,
                                      unsigned char *data, unsigned long long room, Share &shared) {
  std::uint32_t peer = comm.peer_of[source];
  Line &line = state.receiving[peer];
  Step &step = shared.step;
  step.kind = Step::none;
  unsigned long long next = load_relaxed_device(&line.next);
  if (!try_lock_channel(state, peer, next))
    return;
  const std::uint64_t *from = packet_at(state.peer[peer].in, next, 0);
  std::uint32_t lap = lap_of(next);
  unsigned long long start = 0;
  GMPI_NO_UNROLL
  for (unsigned turns = 0;; ++turns) {
    Summary summary = look(state);
    Packet first = Packet::load(from), second = Packet::load(from + packet_words);
    Packet third = Packet::load(from + 2 * packet_words);
    if ((summary.posted | summary.kept | summary.active | summary.told) != 0)
      break;
    if (first.shows(lap) && second.shows(lap)) {
      Header header = unpack_header(first.data(), second.data());
      bool ours = header.context == comm.context && (tag == MPI_ANY_TAG || tag == header.tag) &&
                  (header.kind == MessageKind::eager || header.kind == MessageKind::synchronous);
      if (!ours)
        break;
      unsigned long long slots = slots_of(header);
      store_relaxed_device(&line.next, next + slots);
      if (header.kind == MessageKind::synchronous)
        acknowledge(state, peer, header, 0);
      note_message(shared, source, header, header.tag, room);
      step.kind = Step::read;
      step.low = 0;
      step.high = slots;
      step.transfer = {state.peer[peer].in, state.peer[peer].in_freed, next, data, room, header};
      if (header.bytes <= packet_bytes) { // it need not be looked for again
        if (header.bytes != 0) {
          std::uint64_t value =
              third.shows(lap) ? third.data() : await_packet(from + 2 * packet_words, lap);
          store_data(data, header.bytes < room ? header.bytes : room, value);
        }
        free_share(state.peer[peer].in_freed, next, next + 1, 0, 1);
        step.kind = Step::over;
      }
      return;
    }
    if (turns % 1024 == 1023) {
      unsigned long long now = nanoseconds();
      if (start == 0)
        start = now;
      if (now - start >= long_wait)
        break;
    }
    relax();
  }
  store_relaxed_device(&line.next, next);
}

/// The same as a block's first warp, whole: a lane looks for a packet.
GMPI_OUT_OF_LINE void receive_at_once_as_warp(State &state, const Comm &comm, int source, int tag,
                                              unsigned char *data, unsigned long long room,
                                              Share &shared) {
  std::uint32_t lane = thread_index(), peer = comm.peer_of[source];
  Line &line = state.receiving[peer];
  std::uint64_t *ring = state.peer[peer].in;
  std::uint32_t *freed = state.peer[peer].in_freed;
  unsigned long long next = locked;
  if (lane == 0) {
    shared.step.kind = Step::none;
    unsigned long long found = load_relaxed_device(&line.next);
    if (try_lock_channel(state, peer, found))
      next = found;
  }
  next = __shfl_sync(whole_warp, next, 0);
  if (next == locked)
    return;
  const std::uint64_t *from = packet_at(ring, next, lane);
  std::uint32_t lap = lap_of(next);
  unsigned long long start = 0;
  Packet packet{};
  Header header{};
  GMPI_NO_UNROLL
  for (unsigned turns = 0;; ++turns) {
    Summary summary{};
    if (lane == 0)
      summary = look(state);
    packet = Packet::load(from);
    unsigned arrived = __ballot_sync(whole_warp, packet.shows(lap));
    bool stop = (summary.posted | summary.kept | summary.active | summary.told) != 0;
    if (lane == 0 && turns % 1024 == 1023) {
      unsigned long long now = nanoseconds();
      start = start == 0 ? now : start;
      stop = stop || now - start >= long_wait;
    }
    bool header_there = (arrived & 3) == 3;
    if (header_there) {
      header = unpack_header(__shfl_sync(whole_warp, packet.data(), 0),
                             __shfl_sync(whole_warp, packet.data(), 1));
      bool ours = header.context == comm.context && (tag == MPI_ANY_TAG || tag == header.tag) &&
                  (header.kind == MessageKind::eager || header.kind == MessageKind::synchronous);
      unsigned wanted = header.bytes < warp_bytes
                            ? whole_warp >> (32 - static_cast<unsigned>(packets_for(header.bytes)))
                            : whole_warp;
      stop = stop || !ours;
      if (__shfl_sync(whole_warp, int(stop), 0) == 0 && (arrived & wanted) == wanted)
        break;
    }
    if (__shfl_sync(whole_warp, int(stop), 0) != 0) {
      if (lane == 0)
        store_relaxed_device(&line.next, next);
      return;
    }
    if (lane == 0)
      relax();
  }
  if (lane == 0) {
    unsigned long long slots = slots_of(header);
    store_relaxed_device(&line.next, next + slots);
    if (header.kind == MessageKind::synchronous)
      acknowledge(state, peer, header, 0);
    note_message(shared, source, header, header.tag, room);
    shared.step = {header.bytes <= warp_bytes ? Step::over : Step::read,
                   false,
                   0,
                   slots,
                   {ring, freed, next, data, room, header}};
    if (header.bytes <= warp_bytes)
      free_share(freed, next, next + 1, 0, 1);
  }
  unsigned long long at = (lane - header_packets) * packet_bytes;
  unsigned long long end = header.bytes < room ? header.bytes : room;
  if (header.bytes <= warp_bytes && lane >= header_packets && at < end)
    store_data(data + at, end - at, packet.data());
}

/// Posts a receive, or finds its message among those kept. One thread. `room` bytes at `data`.
GMPI_OUT_OF_LINE void begin_receive(State &state, const Comm &comm, int source, int tag, void *data,
                                    unsigned long long room, bool needs_staging, Share &shared) {
  std::uint32_t index = shared.request = new_request(state, false, comm, data, room);
  shared.place = nothing;
  Request &request = state.requests[index];
  request.peer = source == MPI_ANY_SOURCE ? any_source : comm.peer_of[source];
  request.rank = source;
  request.tag = tag;
  if (needs_staging) {
    request.own = 0;
    GMPI_NO_UNROLL
    for (;;) { // those that are in use are other calls', which end
      lock(state);
      request.staging = take_place(state, eager_bytes);
      if (request.staging != nothing)
        break;
      unlock(state);
      pause();
    }
    request.data = kept_memory(state, request.staging);
  } else {
    lock(state);
  }
  std::uint32_t place = state.first_kept == nothing ? nothing : take_kept(state, request);
  if (place == nothing) {
    set_state(request, RequestState::posted);
    atomicAdd(&state.summary.posted, 1u);
    append_posted(state, index);
    return unlock(state);
  }
  const Kept &kept = state.kept[place];
  const Header header = kept.header;
  const std::uint32_t from = kept.peer;
  atomicSub(&state.summary.kept, 1u);
  if (header.kind == MessageKind::announced) {
    give_place(state, place);
    atomicAdd(&state.summary.posted, 1u);
    give_message(state, index, header, from, kept.first);
  } else {
    request.peer = from;
    request.header = header;
    set_state(request, RequestState::done);
    if (header.kind == MessageKind::synchronous)
      acknowledge(state, from, header, index);
    shared.place = place;
  }
  unlock(state);
}

/// Begins a receive, and leaves its request in shared().request. A message that had been kept is
/// copied now.
template <class Team>
GMPI_NOINLINE void begin_to_receive(Team team, const Comm &comm, int source, int tag, void *data,
                                    unsigned long long room) {
  State &state = *context.peer;
  Share &shared = team.shared();
  bool staged = Team::scope != Scope::thread && is_local(data);
  if (team.leads())
    unseen (&begin_receive<>)(state, comm, source, tag, data, room, staged, shared);
  team.sync();
  if (shared.place == nothing)
    return;
  unsigned long long bytes = state.kept[shared.place].header.bytes;
  unseen (&receive_from<Team>)(team, data, 0, kept_memory(state, shared.place),
                               bytes < room ? bytes : room, true);
  team.sync();
  if (team.leads()) {
    Request &request = state.requests[shared.request];
    lock(state);
    give_place(state, shared.place);
    if (staged) { // nothing lies there
      give_place(state, request.staging);
      request.staging = nothing;
    }
    unlock(state);
  }
}

/// The communicator's error handler decides on a message that is longer than the receive's buffer.
template <class Team> GMPI_NOINLINE int refuse_truncated(Team team, Call call, MPI_Comm comm);

template <class Team> GMPI_NOINLINE void judge_length(Team team, Call call, MPI_Comm comm) {
  int error = unseen(&refuse_truncated<Team>)(team, call, comm);
  team.sync();
  if (team.leads())
    team.shared().result.error = error;
  team.sync();
}

/// What the end of a request means, and gives the request back. The team has waited for it.
template <class Team>
GMPI_NOINLINE void end_request(Team team, Call call, std::uint32_t index, void *data) {
  State &state = *context.peer;
  Share &shared = team.shared();
  Request &request = state.requests[index];
  if (team.leads()) {
    acquire_device();
    shared.place = nothing;
    shared.truncated = false;
    if (request.sends) {
      shared.result = nothing_received();
    } else {
      note_message(shared, request.comm->rank_of[request.peer], request.header, request.header.tag,
                   request.room);
      shared.place = request.staging;
    }
  }
  team.sync();
  if (shared.place != nothing)
    unseen (&receive_from<Team>)(team, data, 0, kept_memory(state, shared.place),
                                 shared.result.bytes, true);
  MPI_Comm comm = request.comm->handle;
  team.sync();
  if (team.leads()) {
    if (shared.place != nothing) {
      lock(state);
      give_place(state, shared.place);
      unlock(state);
    }
    release_slot(context, index);
    if (look(state).told != 0)
      tell_progress(state);
  }
  if (shared.truncated)
    unseen (&judge_length<Team>)(team, call, comm);
}

/// Until the request is done.
template <class Team>
GMPI_NOINLINE void finish_request(Team team, Call call, const Comm &comm, std::uint32_t index,
                                  int rank, int tag, void *data) {
  if (team.leads())
    team.shared().wait = {Wait::request_done, call, &comm, index, 0, 0, 0, rank, tag, 0, nothing};
  unseen (&wait_for<Team>)(team);
  unseen (&end_request<Team>)(team, call, index, data);
}

/// Posts a receive, and waits for it.
template <class Team>
GMPI_NOINLINE void post_and_wait(Team team, Call call, const Comm &comm, int source, int tag,
                                 void *data, unsigned long long room) {
  team.sync();
  unseen (&begin_to_receive<Team>)(team, comm, source, tag, data, room);
  std::uint32_t index = team.shared().request;
  team.sync();
  unseen (&finish_request<Team>)(team, call, comm, index, source, tag, data);
}

/// Leaves what the call returns in shared().result.
template <class Team>
GMPI_DEVICE void receive(const Team &team, Call call, const Comm &comm, int source, int tag,
                         void *data, unsigned long long room) {
  Share &shared = team.shared();
  // In a block's shared memory there is room for so much that goes to each thread's local memory.
  bool local = Team::scope != Scope::thread && is_local(data);
  bool at_once = source != MPI_ANY_SOURCE && (!local || room <= reply_data_bytes);
  if (at_once) {
    auto *to = local ? block_state().small : static_cast<unsigned char *>(data);
    if (acts_as_warp(team)) {
      if (thread_index() < 32)
        unseen (&receive_at_once_as_warp<>)(*context.peer, comm, source, tag, to, room, shared);
    } else if (team.leads())
      unseen (&receive_at_once<>)(*context.peer, comm, source, tag, to, room, shared);
    team.sync();
  }
  if (!at_once || shared.step.kind == Step::none)
    return unseen(&post_and_wait<Team>)(team, call, comm, source, tag, data, room);
  if (shared.step.kind == Step::read)
    do_step(team);
  if (local)
    unseen (&receive_from<Team>)(team, data, 0, block_state().small, shared.result.bytes, true);
  if (shared.truncated)
    unseen (&judge_length<Team>)(team, call, comm.handle);
}

// --- MPI's calls ---

/// Waits for a request that a kernel has made on such a communicator, or looks at it once: then
/// shared().result.flag tells whether it is done.
template <class Team>
GMPI_NOINLINE void complete(Team team, Call call, std::uint32_t index, bool wait) {
  State &state = *context.peer;
  Share &shared = team.shared();
  const Request &request = state.requests[index];
  if (!wait) {
    if (team.leads()) {
      shared.work = look_for_work(state, index);
      if (shared.work.kind == WorkKind::none && state_of(request) == RequestState::done)
        shared.work.kind = WorkKind::over;
    }
    team.sync();
    WorkKind found = shared.work.kind;
    team.sync();
    if (found != WorkKind::over) {
      if (found != WorkKind::none)
        unseen (&do_work<Team>)(team);
      if (team.leads())
        shared.result = CallResult{};
      relax(); // a program asks again and again
      team.sync();
      return;
    }
  }
  acquire_device();
  const Comm &comm = *request.comm;
  int rank = request.rank, tag = request.tag;
  void *data = request.data;
  call.function = request.sends ? Function::Isend : Function::Irecv;
  team.sync();
  unseen (&finish_request<Team>)(team, call, comm, index, rank, tag, data);
}

/// The team as it is here.
GMPI_DEVICE Alone in_peer(const ThreadTeam &, Share *own) { return {own}; }
GMPI_DEVICE BlockTeam in_peer(const BlockTeam &team, Share *) { return {team.leader}; }
GMPI_DEVICE GridTeam in_peer(const GridTeam &team, Share *) { return team; }
GMPI_DEVICE ThreadTeam in_queue(const Alone &) { return {}; }
GMPI_DEVICE BlockTeam in_queue(const BlockTeam &team) { return {team.leader}; }
GMPI_DEVICE GridTeam in_queue(const GridTeam &team) { return team; }
template <class Team> struct OwnShare {
  GMPI_DEVICE Share *get() { return nullptr; }
};
template <> struct OwnShare<ThreadTeam> {
  Share share;
  GMPI_DEVICE Share *get() { return &share; }
};

/// Whether the arguments are such that no error of MPI's is to be expected; the proxy's way finds
/// the others.
GMPI_DEVICE bool sends_well(const Comm &comm, const Arguments &a) {
  return a.send_count >= 0 && a.send_tag >= 0 && a.send_tag <= context.tag_upper_bound &&
         a.dest >= 0 && a.dest < comm.size &&
         message_bytes(a.send_count, a.send_datatype) != unknown_bytes;
}
GMPI_DEVICE bool receives_well(const Comm &comm, const Arguments &a) {
  return a.recv_count >= 0 && (a.recv_tag >= 0 || a.recv_tag == MPI_ANY_TAG) &&
         ((a.source >= 0 && a.source < comm.size) || a.source == MPI_ANY_SOURCE) &&
         message_bytes(a.recv_count, a.recv_datatype) != unknown_bytes;
}

/// Whether kernels carry this call out themselves. The same on all ranks, but for wrong arguments.
template <Function F> GMPI_DEVICE bool takes(const Arguments &a) {
  const Comm *found = find_comm(a.comm);
  if (found == nullptr)
    return false;
  const Comm &comm = *found;
  if constexpr (F == Function::Send || F == Function::Ssend || F == Function::Isend) {
    return sends_well(comm, a);
  } else if constexpr (F == Function::Recv || F == Function::Irecv) {
    return receives_well(comm, a);
  } else if constexpr (F == Function::Sendrecv) {
    return (a.dest == MPI_PROC_NULL || sends_well(comm, a)) &&
           (a.source == MPI_PROC_NULL || receives_well(comm, a));
  } else if constexpr (F == Function::Barrier) {
    return true;
  } else {
    if (a.count < 0 || message_bytes(a.count, a.datatype) == unknown_bytes)
      return false;
    if constexpr (F == Function::Bcast || F == Function::Reduce)
      if (a.root < 0 || a.root >= comm.size)
        return false;
    if constexpr (F == Function::Reduce || F == Function::Allreduce)
      return can_reduce(a.op, a.datatype);
    return F == Function::Bcast;
  }
}

template <class Team>
GMPI_NOINLINE void collective(Team team, Call call, Comm &comm, const void *in, void *out,
                              std::uint64_t bytes, int root, Reduction reduction, Number datatype);

GMPI_DEVICE MPI_Request request_for(std::uint32_t index) {
  return index == nothing ? null_peer_request()
                          : encode_request({index, peer_device, context.records[index].serial});
}

/// MPI_Sendrecv of which both halves are real. (The others are sends, or receives.)
template <class Team>
GMPI_NOINLINE void exchange_messages(Team team, Call call, const Comm &comm, int dest, int send_tag,
                                     const void *in, unsigned long long in_bytes, int source,
                                     int recv_tag, void *out, unsigned long long room) {
  send(team, call, comm, dest, send_tag, in, in_bytes, true);
  Share &shared = team.shared();
  team.sync();
  std::uint32_t sending = shared.request;
  team.sync();
  receive(team, call, comm, source, recv_tag, out, room);
  if (sending == nothing)
    return;
  team.sync();
  CallResult result = shared.result;
  team.sync();
  unseen (&finish_request<Team>)(team, call, comm, sending, dest, send_tag, nullptr);
  team.sync();
  if (team.leads())
    shared.result = result;
  team.sync();
}

/// Waits for a send that has only begun.
template <class Team>
GMPI_NOINLINE void finish_send(Team team, Call call, const Comm &comm, int dest, int tag) {
  team.sync();
  std::uint32_t sending = team.shared().request;
  team.sync();
  unseen (&finish_request<Team>)(team, call, comm, sending, dest, tag, nullptr);
}

/// Carries a call out of which takes() is true.
template <Function F, class CallerTeam>
GMPI_DEVICE CallResult communicate(const CallerTeam &caller, Site site, const Arguments &a,
                                   const Buffers &buffers, Comm &comm) {
  OwnShare<CallerTeam> own;
  const auto team = in_peer(caller, own.get());
  using Team = std::remove_const_t<decltype(team)>;
  const Call call{F, Team::scope, site};
  if constexpr (kind_of(F) == Kind::collective) {
    constexpr bool rooted = F == Function::Bcast || F == Function::Reduce;
    constexpr bool reduces = F == Function::Reduce || F == Function::Allreduce;
    Reduction reduction = Reduction::none;
    Number datatype = Number::none;
    if constexpr (reduces) {
      reduction = reduction_of(a.op);
      datatype = number_of(a.datatype);
    }
    unseen (&collective<Team>)(team, call, comm, buffers.in, buffers.out, buffers.in_bytes,
                               rooted ? a.root : -1, reduction, datatype);
    return nothing_received();
  } else if constexpr (F == Function::Recv) {
    receive(team, call, comm, a.source, a.recv_tag, buffers.out, buffers.out_bytes);
    return team.shared().result;
  } else if constexpr (F == Function::Irecv) {
    unseen (&begin_to_receive<Team>)(team, comm, a.source, a.recv_tag, buffers.out,
                                     buffers.out_bytes);
    CallResult result{};
    result.request = request_for(team.shared().request);
    return result;
  } else if constexpr (F == Function::Sendrecv) {
    if (a.dest == MPI_PROC_NULL) {
      if (a.source == MPI_PROC_NULL)
        return nothing_received();
      receive(team, call, comm, a.source, a.recv_tag, buffers.out, buffers.out_bytes);
      return team.shared().result;
    }
    if (a.source != MPI_PROC_NULL) {
      unseen (&exchange_messages<Team>)(team, call, comm, a.dest, a.send_tag, buffers.in,
                                        buffers.in_bytes, a.source, a.recv_tag, buffers.out,
                                        buffers.out_bytes);
      return team.shared().result;
    }
    send(team, call, comm, a.dest, a.send_tag, buffers.in, buffers.in_bytes, false);
    if (team.shared().request != nothing)
      unseen (&finish_send<Team>)(team, call, comm, a.dest, a.send_tag);
    return nothing_received();
  } else {
    constexpr bool nonblocking = F == Function::Isend;
    send(team, call, comm, a.dest, a.send_tag, buffers.in, buffers.in_bytes, nonblocking);
    CallResult result = nothing_received();
    bool pending = team.shared().request != nothing;
    if (pending && (!nonblocking || is_local(buffers.in))) {
      unseen (&finish_send<Team>)(team, call, comm, a.dest, a.send_tag);
      pending = false;
    }
    if constexpr (nonblocking)
      result.request = pending ? request_for(team.shared().request) : null_peer_request();
    return result;
  }
}

} // namespace gmpi::device::peer
