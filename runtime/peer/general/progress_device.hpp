// What is to be done for a rank's messages besides the calls that have begun them: requests are
// carried on in steps, by whoever waits for something.
//
// Invariant: whoever waits carries on whatever this rank has to do, its own and others'; so a rank
// that waits never keeps another from ending. Nobody holds a lock while others must do something,
// but for the rest of what is being written.
//
// A team's leader decides, and tells the others in team.shared(): structs that each thread had for
// itself would be hundreds of bytes of local memory in every thread.
#pragma once

#include "../../queue/team_device.hpp"
#include "../channel/offers_device.hpp"
#include "../channel/portions_device.hpp"
#include "../matching/matching_device.hpp"

namespace gmpi::device::peer {

/// A thread that makes its call alone.
struct Alone : OneThread {
  Share *own;

  GMPI_DEVICE explicit Alone(Share *own) : own(own) {}
  GMPI_DEVICE Share &shared() const { return *own; }
  GMPI_DEVICE void number(unsigned &rank, unsigned &size) const {
    rank = 0;
    size = 1;
  }
  GMPI_DEVICE void receive(void *to, unsigned long long offset, const void *from,
                           unsigned long long bytes, bool) const {
    copy_share(static_cast<unsigned char *>(to) + offset, from, bytes, 0, 1);
  }
};

// --- the proxy's knowledge ---

/// Tells the proxy of a wait, once it is long: for its reports. Not where that takes a request
/// slot, and none is free, or enough are taken so: others may wait for what the caller is about to
/// do.
GMPI_OUT_OF_LINE void tell_of(State &state, Wait &wait) {
  constexpr std::uint32_t most_told = 256;
  std::uint32_t slot = wait.request;
  if (slot == nothing)
    slot = look(state).told < most_told ? try_acquire_slot(context) : no_slot;
  if (slot == no_slot)
    return;
  Attribute attribute = make_attribute(wait.call.function, wait.call.scope, wait.call.site);
  attribute.peer = true;
  attribute.slot = wait.told = slot;
  attribute.arguments.comm = wait.comm->handle;
  attribute.arguments.dest = attribute.arguments.source = attribute.arguments.root = wait.rank;
  attribute.arguments.send_tag = attribute.arguments.recv_tag = wait.tag;
  if (wait.call.function == Function::Sendrecv) { // for one of its halves
    const bool sends = wait.request == nothing || state.requests[wait.request].sends;
    (sends ? attribute.arguments.source : attribute.arguments.dest) = MPI_PROC_NULL;
  }
  atomicAdd(&state.summary.told, 1u);
  post(context, attribute);
}
GMPI_OUT_OF_LINE void tell_end(State &state, Wait &wait) {
  tell(Function::carried, wait.call.scope, wait.call.site, wait.told);
  atomicSub(&state.summary.told, 1u);
  if (wait.told != wait.request)
    release_slot(context, wait.told);
}
/// Asked in every turn.
GMPI_DEVICE void tell_if_long(State &state, Wait &wait, unsigned turns) {
  if (turns % 1024 == 1023 && wait.told == nothing && nanoseconds() - wait.since >= long_wait)
    tell_of(state, wait);
}

/// While others of this rank have been waiting for long, the proxy hears now and then that the rank
/// goes on.
GMPI_OUT_OF_LINE void tell_progress(State &state) {
  constexpr unsigned long long between = 100000000;
  unsigned long long now = nanoseconds(), last = load_relaxed_device(&state.last_told);
  if (now - last > between && atomicCAS(&state.last_told, last, now) == last)
    tell(Function::progress, Scope::thread, {0, 0}, 0);
}

// --- steps ---

/// A step of one block or thread is so long at most.
constexpr unsigned long long step_slots = 32 * portion_slots;
/// And so many bytes at a time are stored: some hundred microseconds.
template <Scope S>
constexpr unsigned long long step_bytes = S == Scope::grid    ? 1ull << 28
                                          : S == Scope::block ? 1ull << 24
                                                              : 1ull << 17;
/// A grid stores as much, or more, with all of its blocks.
constexpr unsigned long long shared_store_bytes = 192 * 1024;

/// How much of the message is there from slot number `low` on, in whole portions, step_slots at
/// most.
GMPI_DEVICE unsigned long long find_arrived(const State &state, const Request &request,
                                            unsigned long long low, unsigned long long all) {
  constexpr int at_once = 8;
  unsigned long long high = low;
  bool more = true;
  GMPI_NO_UNROLL
  while (more && high < all && high - low < step_slots) {
    bool there[at_once];
    GMPI_UNROLL
    for (int i = 0; i < at_once; ++i) {
      unsigned long long slot = high + i * portion_slots;
      there[i] = slot < all && has_message(state, request.channel, request.first + slot);
    }
    GMPI_UNROLL
    for (int i = 0; i < at_once; ++i) {
      more = more && there[i];
      high += more ? portion_slots : 0;
    }
  }
  return high < all ? high : all;
}

/// How a request's message is carried.
GMPI_DEVICE Transfer transfer_of(const State &state, const Request &request) {
  const Channel &channel = state.channels[request.channel];
  const bool sends = request.sends;
  return {sends ? channel.out : channel.in,
          sends ? channel.out_freed : channel.in_freed,
          request.first,
          request.data,
          request.room,
          request.header};
}

/// Where the answer to an announced message has come, whose request the caller holds: the message
/// is to be stored where that says, or goes through the channel.
GMPI_OUT_OF_LINE void take_answer(State &state, std::uint32_t index) {
  Request &request = state.requests[index];
  if (state_of(request) != RequestState::awaiting_match ||
      request.header.kind == MessageKind::synchronous)
    return;
  const std::uint64_t *from = ack_of(state, index, request.serial);
  const std::uint32_t lap = lap_of_serial(request.serial);
  const Packet ack = Packet::load(from);
  if (!ack.shows(lap))
    return;
  const Match match = unpack_match(ack.data());
  if (is_streamed(match))
    return; // that is for the grid that waits for it
  request.header.tag = static_cast<std::int32_t>(match.request);
  unsigned char *target = match.number != 0 ? find_mapped(state, request.peer, match) : nullptr;
  if (target != nullptr) {
    request.target = target + await_packet(from + packet_words, lap);
    request.match = match;
    return note_state(request, RequestState::storing);
  }
  if (match.number == 0) // what the second packet shows of a kept slot is an earlier send's
    store_packet(ack_of(state, index, request.serial) + packet_words, 0, 0);
  note_data(state, request.header, request.peer);
  increase_relaxed_device(&state.ringed, 1);
  const Slots slots = take_slots(state, request.peer, carried_slots(request.header));
  request.channel = request.peer;
  request.first = slots.first;
  request.header.after = slots.after;
  note_state(request, RequestState::sending);
}

/// What is to be done next for a request that the caller holds.
GMPI_OUT_OF_LINE void begin_step(State &state, std::uint32_t index, Step &step) {
  take_answer(state, index);
  Request &request = state.requests[index];
  const unsigned long long all = carried_slots(request.header), low = request.moved;
  step.kind = Step::none;
  step.check = false;
  step.low = low;
  step.high = all;
  step.transfer = transfer_of(state, request);
  const RequestState now = state_of(request);
  if (now == RequestState::queued) {
    if (are_free(step.transfer.freed, request.first, request.first + all))
      step.kind = Step::write;
  } else if (now == RequestState::sending) {
    step.high = all - low < step_slots ? all : low + step_slots;
    step.check = true;
    step.kind = Step::write;
  } else if (now == RequestState::receiving) {
    if (request.header.kind == MessageKind::data)
      step.high = find_arrived(state, request, low, all);
    if (step.high != low)
      step.kind = Step::read;
  } else if (now == RequestState::storing) {
    step.kind = Step::store;
    step.high = request.header.bytes;
    step.target = request.target;
  } else if (now == RequestState::awaiting_match &&
             request.header.kind == MessageKind::synchronous &&
             is_answered(state, index, request.serial, Packet::load(ack_of(state, index, 0)))) {
    step.kind = Step::over;
  }
}

/// The request, which the caller holds, is done. From then on it may be another's.
GMPI_DEVICE void set_done(State &state, std::uint32_t index) {
  deactivate(state, index);
  set_state(state.requests[index], RequestState::done);
}

/// All of the message has been stored: the receiver is told.
GMPI_DEVICE void end_storing(State &state, std::uint32_t index) {
  const Request &request = state.requests[index];
  release_system(); // what the whole team has stored is there before that
  increase_relaxed_device(&state.stored, 1);
  store_packet(landed_at(state.peer_acks[request.peer], request.match.request), 0,
               lap_of_serial(request.match.serial));
  set_done(state, index);
}

GMPI_OUT_OF_LINE void end_step(State &state, std::uint32_t index, const Step &step) {
  Request &request = state.requests[index];
  bool over = step.kind == Step::over;
  if (step.kind == Step::store) {
    request.moved = step.high;
    if (request.moved == request.header.bytes)
      return end_storing(state, index);
  } else if (step.kind == Step::write || step.kind == Step::read) {
    if (state_of(request) == RequestState::queued && request.header.kind != MessageKind::eager) {
      set_state(request, RequestState::awaiting_match);
    } else {
      if (step.kind == Step::write)
        note_free(state.sending[request.channel], request.first + step.low,
                  request.first + step.high);
      request.moved = step.high;
      over = step.high == carried_slots(request.header);
    }
  }
  if (over)
    set_done(state, index);
  else
    let_go(request);
}

/// Cuts a step down to those first slots that are free, in whole portions: all members look.
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
  if (team.leads() && shared.limit != first + step.high) {
    unsigned long long free = shared.limit - first - step.low;
    shared.step.high = step.low + free / portion_slots * portion_slots;
    if (shared.step.high == step.low)
      shared.step.kind = Step::none;
  }
  team.sync();
}

