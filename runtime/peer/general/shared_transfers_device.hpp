// Long messages that all blocks of a grid carry together, while one of them makes the grid's call
// and waits.
//
// Invariant: the other blocks take portions in order, and carry one only below the transfer's
// limit: no block ever waits for another rank with a portion in hand, so all can be told to stop at
// any time. The block that makes the call moves the limits, and works on nothing that is shared.
// What the others have carried is done when they have stopped.
#pragma once

#include "progress_device.hpp"

namespace gmpi::device::peer {

/// What so many ranks have written is loaded at a time, and waited for together.
constexpr int ranks_at_once = 4;
/// Loads the packets at `place` of so many ranks, from number `base` on; behind the last, of that
/// again. All are under way at once: no branch is between them, and none has a condition.
template <class Place>
GMPI_DEVICE void load_of_ranks(Packet (&packets)[ranks_at_once], int base, int last, Place place) {
  GMPI_UNROLL
  for (int i = 0; i < ranks_at_once; ++i)
    packets[i] = Packet::load(place(base + i < last ? base + i : last));
}

/// The memory of a rank's.
GMPI_DEVICE std::uint64_t *memory_of(const Round &round, int rank) {
  return static_cast<std::uint32_t>(rank) < Round::near_ranks ? round.memory[rank]
                                                              : round.comm->rounds[rank];
}
GMPI_DEVICE std::uint64_t *part_at(const Round &round, int to, int from) {
  return part_of_round(memory_of(round, to), round.number, round.size, from);
}

/// Tells the other ranks that this one has begun the round, and a number of packets: the first
/// packet of its part. One thread, or a warp's share.
GMPI_DEVICE void say_hello(const Round &round, std::uint32_t number, std::uint64_t packets,
                           std::uint32_t lane = 0, std::uint32_t lanes = 1) {
  GMPI_NO_UNROLL
  for (int to = static_cast<int>(lane); to < round.size; to += static_cast<int>(lanes))
    if (to != round.rank)
      store_packet(part_of_round(memory_of(round, to), number, round.size, round.rank), packets,
                   number);
}

/// What the other ranks have begun.
struct Begins {
  bool all;     ///< this round, or a later one that has taken its place, with what is wanted of it
  bool differs; ///< a call in pieces, and one of them one of another length
};

/// A rank that has begun a round with `packets` of data, less than this one wants of it, is waited
/// for, and told of.
GMPI_DEVICE bool is_enough(const Round &round, std::uint64_t packets, bool sends) {
  const std::uint64_t own = packets_of_data(round.length);
  if (is_long(round))
    return !round.near || packets == own;
  return packets < round_packets && (round.out == nullptr || !sends || packets >= own);
}

GMPI_DEVICE Begins begins_of(const Round &round) {
  Begins begins{true, false};
  GMPI_NO_UNROLL
  for (int base = 0; base < round.size; base += ranks_at_once) {
    Packet hello[ranks_at_once];
    load_of_ranks(hello, base, round.size - 1,
                  [&](int from) { return part_at(round, round.rank, from); });
    GMPI_UNROLL
    for (int i = 0; i < ranks_at_once; ++i) {
      const int from = base + i;
      const bool counts = from < round.size && from != round.rank;
      const bool shows = hello[i].shows(round.number);
      const bool enough = shows && is_enough(round, hello[i].data(), sends_data(round.root, from));
      const bool begun = shows ? enough : hello[i].shows_since(round.number);
      begins.all = begins.all && (!counts || begun);
      begins.differs = begins.differs || (counts && shows && !enough);
    }
  }
  begins.differs = begins.differs && round.near && is_long(round);
  return begins;
}
GMPI_DEVICE bool all_have_begun(const Round &round) { return begins_of(round).all; }

/// What was written before that is there behind acquire_device().
GMPI_DEVICE bool has_come(State &state, const Wait &wait, const Glance &seen) {
  switch (wait.what) {
  case Wait::request_done:
    return is_done(state, wait.request, seen);
  case Wait::slots:
    return are_free(state.channels[wait.channel].out_freed, wait.first, wait.until);
  default: {
    const Begins begins = begins_of(*wait.round);
    return begins.all || begins.differs;
  }
  }
}

/// What is left of a message must be so long, in slots, to be worth the other blocks' attention:
/// no message that one block sends with its header is.
constexpr unsigned long long shared_slots = 128;
static_assert(shared_slots > slots_for(eager_bytes));

/// Whether the request, which the caller holds, is one for all blocks: it goes through the channel.
GMPI_DEVICE bool can_share(const Request &request) {
  return !request.own && state_of(request) != RequestState::storing &&
         carried_slots(request.header) - request.moved >= shared_slots &&
         BlockTeam::block().living_blocks > 1 && BlockTeam::has_warp();
}

/// The same, where the answer to the message may just have come.
GMPI_OUT_OF_LINE bool will_share(State &state, std::uint32_t index) {
  take_answer(state, index);
  return can_share(state.requests[index]);
}

/// The other blocks may take part in the request, which this thread holds.
GMPI_DEVICE void add_transfer(State &state, std::uint32_t index, SharedTransfers &transfers,
                              Share &shared) {
  std::uint32_t i = transfers.count;
  SharedTransfer &transfer = transfers.transfer[i];
  const Request &request = state.requests[index];
  transfer.step = {request.sends ? Step::write : Step::read,
                   false,
                   request.moved,
                   carried_slots(request.header),
                   transfer_of(state, request),
                   nullptr};
  transfer.request = index;
  transfer.next = transfer.limit = request.moved;
  transfer.done = 0;
  shared.limits[i] = request.moved;
  shared.ended[i] = false;
  store_release_device(&transfers.count, i + 1);
}

/// The first lane for which `there` does not hold; 32 where it does for all.
GMPI_DEVICE std::uint32_t first_missing(bool there) {
  unsigned missing = ~__ballot_sync(0xffffffffu, there);
  return missing != 0 ? __ffs(static_cast<int>(missing)) - 1 : 32;
}

/// How many slots more can be carried without waiting, ready_slots at most; a warp looks, whole.
constexpr std::uint32_t ready_slots = 32 * portion_slots;
GMPI_DEVICE unsigned long long find_ready(const Step &step, unsigned long long from,
                                          std::uint32_t lane) {
  const Transfer &t = step.transfer;
  const unsigned long long left = step.high - from;
  unsigned long long ready = 0;
  if (has_data(t.header)) // all of it is on its way
    return left;
  if (step.kind == Step::read) {
    unsigned long long slot = from + lane * portion_slots;
    bool there = slot < step.high &&
                 Packet::load(packet_at(t.ring, t.first + slot, 0)).shows(lap_of(t.first + slot));
    ready = first_missing(there) * portion_slots;
  } else {
    bool free[portion_slots];
    GMPI_UNROLL
    for (std::uint32_t i = 0; i < portion_slots; ++i)
      free[i] = is_free(t.freed, t.first + from + lane + 32 * i); // beyond its end, too
    bool more = true;
    GMPI_UNROLL
    for (std::uint32_t i = 0; i < portion_slots; ++i) {
      std::uint32_t some = first_missing(free[i]);
      ready += more ? some : 0;
      more = more && some == 32;
    }
  }
  return ready >= left ? left : ready / portion_slots * portion_slots;
}

/// Whether the request that this block waits for is among those that have been carried.
GMPI_DEVICE bool has_carried(const SharedTransfers &transfers, const Share &shared) {
  bool has = false;
  for (std::uint32_t i = 0; i < transfers.count; ++i)
    has = has || (shared.ended[i] && transfers.transfer[i].request == shared.wait.request);
  return has;
}

/// Moves the limits, and looks for other work, until there is some for this block, or what it waits
/// for has come, or all transfers have ended: shared.work says which. A warp, whole.
GMPI_OUT_OF_LINE void watch_transfers(State &state, SharedTransfers &transfers, Share &shared) {
  constexpr unsigned look_every = 8; // where limits move: it takes longer than that
  const std::uint32_t lane = thread_index();
  GMPI_NO_UNROLL
  for (unsigned turns = 0;; ++turns) {
    __syncwarp();
    const std::uint32_t count = transfers.count; // lane 0 may soon add more
    bool moves = false;
    GMPI_NO_UNROLL
    for (std::uint32_t i = 0; i < count; ++i) {
      if (shared.ended[i])
        continue;
      SharedTransfer &transfer = transfers.transfer[i];
      const Step &step = transfer.step;
      unsigned long long from = shared.limits[i];
      unsigned long long more = from < step.high ? find_ready(step, from, lane) : 0;
      moves = moves || more != 0;
      __syncwarp();
      if (lane != 0)
        continue;
      if (more != 0) // (the packets themselves tell that they are there)
        store_relaxed_device(&transfer.limit, shared.limits[i] = from + more);
      if (from == step.high && load_relaxed_device(&transfer.done) == step.high - step.low)
        shared.ended[i] = true;
    }
    __syncwarp();
    bool left = false;
    GMPI_NO_UNROLL
    for (std::uint32_t i = 0; i < count; ++i)
      left = left || !shared.ended[i];
    if (left && moves && turns % look_every != 0)
      continue;
    if (lane == 0) {
      Work work{WorkKind::over, 0};
      if (left && !has_carried(transfers, shared)) {
        const Glance seen(state, shared.wait.request);
        if (!has_come(state, shared.wait, seen))
          work = look_for_work(state, shared.wait.request, seen);
      }
      if (work.kind == WorkKind::carry_on && transfers.count < SharedTransfers::most &&
          will_share(state, work.index)) {
        add_transfer(state, work.index, transfers, shared);
        work.kind = WorkKind::none;
      }
      tell_if_long(state, shared.wait, turns / look_every);
      shared.work = work;
    }
    __syncwarp();
    if (shared.work.kind != WorkKind::none)
      return;
  }
}

/// Has the other blocks carry the request of shared().work, and all that comes meanwhile, until
/// what this block waits for has come or nothing of that is left.
GMPI_OUT_OF_LINE void share_transfers(GridTeam team) {
  State &state = *context.peer;
  Share &shared = team.shared();
  SharedTransfers &transfers = BlockTeam::block().launch->transfers;
  if (team.leads()) {
    transfers.count = 0;
    add_transfer(state, shared.work.index, transfers, shared);
  }
  team.call_helpers({0, 0, 0, GridTask::carry_transfers}, GridCommand::copy);
  for (;;) {
    if (thread_index() < 32)
      watch_transfers(state, transfers, shared);
    team.sync();
    bool over = shared.work.kind == WorkKind::over;
    team.sync();
    if (over)
      break;
    do_work(BlockTeam{team.leader});
  }
  if (team.leads())
    store_release_device(&transfers.count, transfers.count | SharedTransfers::stop);
  team.join_helpers(); // what they have carried is there for this block
  if (team.leads())
    for (std::uint32_t i = 0; i < (transfers.count & ~SharedTransfers::stop); ++i) {
      Step carried = transfers.transfer[i].step;
      carried.high = shared.limits[i];
      end_step(state, transfers.transfer[i].request, carried);
    }
  team.sync();
}

/// A transfer of which this block has a portion that can be carried now; `nothing` where no more
/// comes. One thread; `known`: how many transfers it has seen.
GMPI_DEVICE std::uint32_t choose_transfer(SharedTransfers &transfers, Share &shared,
                                          std::uint32_t &known) {
  for (;;) {
    std::uint32_t told = load_relaxed_device(&transfers.count); // before the limits
    const std::uint32_t count = told & ~SharedTransfers::stop;
    const bool stop = told != count;
    if (stop || count != known)
      acquire_device();
    known = count;
    unsigned long long limits[SharedTransfers::most];
    GMPI_UNROLL
    for (std::uint32_t i = 0; i < SharedTransfers::most; ++i)
      limits[i] = i < count ? load_relaxed_device(&transfers.transfer[i].limit) : 0;
    GMPI_UNROLL
    for (std::uint32_t i = 0; i < SharedTransfers::most; ++i) {
      if (i < count && shared.claims[i] == ~0ull)
        shared.claims[i] = add_relaxed_device(&transfers.transfer[i].next, portion_slots);
      if (shared.claims[i] < limits[i])
        return i;
    }
    if (stop)
      return nothing;
    relax();
  }
}

/// Another block's part, until it is told to stop.
GMPI_OUT_OF_LINE void help_transfers(BlockTeam team) {
  SharedTransfers &transfers = BlockTeam::block().launch->transfers;
  Share &shared = team.shared();
  if (team.leads())
    for (unsigned long long &claim : shared.claims)
      claim = ~0ull;
  unsigned rank, size;
  team.number(rank, size);
  std::uint32_t known = 0, last = nothing;
  for (;;) {
    if (team.leads()) {
      shared.chosen = choose_transfer(transfers, shared, known);
      if (shared.chosen != last && shared.chosen != nothing)
        shared.step = transfers.transfer[shared.chosen].step;
      last = shared.chosen;
    }
    team.sync();
    if (shared.chosen == nothing)
      return;
    SharedTransfer &transfer = transfers.transfer[shared.chosen];
    const unsigned long long low = shared.claims[shared.chosen];
    const unsigned long long high = portion_end(shared.step.transfer.header, low);
    carry(team, shared.step, low, high, rank, size);
    if (team.leads()) {
      shared.claims[shared.chosen] = ~0ull;
      add_relaxed_device(&transfer.done,
                         high - low); // when this block stops, it is there for others
    }
  }
}

} // namespace gmpi::device::peer
