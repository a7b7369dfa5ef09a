// The threads that make one MPI call together, as the call's code sees them: who leads, how they
// meet, how they share a copy. ThreadTeam is a single thread, BlockTeam a block's living threads,
// GridTeam the block that makes a grid-scope call, with the other blocks to help it.
//
// Invariant: all members run the same code with the same values, but for pointers into their own
// local memory and what only the leader knows; only the leader talks to the proxy, but for waiting.
#pragma once

#include "../transport/copy_device.hpp"
#include "reply_device.hpp"

namespace gmpi::device {

/// A team of one.
struct OneThread {
  static constexpr Scope scope = Scope::thread;

  GMPI_DEVICE bool leads() const { return true; }
  GMPI_DEVICE void sync() const {}
  GMPI_DEVICE void send(void *to, const void *from, unsigned long long bytes) const {
    copy_share(to, from, bytes, 0, 1);
  }
};

/// A thread that makes its call alone.
struct ThreadTeam : OneThread {
  std::uint64_t attribute[attribute_words] = {};

  /// The Attribute that is to be written, as pack_contents() fills it.
  GMPI_DEVICE std::uint64_t *contents() { return attribute; }
  GMPI_DEVICE void write_attribute(unsigned long long ticket) const {
    write_words(context, ticket, attribute);
  }
  template <class T> GMPI_DEVICE void share(T &, T BlockState::*) const {}
  GMPI_DEVICE void write_data(unsigned long long ticket, const void *from,
                              std::uint32_t bytes) const {
    device::write_data(context, ticket, from, static_cast<std::int32_t>(bytes), 0, 1);
  }
  GMPI_DEVICE bool replied(const Waiting &waiting) const {
    ReplyHead ignored;
    return try_head(context, waiting.slot, waiting.turn, ignored);
  }
};

struct BlockTeam {
  static constexpr Scope scope = Scope::block;

  bool leader;

  /// All living threads of the block, behind its barrier.
  GMPI_DEVICE static BlockTeam meet() {
    __syncthreads();
    return BlockTeam{elect(block())};
  }
  /// Found anew wherever it is used: in shared memory, not behind a pointer.
  GMPI_DEVICE static BlockState &block() { return block_state(); }

  GMPI_DEVICE bool leads() const { return leader; }
  GMPI_DEVICE void sync() const { __syncthreads(); }

  GMPI_DEVICE static gmpi::peer::Share &shared() { return block().peer; }
  GMPI_DEVICE static std::uint64_t *contents() { return block().attribute; }
  GMPI_DEVICE void write_attribute(unsigned long long ticket) const {
    if (leader)
      write_words(context, ticket, contents());
  }

  /// Gives every member the leader's `value`, by way of `place`.
  template <class T> GMPI_DEVICE void share(T &value, T BlockState::*place) const {
    if (leader)
      block().*place = value;
    __syncthreads();
    value = block().*place;
    __syncthreads();
  }

  /// Numbers the members from 0; they are fewer than the block's threads where some have left.
  GMPI_DEVICE void number(unsigned &rank, unsigned &size) const {
    if (block().departed == 0) {
      rank = thread_index();
      size = block_threads();
      return;
    }
    rank = atomicAdd(&block().tickets, 1u);
    __syncthreads();
    size = block().tickets;
    __syncthreads();
    if (leader)
      block().tickets = 0;
    __syncthreads();
  }

  /// Whether the block's first warp is whole, to do something as a warp.
  GMPI_DEVICE static bool has_warp() { return block().departed == 0 && block_threads() >= 32; }

  /// Writes the data of the leader's Attribute, whose ticket the leader knows, in words with its
  /// generation. The members have read it after their next barrier.
  GMPI_DEVICE void write_data(unsigned long long ticket, const void *from,
                              std::uint32_t length) const {
    auto bytes = static_cast<std::int32_t>(length);
    if (is_local(from)) {
      if (leader)
        device::write_data(context, ticket, from, bytes, 0, 1);
    } else {
      share(ticket, &BlockState::ticket);
      unsigned rank, size;
      number(rank, size);
      device::write_data(context, ticket, from, bytes, static_cast<std::int32_t>(rank),
                         static_cast<std::int32_t>(size));
    }
  }

  /// Copies what the team sends. Only the leader can read its own local memory.
  GMPI_DEVICE void send(void *to, const void *from, unsigned long long bytes) const {
    if (is_local(from)) {
      if (leader)
        copy_share(to, from, bytes, 0, 1);
    } else {
      unsigned rank, size;
      number(rank, size);
      copy_share(to, from, bytes, rank, size);
    }
    __syncthreads();
  }