/// Stores what team.shared().step says. Ends with the team's barrier.
template <class Team> GMPI_NOINLINE void do_store(Team team) {
  const Step &step = team.shared().step;
  const unsigned char *data = step.transfer.data + step.low;
  const unsigned long long bytes = step.high - step.low;
  if constexpr (Team::scope == Scope::grid) {
    if (bytes >= shared_store_bytes && !is_local(data) && !is_shared(data) && !team.alone())
      return team.share_copy(step.target + step.low, data, bytes);
    BlockTeam{team.leader}.send(step.target + step.low, data, bytes);
  } else {
    team.send(step.target + step.low, data, bytes);
  }
}

/// A member's share of what has come to a request through its channel, whole: of reading it or,
/// then, of giving its slots back.
GMPI_OUT_OF_LINE void read_request(const State &state, std::uint32_t index, bool frees,
                                   unsigned rank, unsigned size) {
  const Request &request = state.requests[index];
  const Channel &channel = state.channels[request.channel];
  const unsigned long long slots = slots_of(request.header);
  if (frees)
    return free_share(channel.in_freed, request.first, request.first + slots, rank, size);
  const Transfer t{channel.in,   channel.in_freed, request.first,
                   request.data, request.room,     request.header};
  read_share(t, 0, slots, rank, size);
}

