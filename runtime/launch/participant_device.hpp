// Who is still in the kernel: each block's living threads, each launch's living blocks, and the
// grid-wide rendezvous in which one block is chosen to make a grid-scope call for all.
//
// Invariant: launch->membership counts blocks that have arrived at the current rendezvous (low
// half) and blocks that have departed for good (high half). The atomic that makes their sum the
// number of blocks chooses the block that calls: the last to arrive is it; where the last event was
// a departure, the departing block promotes one of those that wait. Everybody else waits for the
// next round's command. A thread that leaves its kernel early leaves the block's barriers too
// (__syncthreads counts living threads), so only the counting is done here.
#pragma once

#include "../mpi/begun.hpp"
#include "../peer/channel/ownership_device.hpp"
#include "../peer/share.hpp"
#include "../queue/request_slots_device.hpp"
#include "bind_arguments.hpp"

#include <cassert>
#include <cstdio>

namespace gmpi {

namespace device {

#ifdef GMPI_DEVICE_CPU
inline Context context;
#else
/// This module's copy of the device's Context; filled by the host before the first launch.
static __constant__ Context context;
#endif

/// What the block that made a grid-scope call tells the others.
enum class GridCommand : std::uint32_t {
  done,    ///< the call is over: launch->result has what it returns
  copy,    ///< help with launch->task, then arrive again
  deliver, ///< copy launch->broadcast to each thread's own receive buffer, then arrive again
  promote, ///< the last event was a departure: one of you makes the call
  rest,    ///< this takes a while: look less often
  answer,  ///< the call is over, and returns a request; its number comes with this
  await,   ///< a collective call's only round has begun; its number comes with this: wait for it
  bring,   ///< the call is over, and what it has received comes with this: for each thread's own
           ///< memory, eight bytes at most
  carry,   ///< have your part in the span that comes with this (../peer/channel/wide_device.hpp)
  lead,    ///< (never stored) this block makes the call
};

/// How a call waits for its next Reply.
struct Waiting {
  std::uint32_t slot;
  std::uint32_t turn;     ///< of the last Reply seen
  std::uint32_t expected; ///< bytes that may come with it, 0: none or many
  bool want_status;       ///< the message's source, tag and length matter
  bool announce;          ///< the wait, once it is long
  Site site;
  void *out;      ///< where that is stored at once; null: in each thread's own memory
  const void *in; ///< what the proxy may have all threads copy; null: nothing
};

/// What all of a block copy for a call, and how far it has come then.
struct Moving {
  void *to;
  const void *from;
  std::uint32_t bytes;
  Begun then;
  bool asked_for; ///< by the proxy, which is to be told that it is done
};

/// One per block, in shared memory.
struct BlockState {
  LaunchState *launch;
  std::uint32_t launch_index;
  std::uint32_t living;   ///< threads that have not left
  std::uint32_t departed; ///< not 0 once a thread has left
  std::uint32_t elections, claimed;
  std::uint32_t round;         ///< last command this block has obeyed or given
  std::uint32_t meetings;      ///< of all blocks, so far
  std::uint32_t living_blocks; ///< while this block leads: no block can leave meanwhile
  GridCommand command;
  Begun begun;             ///< how far the first warp has come with a call
  std::uint32_t completed; ///< requests of MPI_Waitall that it has seen the end of
  /// For this block's blocking calls, or one of no_slot, unknown_slot; and for those that take two.
  std::uint32_t own_slot, second_slot;
  std::uint32_t slot_taken; ///< 1: by one of its threads
  std::uint32_t tickets;
  std::uint32_t size; ///< of a communicator
  bool first_round;   ///< while this block leads: no command given yet
  bool parted;        ///< blocks have departed: the others do not all meet any more
  bool replied;
  bool stored;        ///< the data that came with the Reply is where it belongs
  GridTask task;      ///< that it has a part in
  Copies copies;      ///< the same: which copies these are; or those that are to be made next
  GridTask last_part; ///< for the other blocks, when the call is done
  MPI_Request request;
  unsigned long long portion, ticket;
  Moving moving;
  alignas(16) std::uint64_t attribute[attribute_words]; ///< to be written
  Waiting waiting;                                      ///< of the call that this block makes
  std::uint64_t reply[reply_words];                     ///< its last Reply, packed
  alignas(16) unsigned char small[block_keeps + 12];    ///< for each thread's own memory
  CallResult result;
  peer::Share peer;    ///< what the leader of a call from kernel to kernel tells the others
  peer::Routes routes; ///< of calls of this block's and its threads'
  peer::Source sources[peer::Source::most]; ///< of calls of this block's, and its grid's
  peer::Series series;                      ///< of its grid's calls
  SlotReserve reserve;                      ///< of this block's requests
  std::uint32_t routes_taken;               ///< 1: a thread's
  /// The last datatype that the first warp has looked up, and the last communicator that a thread
  /// has: handle and, in the top 16 bits, extent or size. 0: none.
  std::uint64_t known_datatype;
  unsigned long long known_comm;
  unsigned long long arrived; ///< as begin_to_arrive() has returned it
  /// Of the last collective calls: peer.round, as they have been described.
  static constexpr std::uint32_t recent_rounds = 4;
  peer::Round recent[recent_rounds];
  std::uint32_t next_recent; ///< the place that the next one takes, modulo recent_rounds
};

#ifdef GMPI_DEVICE_CPU
inline BlockState &block_state() { return cpu::shared<BlockState>({0, __LINE__, 0}); }
#else
GMPI_DEVICE BlockState &block_state() {
  __shared__ BlockState state;
  return state;
}
#endif

/// What has come for each thread's own memory.
GMPI_DEVICE std::uint64_t *own_words(BlockState &block) {
  return reinterpret_cast<std::uint64_t *>(block.small);
}

/// Chooses one of the block's living threads; all of them call it, after a barrier.
GMPI_DEVICE bool elect(BlockState &block) {
  if (block.departed == 0)
    return thread_index() == 0;
  std::uint32_t election = block.elections;
  bool elected = atomicCAS(&block.claimed, election, election + 1) == election;
  __syncthreads();
  if (elected)
    block.elections = election + 1;
  return elected;
}

constexpr unsigned long long one_departure = 1ull << 32;

GMPI_DEVICE bool is_complete(unsigned long long membership) {
  return (membership & 0xffffffffu) + (membership >> 32) == grid_blocks();
}

/// Of a command word's low half; the others are the round.
constexpr std::uint32_t command_bits = 4;

GMPI_DEVICE unsigned long long command_word(std::uint32_t round, GridCommand what,
                                            std::int32_t error) {
  return (round << command_bits | std::uint32_t(what)) | std::uint64_t(std::uint32_t(error)) << 32;
}
static_assert(std::uint32_t(GridCommand::lead) < 1u << command_bits);

/// Whether round `a` comes after round `b`. They wrap; no block is ever more than a few rounds
/// behind.
GMPI_DEVICE bool is_after(std::uint32_t a, std::uint32_t b) {
  return static_cast<std::int32_t>((a - b) << command_bits) > 0;
}

/// A command's round, as packets show it that come with it.
GMPI_DEVICE std::uint32_t told_round(std::uint32_t round) {
  return (round & (~0u >> command_bits)) | 1u << 31;
}
/// Notes the span that the block which makes the grid's call has told this one of. Its leader.
GMPI_DEVICE void note_told_span(BlockState &block) {
  constexpr std::uint32_t packets = sizeof(block.launch->told) / sizeof(block.launch->told[0]);
  std::uint64_t low[packets], high[packets];
  bool shows;
  GMPI_NO_UNROLL
  do {
    shows = true;
    GMPI_UNROLL
    for (std::uint32_t i = 0; i < packets; ++i)
      load_whole(block.launch->told[i], low[i], high[i]);
    GMPI_UNROLL
    for (std::uint32_t i = 0; i < packets; ++i)
      shows = shows & (high[i] >> 32 == told_round(block.round));
  } while (!shows);
  peer::Span &span = block.peer.span;
  const auto ways = static_cast<std::uint32_t>(high[1]);
  span.ring = reinterpret_cast<std::uint64_t *>(low[0]);
  span.bytes = static_cast<std::uint32_t>(high[0]);
  span.data = reinterpret_cast<unsigned char *>(low[1]);
  span.reads = (ways & 1) != 0;
  span.way = static_cast<peer::SpanWay>(ways >> 1 & 7);
  span.then = static_cast<Begun>(ways >> 4);
  span.first = low[2];
  span.peer = static_cast<std::uint32_t>(high[2]);
}

/// Whether a command, as it has been loaded, is one that a block at that round has not obeyed.
GMPI_DEVICE bool is_new_command(std::uint32_t round, unsigned long long command) {
  return is_after(static_cast<std::uint32_t>(command) >> command_bits, round);
}

/// Waits for the next round's command; the block's leader calls it. Wins or loses promotions. What
/// others have written is there once the leader has acquired: not here, where the registers that
/// its functions have saved would be far away when they return. `brings`: what comes may be data,
/// and is looked at with the command (always, that would take longer). `seen`: the command, as
/// somebody has loaded it before.
GMPI_DEVICE GridCommand await_command(BlockState &block, bool brings, std::uint64_t seen) {
  LaunchState &launch = *block.launch;
  std::uint32_t round = block.round;
  bool rests = false;
  std::uint64_t loaded = seen, data = 0;
  for (;;) {
    GMPI_NO_UNROLL
    while (!is_new_command(round, loaded)) {
      if (rests)
        doze();
      else
        relax();
      if (brings)
        load_whole(&launch.brought, data, loaded);
      else
        loaded = load_relaxed_device(&launch.command);
    }
    const auto word = static_cast<std::uint32_t>(loaded);
    block.round = round = word >> command_bits;
    block.result.error = static_cast<std::int32_t>(loaded >> 32);
    auto command = static_cast<GridCommand>(word & ((1u << command_bits) - 1));
    if (command == GridCommand::done) // most are
      return command;
    rests = command == GridCommand::rest;
    if (rests)
      continue;
    if (command == GridCommand::bring) {
      if (!brings)
        load_whole(&launch.brought, data, loaded);
      own_words(block)[0] = data;
    }
    if (command == GridCommand::carry)
      note_told_span(block);
    if (command != GridCommand::promote)
      return command;
    if (atomicExch(&launch.claimed, 1u) == 0)
      return GridCommand::lead;
  }
}

/// A command that nobody has seen yet.
GMPI_DEVICE std::uint64_t unseen_command(const BlockState &block) {
  return block.round << command_bits;
}
GMPI_DEVICE GridCommand await_command(BlockState &block) {
  return await_command(block, false, unseen_command(block));
}

/// Waits for the next round's command, `loaded`, and obeys it if it is for the others only to go
/// on, as most are: returns whether it is. The block's leader calls it.
GMPI_DEVICE bool await_end(BlockState &block, std::uint64_t &loaded) {
  const LaunchState &launch = *block.launch;
  const std::uint32_t round = block.round;
  GMPI_NO_UNROLL
  while (loaded = load_relaxed_device(&launch.command), !is_new_command(round, loaded))
    relax();
  if (loaded != command_word(round + 1, GridCommand::done, MPI_SUCCESS))
    return false;
  block.round = static_cast<std::uint32_t>(loaded) >> command_bits;
  block.command = GridCommand::done;
  return true;
}

/// Arrives at a grid-scope call for the whole block, in two steps; the block's leader calls them,
/// after the block's barrier. What the first returns, nobody looks at before the second: it is in
/// flight. Then the block leads, if it is the last, or awaits the others' command.
GMPI_DEVICE unsigned long long begin_to_arrive(BlockState &block) {
  block.living_blocks = 1;
  block.first_round = true;
  block.last_part.bytes = 0;
  if (grid_blocks() == 1)
    return 0;
  release_device();
  return add_in_flight_device(&block.launch->membership, 1);
}
GMPI_DEVICE bool is_last(unsigned long long before) { return is_complete(before + 1); }
/// The block makes the call: all have arrived, as the launch's membership says.
GMPI_DEVICE void lead(BlockState &block, unsigned long long membership) {
  block.command = GridCommand::lead;
  if (grid_blocks() == 1)
    return;
  acquire_device();
  block.living_blocks = static_cast<std::uint32_t>(membership);
}
/// Another does, unless that has departed: then it may be this one. Where it is not, it has not
/// acquired yet. `brings`, `seen`: see await_command().
GMPI_DEVICE GridCommand await_others(BlockState &block, bool brings, std::uint64_t seen) {
  block.command = await_command(block, brings, seen);
  if (block.command == GridCommand::lead)
    lead(block, load_relaxed_device(&block.launch->membership));
  return block.command;
}

/// The same in one step, also where some of the block's threads have left.
GMPI_DEVICE GridCommand arrive(BlockState &block) {
  if (block.departed != 0 || block_threads() < 32)
    store_relaxed_device(&block.launch->lacks_threads, 1u);
  const unsigned long long before = begin_to_arrive(block);
  if (is_last(before))
    lead(block, before + 1);
  else
    await_others(block, false, unseen_command(block));
  acquire_device();
  return block.command;
}

/// Meets all other blocks, of which none has departed. `shows`: what each has written before is
/// there for all; else they have only read, and no fence is waited for, as that would wait for what
/// has been stored on other devices. The block's leader calls it.
template <bool shows = true> GMPI_DEVICE void meet_blocks(BlockState &block) {
  std::uint32_t &met = block.launch->met;
  const std::uint32_t all = ++block.meetings * grid_blocks();
  const auto is_over = [all](std::uint32_t now) {
    return static_cast<std::int32_t>(now - all) >= 0;
  };
  shows ? increase_release_device(&met, 1) : increase_relaxed_device(&met, 1);
  while (!is_over(shows ? load_acquire_device(&met) : load_relaxed_device(&met)))
    relax();
}

/// The same before a call that each block then makes by itself, if all come so. False where one has
/// arrived at a call instead, or departed: then this one has to arrive, too. (Of an arrival that is
/// just being taken back it may be seen as well: then all of them arrive.)
GMPI_DEVICE bool meet_to_begin(BlockState &block) {
  constexpr unsigned between_looks = 16;
  LaunchState &launch = *block.launch;
  const std::uint32_t all = (block.meetings + 1) * grid_blocks();
  const auto is_over = [all](std::uint32_t met) {
    return static_cast<std::int32_t>(met - all) >= 0;
  };
  increase_release_device(&launch.met, 1);
  GMPI_NO_UNROLL
  for (unsigned turns = 1;; ++turns) {
    std::uint32_t met = load_relaxed_device(&launch.met);
    if (is_over(met))
      break;
    if (turns % between_looks == 0)
      if (const unsigned long long others = load_relaxed_device(&launch.membership); others != 0) {
        // Nobody goes back once all have met.
        for (std::uint32_t before; !is_over(met); met = before)
          if (before = cas_acquire_device(&launch.met, met, met - 1); before == met) {
            block.parted = others >= one_departure;
            return false;
          }
        break;
      }
    relax();
  }
  ++block.meetings;
  acquire_device();
  return true;
}

/// Copies as they are given to other blocks.
GMPI_DEVICE void note_copies(Copies &to, const Copies &from) {
  const std::uint32_t count = from.count;
  to.count = count;
  GMPI_NO_UNROLL
  for (std::uint32_t i = 0; i < count; ++i)
    to.copy[i] = from.copy[i];
}

/// The launch's task, as it has been given to a block's leader; others may be taking parts of it.
GMPI_DEVICE void note_task(BlockState &block) {
  const GridTask &task = block.launch->task;
  block.task = {task.bytes, 0, task.offset, task.what};
  if (block.command == GridCommand::copy && block.task.copies())
    note_copies(block.copies, block.launch->copies);
}

/// Arrives once more, when what the block that makes the call has had this one do is done. (What it
/// has stored in other memory than the device's, too, is there for whoever is told of it behind
/// that block's fence: one fence orders all that its thread knows of.)
GMPI_DEVICE void arrive_again(BlockState &block) {
  add_device(&block.launch->membership, 1);
  block.command = await_command(block);
  acquire_device();
}

/// How many arrivals the next command of this block takes back: later ones, its helpers'.
GMPI_DEVICE unsigned long long arrivals(const BlockState &block) {
  return block.living_blocks - !block.first_round;
}

/// Gives a command to the waiting blocks, in two steps: what is stored between them need not be
/// seen by whoever gets it. All living blocks but this one have arrived; `arrived` is how many
/// arrivals this takes back. `shows`: what was stored before is to be seen. The leading block's
/// leader calls it.
GMPI_DEVICE void prepare_command(BlockState &block, unsigned long long arrived, bool shows = true) {
  if (grid_blocks() > 1) // (where the others have left, this block's own arrival)
    increase_relaxed_device(&block.launch->membership, ~arrived + 1);
  if (shows && block.living_blocks > 1)
    release_device();
}
GMPI_DEVICE void give_command(BlockState &block, GridCommand what,
                              std::int32_t error = MPI_SUCCESS) {
  if (block.living_blocks > 1)
    store_relaxed_device(&block.launch->command, command_word(++block.round, what, error));
}
/// Has the waiting blocks look less often until they are given a command, where the call moves so
/// many bytes: a hundred of them that look all the time slow down what is moved meanwhile.
template <Scope S> GMPI_DEVICE void let_rest(BlockState &block, std::uint32_t bytes) {
  constexpr std::uint32_t least = 8192;
  if constexpr (S == Scope::grid)
    if (bytes >= least)
      give_command(block, GridCommand::rest);
}
GMPI_DEVICE void command(BlockState &block, GridCommand what, unsigned long long arrived,
                         std::int32_t error = MPI_SUCCESS) {
  prepare_command(block, arrived);
  give_command(block, what, error);
}
/// Has the others wait for the call's only round, each block by itself: nobody is left to be told
/// of its end. (What a block has written before it arrived is there for all once the last has
/// arrived: this waits for no fence, which would wait for what has been stored on other devices.)
GMPI_DEVICE void let_await(BlockState &block, std::uint32_t round) {
  prepare_command(block, arrivals(block), false);
  give_command(block, GridCommand::await, static_cast<std::int32_t>(round));
  block.living_blocks = 1;
  block.first_round = false;
}

/// Ends a call that has received so many bytes for each thread's own memory, eight at most: there
/// is nothing else for the other blocks to see.
GMPI_DEVICE void bring(BlockState &block, std::uint32_t bytes, std::uint64_t data) {
  prepare_command(block, arrivals(block), false);
  if (block.living_blocks > 1)
    store_whole(&block.launch->brought, data,
                command_word(++block.round, GridCommand::bring, static_cast<std::int32_t>(bytes)));
}

/// Gives the requests back that a launch has had ready, and not used. One thread.
GMPI_OUT_OF_LINE void release_ready(const Context &context, peer::ReadyRequests &ready) {
  GMPI_NO_UNROLL
  for (unsigned long long &place : ready.place) {
    if (const auto number = static_cast<std::uint32_t>(place); number != 0)
      release_slot(context, decode_request(request_of_number(number)).slot);
    place = 0;
  }
  atomicSub(&context.slot_queue->reserved, ready.reserved);
  ready.reserved = 0;
}

/// Tells the proxy that nothing of this launch runs any more, and leaves its state as it was found.
GMPI_OUT_OF_LINE void finish_launch(LaunchState &launch, std::uint32_t index) {
  launch.command = 0;
  launch.claimed = 0;
  launch.met = 0;
  launch.lacks_threads = 0;
  for (auto &packet : launch.told)
    packet[0] = packet[1] = 0;
  for (auto &packet : launch.outgoing)
    packet[0] = packet[1] = 0;
  launch.membership = 0;
  if ((launch.routes.owned | launch.routes.refused) != 0)
    peer::give_all_up(*context.peer, launch.routes);
  for (gmpi::peer::Source &source : launch.sources)
    source.comm = MPI_Comm{};
  if (launch.reserve.allowed != 0)
    release_reserve(context, launch.reserve);
  if (launch.ready.reserved != 0)
    release_ready(context, launch.ready);
  launch.statuses.next = 0;
  release_system();
  Attribute leave{};
  leave.function = Function::leave;
  leave.launch = index;
  post(context, leave);
}

/// The whole block has left.
GMPI_OUT_OF_LINE void depart(LaunchState &launch, std::uint32_t index) {
  unsigned long long now = add_device(&launch.membership, one_departure) + one_departure;
  if (now >> 32 == grid_blocks()) {
    finish_launch(launch, index);
  } else if (is_complete(now)) {
    // Whoever tried to take an earlier promotion has arrived again since.
    launch.claimed = 0;
    auto word = static_cast<std::uint32_t>(load_acquire_device(&launch.command));
    store_release_device(&launch.command, command_word((word >> command_bits) + 1,
                                                       GridCommand::promote, MPI_SUCCESS));
  }
}

} // namespace device

/// First object of a translated kernel: enters its thread, and has it leave at whichever exit.
class Participant {
public:
#ifndef GMPI_DEVICE_CPU
  __device__
#endif
      explicit Participant(Launched launched) {
    device::leave_empty_launch(launched.index == empty_launch);
    device::BlockState &block = device::block_state();
    if (device::thread_index() == 0) {
      block.launch = launched.state;
      block.launch_index = launched.index;
      block.living = device::block_threads();
      block.living_blocks = 1;
      block.departed = block.elections = block.claimed = block.round = block.tickets = 0;
      block.meetings = 0;
      block.routes.owned = block.routes.refused = block.routes_taken = 0;
      block.own_slot = block.second_slot = device::unknown_slot;
      block.slot_taken = 0;
      block.parted = false;
      block.known_datatype = block.known_comm = 0;
      block.peer.round.of.comm = MPI_Comm{};
      block.peer.round.comm = nullptr;
      for (peer::Round &round : block.recent)
        round.of.comm = MPI_Comm{};
      block.next_recent = 0;
      for (peer::Route &route : block.routes.route)
        route.comm = MPI_Comm{};
      for (peer::Source &source : block.sources)
        source.comm = MPI_Comm{};
      block.reserve.count = block.reserve.allowed = 0;
      block.series.next = 0;
      block.series.forget();
      block.series.sharing = block.series.was_wide = false;
      block.series.room = gmpi::peer::Series::most;
      block.series.queued.comm = MPI_Comm{};
      block.series.queued.extent = 0;
    }
    const std::uint32_t thread = device::thread_index(), threads = device::block_threads();
    for (std::uint32_t i = thread; i < 2 * gmpi::peer::Series::most; i += threads)
      block.series.ready[i] = ~0u;
    if (thread % 32 == 0)
      block.series.left[thread / 32] = {};
    __syncthreads();
  }

#ifndef GMPI_DEVICE_CPU
  __device__
#endif
      ~Participant() {
    device::BlockState &block = device::block_state();
    LaunchState *launch = block.launch;
    std::uint32_t index = block.launch_index;
    device::release_device();
    block.departed = 1;
    if (atomicSub(&block.living, 1u) != 1)
      return;
    if (block.routes.owned != 0)
      device::peer::give_all_up(*device::context.peer, block.routes);
    for (const std::uint32_t slot : {block.own_slot, block.second_slot})
      if (slot < request_slots)
        device::release_slot(device::context, slot);
    if (block.reserve.allowed != 0)
      device::release_reserve(device::context, block.reserve);
    if (launch != nullptr) // null: a segment; its driver sees its end
      device::depart(*launch, index);
  }

  Participant(const Participant &) = delete;
  Participant &operator=(const Participant &) = delete;
};

/// Body of the stub that keeps a translated kernel's name and address. It runs only when a program
/// launches that address without asking the registry. The kernel's arguments are not looked at.
template <class... Arguments>
GMPI_DEVICE void raw_launch(const KernelInfo &info, const Arguments &...) {
  if (device::thread_index() == 0 && blockIdx.x + blockIdx.y + blockIdx.z == 0)
    printf("gmpi: kernel %s calls MPI but was launched by code that gmpi-translate has not seen; "
           "translate the file that launches it\n",
           info.name);
  __trap();
}

} // namespace gmpi