  /// Copies what the team receives; a buffer in local memory is filled in every thread.
  GMPI_DEVICE void receive(void *to, unsigned long long offset, const void *from,
                           unsigned long long bytes, bool = true) const {
    void *place = static_cast<unsigned char *>(to) + offset;
    if (is_local(to)) {
      copy_share(place, from, bytes, 0, 1);
    } else {
      unsigned rank, size;
      number(rank, size);
      copy_share(place, from, bytes, rank, size);
    }
    __syncthreads();
  }

  /// Whether the call's next Reply is there.
  GMPI_DEVICE bool replied(const Waiting &waiting) const {
    if (leader) {
      ReplyHead ignored;
      block().replied = try_head(context, waiting.slot, waiting.turn, ignored);
    }
    __syncthreads();
    return block().replied;
  }
};

/// Waits as block.waiting says, for the Reply that is then in the block's state, for all to read.
template <class Team> GMPI_DEVICE void await_together(const Team &team) {
  if (BlockTeam::has_warp()) {
    if (thread_index() < 32)
      await_reply_as_warp(Team::scope);
  } else if (team.leader) {
    await_reply_for_block(Team::scope);
  }
  __syncthreads();
}

/// Whether all blocks of the grid are there, of several, with all of their threads. The block that
/// makes the grid's call asks.
GMPI_DEVICE bool are_all_there() {
  const BlockState &block = block_state();
  return (block.living_blocks > 1) & (block.living_blocks == grid_blocks()) &
         (load_relaxed_device(&block.launch->lacks_threads) == 0);
}
/// This block's part of what all of them copy.
GMPI_DEVICE void copy_evenly(void *to, const void *from, unsigned long long bytes) {
  copy_share(to, from, bytes, block_index() * block_threads() + thread_index(),
             grid_blocks() * block_threads());
}

/// Copies shorter than this, for each thread of a block, are not worth another round of the whole
/// grid. A block's stores to the host's memory come close to what the bus carries; its loads from
/// there do not, as only so many are under way at a time.
constexpr unsigned long long shared_send_bytes = 4096, shared_receive_bytes = 1024;
/// From so much on, what has come with several Replies is read by all blocks of a grid.
constexpr std::uint32_t worth_reading = 128 * 1024;
/// Whether the block that makes a grid's call copies them by itself.
GMPI_DEVICE bool is_for_block(unsigned long long bytes, unsigned long long shared_bytes) {
  return bytes < shared_bytes * block_threads() || block_state().living_blocks == 1;
}
/// What a block takes at a time of a copy that the whole grid shares: multiples of the least, so
/// that each takes some four.
constexpr unsigned long long least_copy_portion = 16 * 1024, most_copy_portion = 128 * 1024;
GMPI_DEVICE unsigned long long copy_portion(unsigned long long bytes) {
  const unsigned long long portion =
      bytes / (4ull * grid_blocks()) / least_copy_portion * least_copy_portion;
  return portion < least_copy_portion  ? least_copy_portion
         : portion < most_copy_portion ? portion
                                       : most_copy_portion;
}

/// This block's part in the copies of block.copies, as block.task says; ends with the block's
/// barrier. Each copy is taken in portions of its own.
GMPI_OUT_OF_LINE void help_copy(BlockTeam team) {
  constexpr unsigned long long none = ~0ull;
  constexpr unsigned place_bits = 48; // where in the copy; above them, which one
  const Copies &copies = block_state().copies;
  if (block_state().task.what == GridTask::copy_evenly) {
    GMPI_NO_UNROLL
    for (std::uint32_t i = 0; i < copies.count; ++i)
      copy_evenly(copies.copy[i].to, copies.copy[i].from, copies.copy[i].bytes);
    return __syncthreads();
  }
  unsigned long long *claimed = &block_state().launch->task.next;
  const unsigned long long portion = copy_portion(block_state().task.bytes);
  unsigned rank, size;
  team.number(rank, size);
  unsigned long long next = 0, begin = 0; // of copy i, its first portion
  std::uint32_t i = 0;
  if (team.leads())
    next = add_relaxed_device(claimed, portion);
  for (;;) {
    unsigned long long place = none;
    if (team.leads()) {
      GMPI_NO_UNROLL
      for (; i < copies.count && next - begin >= copies.copy[i].bytes; ++i)
        begin += (copies.copy[i].bytes + portion - 1) / portion * portion;
      if (i < copies.count)
        place = (next - begin) | static_cast<unsigned long long>(i) << place_bits;
    }
    team.share(place, &BlockState::portion);
    if (place == none)
      break;
    if (team.leads()) // known once this portion is copied
      next = add_relaxed_device(claimed, portion);
    const Copies::Copy &copy = copies.copy[place >> place_bits];
    const unsigned long long first = place & ((1ull << place_bits) - 1), left = copy.bytes - first;
    copy_share(static_cast<unsigned char *>(copy.to) + first,
               static_cast<const unsigned char *>(copy.from) + first,
               left < portion ? left : portion, rank, size);
  }
  __syncthreads();
}

struct GridTeam : BlockTeam {
  static constexpr Scope scope = Scope::grid;