/// Of several messages that a block reads together, those that are no longer are a warp's each.
constexpr unsigned long long most_by_warp = 16384;

/// Makes the copies of block.copies. Ends with the team's barrier.
template <class Team> GMPI_NOINLINE void make_copies(Team team) {
  const State &state = *context.peer;
  const Copies &copies = BlockTeam::block().copies;
  const std::uint32_t count = copies.count;
  const bool reads = copies.copy[0].to == nullptr; // so do all
  if constexpr (Team::scope == Scope::grid) {
    unsigned long long all = 0;
    GMPI_NO_UNROLL
    for (std::uint32_t i = 0; i < count; ++i)
      all += copies.copy[i].bytes;
    if (!reads && all >= shared_store_bytes && !team.alone())
      return team.share_copies(all);
  }
  unsigned rank, size;
  team.number(rank, size);
  // Of several messages that would take a few warps one trip to memory, each warp reads some.
  const bool by_warps = reads && count > 1 && BlockTeam::has_warp();
  const std::uint32_t warps = size / 32; // whole ones
  if (by_warps && rank / 32 < warps)
    GMPI_NO_UNROLL
  for (std::uint32_t i = rank / 32; i < count; i += warps)
    if (copies.copy[i].bytes <= most_by_warp)
      read_request(state, copies.copy[i].request, false, rank % 32, 32);
  GMPI_NO_UNROLL
  for (std::uint32_t i = 0; i < count; ++i)
    if (!reads)
      copy_share(copies.copy[i].to, copies.copy[i].from, copies.copy[i].bytes, rank, size);
    else if (!by_warps || copies.copy[i].bytes > most_by_warp)
      read_request(state, copies.copy[i].request, false, rank, size);
  team.sync();
  if (!reads)
    return;
  GMPI_NO_UNROLL
  for (std::uint32_t i = 0; i < count; ++i)
    read_request(state, copies.copy[i].request, true, rank, size);
  team.sync();
}

/// Writes or reads what team.shared().step says, and gives back what was read. All members know the
/// step. Ends with the team's barrier, but for what is given back.
template <class Team> GMPI_DEVICE void do_step(const Team &team) {
  const Step &step = team.shared().step;
  unsigned rank = 0, size = 1;
  if (Team::scope != Scope::thread && is_local(step.transfer.data)) { // sent; the leader's
    if (team.leads())
      carry(OneThread{}, step, step.low, step.high, rank, size);
    return team.sync();
  }
  team.number(rank, size);
  carry(team, step, step.low, step.high, rank, size);
}

/// Does what the leader has found.
template <class Team> GMPI_NOINLINE void do_work(Team team) {
  constexpr unsigned long long most = step_bytes<Team::scope>;
  State &state = *context.peer;
  Share &shared = team.shared();
  if (team.leads()) {
    if (shared.work.kind == WorkKind::keep) {
      const Kept &kept = state.kept[shared.work.index];
      const Channel &channel = state.channels[kept.channel];
      shared.step = {Step::read,
                     false,
                     0,
                     slots_of(kept.header),
                     {channel.in, channel.in_freed, kept.first,
                      kept_memory(state, shared.work.index), kept.header.bytes, kept.header},
                     nullptr};
    } else {
      begin_step(state, shared.work.index, shared.step);
      if (shared.step.kind == Step::store && shared.step.high - shared.step.low > most)
        shared.step.high = shared.step.low + most;
    }
  }
  team.sync();
  if (shared.step.kind == Step::store)
    do_store(team);
  if (shared.step.check)
    check_slots(team);
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

} // namespace gmpi::device::peer
