// Sending.
#pragma once

#include "warp_wait_device.hpp"

namespace gmpi::device::peer {

/// Which use of its slot a new request is. A kept slot is not given back between two calls: its
/// sends are counted, so that the answer to one is never taken for the next one's. (What is told to
/// a receive is told in a packet that is cleared first.)
GMPI_DEVICE std::uint32_t next_use(State &state, std::uint32_t index, bool sends) {
  if (index >= common_slots)
    return context.records[index].serial & 0xffff;
  if (!sends)
    return 0;
  std::uint32_t &sent = state.requests[index].sent;
  const std::uint32_t now = (load_relaxed_device(&sent) + 1) & 0xffff;
  store_relaxed_device(&sent, now);
  return now;
}

/// A new request of this rank's, for which the caller has taken the slot, and asked for its
/// `serial`; the caller fills the rest.
GMPI_DEVICE void begin_use(State &state, std::uint32_t index, std::uint32_t serial, bool sends,
                           const Comm &comm, std::uint32_t comm_context, void *data,
                           unsigned long long room) {
  Request &request = state.requests[index];
  store_relaxed_device(&request.busy, 1); // as it is: somebody may still look
  request.comm = &comm;
  request.context = comm_context;
  request.sends = sends;
  request.own = is_local(data) || is_shared(data);
  request.staging = nothing;
  request.data = static_cast<unsigned char *>(data);
  request.room = room;
  request.moved = 0;
  store_relaxed_device(&request.serial, serial);
  request.offer = {};
}

/// Nobody waits for the request any more.
GMPI_DEVICE void give_request_back(std::uint32_t index) {
  if (index >= common_slots)
    release_slot(context, index);
}

/// As the program knows it.
GMPI_DEVICE MPI_Request request_for(std::uint32_t index) {
  return index == nothing ? null_peer_request()
                          : encode_request({index, peer_device, context.records[index].serial});
}

/// The record of a send whose header says which request it is.
GMPI_DEVICE void describe_send(State &state, const Comm &comm, std::uint32_t peer,
                               std::uint32_t index, const Transfer &t) {
  const std::uint32_t far = peer >= state.near_peers ? answered_far : 0;
  begin_use(state, index, t.header.serial | far, true, comm, t.header.context, t.data, t.room);
  Request &request = state.requests[index];
  request.peer = request.channel = peer;
  request.rank = comm.rank_of[peer];
  request.tag = t.header.tag;
  request.header = t.header;
  request.first = t.first;
}

/// A send that does not end at once, in slots that are `free` or not. shared.request is to be its
/// request.
GMPI_OUT_OF_LINE void begin_request(State &state, const Comm &comm, std::uint32_t peer, bool free,
                                    Share &shared) {
  Transfer &t = shared.step.transfer;
  const std::uint32_t serial = next_use(state, shared.request, true);
  Request &request = state.requests[shared.request];
  t.header.request = static_cast<std::uint16_t>(shared.request);
  t.header.serial = static_cast<std::uint16_t>(serial);
  describe_send(state, comm, peer, shared.request, t);
  for (std::uint32_t i = 0; i < ack_packets; ++i)
    store_packet(ack_of(state, shared.request, request.serial) + i * packet_words, 0, 0);
  if (peer >= state.near_peers)
    release_system(); // the relay, which has the message later, writes there later
  note_state(request, free ? RequestState::awaiting_match : RequestState::queued);
  activate(state, shared.request); // with a fence: whoever acknowledges comes after
}

/// Slots that one thread has taken.
struct Taken : Slots {
  bool free;
};

/// Takes the slots of a message of `bytes` in the common channel, and counts it.
GMPI_DEVICE Taken take(State &state, std::uint32_t peer, unsigned long long slots,
                       unsigned long long bytes) {
  // These need nothing of each other.
  std::uint32_t told = load_relaxed_device(&state.summary.told);
  unsigned long long free_until = load_relaxed_device(&state.sending[peer].free_until);
  const Slots taken = take_slots(state, peer, slots);
  count_call(state, bytes);
  if (told != 0)
    tell_progress(state);
  return {taken, taken.first + slots <= free_until};
}

/// Says what the team does with them. `header` does not say yet what is to come before it. A
/// message that waits for its match has its request in shared.request; nobody waits for one who
/// holds slots: others wait for these. `own`: the slot of its request, if the call has one already.
GMPI_OUT_OF_LINE void use_slots(State &state, const Comm &comm, std::uint32_t peer,
                                const Header &header, const void *data, Taken taken,
                                bool nonblocking, Share &shared, std::uint32_t own = no_slot) {
  Transfer &t = shared.step.transfer;
  shared.step.low = 0;
  shared.step.high = slots_of(header);
  shared.step.kind = taken.free ? Step::write : Step::none;
  shared.waits = false;
  t.ring = state.channels[peer].out;
  t.data = static_cast<unsigned char *>(const_cast<void *>(data));
  t.room = header.bytes;
  t.header = header;
  t.header.after = taken.after;
  t.first = taken.first;
  // What lies in local memory is sent, or at least on its way, when the call returns.
  if (header.kind == MessageKind::eager) {
    const bool queued = !taken.free && nonblocking && !is_local(data);
    const std::uint32_t request = queued && own == no_slot ? try_acquire_slot(context)
                                  : queued                 ? own
                                                           : no_slot;
    shared.request = request == no_slot ? nothing : request;
    shared.waits = !taken.free && request == no_slot;
  }
  if (shared.request != nothing)
    begin_request(state, comm, peer, taken.free, shared);
}

GMPI_DEVICE Header header_of(const Comm &comm, int tag, unsigned long long bytes,
                             bool synchronous) {
  const MessageKind kind = bytes > eager_bytes ? MessageKind::announced
                           : synchronous       ? MessageKind::synchronous
                                               : MessageKind::eager;
  return {kind, comm.context, 0, 0, tag, bytes, 0, Form::packets, false};
}
/// The same, with its form: to a rank on another host.
GMPI_DEVICE Header header_to(const State &state, const Comm &comm, std::uint32_t peer, int tag,
                             const void *data, unsigned long long bytes, bool synchronous) {
  Header header = header_of(comm, tag, bytes, synchronous);
  if (peer >= state.near_peers && header.kind == MessageKind::eager && bytes > far_packets_bytes &&
      !is_local(data))
    header.form = Form::apart;
  return header;
}

/// All of a block, in whose number none is missing, write the message that has been begun. They
/// have met when it returns.
GMPI_OUT_OF_LINE void write_begun(const Step &step) {
  const Transfer &t = step.transfer;
  const std::uint32_t rank = thread_index(), size = block_threads();
  if (is_in_portions(t.header))
    return carry_portions(BlockTeam{rank == 0}, step, 0, step.high, rank, size);
  if (!is_local(t.data))
    write_share(t, 0, step.high, rank, size);
  else if (rank == 0) // its own
    write_share(t, 0, step.high, 0, 1);
  __syncthreads();
}

/// One thread takes the message's slots and says what its team does at once.
GMPI_OUT_OF_LINE void begin_send(State &state, const Comm &comm, int dest, int tag,
                                 const void *data, unsigned long long bytes, bool synchronous,
                                 bool nonblocking, Share &shared, std::uint32_t own = no_slot) {
  std::uint32_t peer = comm.peer_of[dest];
  Header header = header_to(state, comm, peer, tag, data, bytes, synchronous);
  unsigned long long slots = slots_of(header);
  if (header.kind != MessageKind::eager)
    shared.request = own != no_slot ? own : acquire_slot(context);
  Taken taken = take(state, peer, slots, bytes);
  const std::uint32_t *freed = state.channels[peer].out_freed;
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
  shared.step.transfer.freed = state.channels[peer].out_freed;
  use_slots(state, comm, peer, header, data, taken, nonblocking, shared, own);
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
    shared.wait = {Wait::slots,       call, &comm, nullptr, nothing, comm.peer_of[dest], sent.first,
                   sent.first + high, dest, tag,   0,       nothing};
  }
  wait_for(team);
  if (team.leads())
    shared.step = {Step::write, false, 0, high, sent, nullptr};
  team.sync();
}

/// Sends, or begins to. Leaves the request that is yet to be waited for in shared().request.
/// `begun`: its slots have been taken, and shared() says what is to be done with them. `own`: the
/// slot of its request, if the call has one already.
template <class Team>
GMPI_NOINLINE void send(Team team, Call call, const Comm &comm, int dest, int tag, const void *data,
                        unsigned long long bytes, bool nonblocking, bool begun,
                        std::uint32_t own = no_slot) {
  Share &shared = team.shared();
  if (!begun) {
    if (team.leads())
      begin_send(*context.peer, comm, dest, tag, data, bytes, call.function == Function::Ssend,
                 nonblocking, shared, own);
    team.sync();
  }
  if (shared.step.check)
    check_message_slots(team);
  if (shared.waits)
    await_slots(team, call, comm, dest, tag);
  if (shared.step.kind == Step::write)
    do_step(team);
}

} // namespace gmpi::device::peer