  /// Has the other blocks carry out `what` on `task`; join_helpers() ends it. The leader alone.
  GMPI_DEVICE static void command_helpers(const GridTask &task, GridCommand what) {
    block().launch->task = block().task = task;
    command(block(), what, arrivals(block()));
    block().first_round = false;
  }

  /// The same, all of the team.
  GMPI_DEVICE void call_helpers(const GridTask &task, GridCommand what) {
    if (leader)
      command_helpers(task, what);
    __syncthreads();
  }
  /// Until they have all come back. The leader alone.
  GMPI_DEVICE static void await_helpers() {
    unsigned long long helpers = block().living_blocks - 1;
    while ((load_acquire_device(&block().launch->membership) & 0xffffffffu) != helpers)
      relax();
  }
  GMPI_DEVICE void join_helpers() const {
    if (leader)
      await_helpers();
    __syncthreads();
  }

  /// Meets the helpers where that ends their part in the call: nobody is left to be told of its
  /// end.
  GMPI_DEVICE void leave_helpers() const {
    if (leader) {
      meet_blocks(block());
      block().living_blocks = 1;
    }
    __syncthreads();
  }

  GMPI_DEVICE bool alone() const { return block().living_blocks == 1; }

  /// The copies of block.copies, of so many bytes.
  GMPI_DEVICE void share_copies(unsigned long long bytes) {
    if (leader)
      note_copies(block().launch->copies, block().copies);
    call_helpers({bytes, 0, 0, leader && are_all_there() ? GridTask::copy_evenly : GridTask::copy},
                 GridCommand::copy);
    help_copy(*this);
    join_helpers();
  }
  GMPI_DEVICE void share_copy(void *to, const void *from, unsigned long long bytes) {
    if (leader) {
      block().copies.count = 1;
      block().copies.copy[0] = {to, from, bytes, 0, false, false};
    }
    share_copies(bytes);
  }

  GMPI_DEVICE void send(void *to, const void *from, unsigned long long bytes) {
    if (is_for_block(bytes, shared_send_bytes) || is_local(from))
      BlockTeam::send(to, from, bytes);
    else
      share_copy(to, from, bytes);
  }

  /// `last`: nothing follows but what the call returns.
  GMPI_DEVICE void receive(void *to, unsigned long long offset, const void *from,
                           unsigned long long bytes, bool last) {
    if (is_local(to))
      deliver(to, offset, from, bytes, last);
    else if (is_for_block(bytes, shared_receive_bytes))
      BlockTeam::receive(to, offset, from, bytes);
    else
      share_copy(static_cast<unsigned char *>(to) + offset, from, bytes);
  }

  /// Fills every thread's own buffer, in parts, by way of device memory: one read over PCIe. The
  /// other blocks take the last part of all when they are told that the call is done.
  GMPI_DEVICE void deliver(void *to, unsigned long long offset, const void *from,
                           unsigned long long bytes, bool last) {
    LaunchState &launch = *block().launch;
    if (alone())
      return BlockTeam::receive(to, offset, from, bytes);
    for (unsigned long long done = 0; done < bytes; done += broadcast_bytes) {
      unsigned long long part = bytes - done < broadcast_bytes ? bytes - done : broadcast_bytes;
      BlockTeam::receive(launch.broadcast, 0, static_cast<const unsigned char *>(from) + done,
                         part);
      GridTask task{part, 0, offset + done, GridTask::copy};
      bool with_done = last && done + part == bytes;
      if (with_done) {
        if (leader)
          block().last_part = task;
      } else {
        call_helpers(task, GridCommand::deliver);
      }
      BlockTeam::receive(to, offset + done, launch.broadcast, part);
      if (!with_done)
        join_helpers();
    }
  }

  /// Lets every block go on, with what the call returns.
  GMPI_DEVICE void finish(const CallResult &result) {
    __syncthreads();
    if (leader) {
      if (!alone()) {
        block().launch->result = result;
        block().launch->task = block().last_part;
      }
      command(block(), GridCommand::done, arrivals(block()), result.error);
    }
  }
};

} // namespace gmpi::device
