// MPI_Sendrecv of two long messages by a grid that reads its own as a stream (streams_device.hpp):
// all blocks carry both at once, some the one, the others the other.
//
// Invariant: nobody who reads waits for those who write, so what has been agreed is read whatever
// becomes of the other message. That has been announced, and perhaps not answered yet. The block
// that makes the call is one of those who write: it awaits the answer, as long as nobody else of
// the rank has a say, and tells the others of it. Where none comes, or the message goes another
// way, nobody writes, and when all is read the call goes on in the general way.
#pragma once

#include "quick_long_device.hpp"

namespace gmpi::device::peer {

/// Of so many blocks as the grid has, so many write: in proportion.
GMPI_DEVICE std::uint32_t writers_of(std::uint64_t sent, std::uint64_t received) {
  const std::uint32_t blocks = grid_blocks();
  const auto its = static_cast<std::uint32_t>(blocks * sent / (sent + received));
  return its == 0 ? 1 : its == blocks ? blocks - 1 : its;
}

/// Waits for a packet of the launch's that comes with the last command, or behind it. Returns what
/// it says.
GMPI_DEVICE std::uint64_t await_told(const BlockState &block, const std::uint64_t (&packet)[2],
                                     std::uint32_t &more) {
  std::uint64_t low, high;
  GMPI_NO_UNROLL
  while (load_whole(packet, low, high), high >> 32 != told_round(block.round))
    relax();
  more = static_cast<std::uint32_t>(high);
  return low;
}

/// Awaits the answer to what is sent, and tells all blocks how that goes. The first warp of the
/// block that makes the call.
GMPI_DEVICE void decide_how_to_send(State &state, BlockState &block, Share &share) {
  const LongCall call = share.long_call;
  Outgoing::How how = Outgoing::not_now;
  std::uint64_t where = 0;
  watch(state, call, answer_at(state, call), call.send_lap,
        [&](const Packet &seen, unsigned shows) {
          const Match match = unpack_match(of_lane(seen.data(), 0));
          const bool streamed = is_streamed(match);
          if ((shows & 1) == 0 || (shows & 2) == 0)
            return (shows & 1) != 0 && match.number == 0 && !streamed;
          where = of_lane(seen.data(), 1);
          if (streamed) {
            how = Outgoing::streamed;
          } else if (match.number != 0) {
            const Packet mapped = Packet::load(state.mapped[call.to][match.place]);
            if (mapped.shows(match.number))
              how = Outgoing::stored;
            where += mapped.data();
            if (thread_index() == 0) {
              share.landed = landed_at(state.peer_acks[call.to], match.request);
              share.landed_lap = lap_of_serial(match.serial);
            }
          }
          return true;
        });
  if (thread_index() == 0)
    store_whole(block.launch->outgoing[1], where,
                std::uint64_t(told_round(block.round)) << 32 | std::uint64_t(how));
  __syncwarp();
}

/// The end of it, for this block, which has done its part. Returns over, or answered, or made,
/// where all blocks have met; or, where others follow, answered; or, where the call goes on with
/// what it sends, received, and share.sending is what is left of it. For the other blocks both of
/// these are sent.
GMPI_DEVICE Begun end_exchange_together() {
  BlockState &block = block_state();
  State &state = *context.peer;
  Share &share = block.peer;
  const Outgoing::How how = share.outgoing.how;
  const Begun then = share.span.then;
  const bool leads = block.command == GridCommand::lead, ends = how != Outgoing::not_now;
  const bool goes_on = !ends || then == Begun::sent;
  __syncthreads();
  if (thread_index() == 0) {
    end_part<true>(block, goes_on);
    if (leads) {
      store_release_device(&state.stream_busy[share.span.peer], 0);
      if (how == Outgoing::stored) {
        release_system(); // what all blocks have stored is there before that
        store_packet(share.landed, 0, share.landed_lap);
      }
      if (ends) {
        increase_relaxed_device(how == Outgoing::stored ? &state.stored : &state.streamed, 1);
        if (!goes_on)
          block.living_blocks = 1; // nobody is left to be told of the end
      } else {
        share.request = nothing;
        share.sending = share.long_call.sending;
        activate(state, share.sending);
      }
    }
  }
  __syncthreads();
  if (goes_on)
    return !leads ? Begun::sent : ends ? Begun::answered : Begun::received;
  return !leads && then == Begun::answered ? Begun::made : then;
}

/// All of a block, whichever of the grid's, carry their part of block.peer.span, or of what is sent
/// meanwhile. Returns as above.
GMPI_NOINLINE Begun carry_exchange() {
  BlockState &block = block_state();
  const std::uint64_t(&told)[2][2] = block.launch->outgoing;
  Share &share = block.peer;
  const Span &span = share.span;
  Outgoing &outgoing = share.outgoing;
  if (thread_index() < 32 && block.command == GridCommand::lead)
    decide_how_to_send(*context.peer, block, share);
  if (thread_index() == 0) {
    const std::uint64_t both = await_told(block, told[0], outgoing.peer);
    outgoing.bytes = static_cast<std::uint32_t>(both);
    outgoing.leader = static_cast<std::uint32_t>(both >> 32);
  }
  __syncthreads();
  const std::uint32_t blocks = grid_blocks(), writers = writers_of(outgoing.bytes, span.bytes);
  const std::uint32_t block_number = block_index(), leader = outgoing.leader;
  const std::uint32_t rank = block_number - leader + (block_number < leader ? blocks : 0);
  if (rank >= writers)
    carry_stream_part<true>({span.data, span.bytes, span.peer, span.first}, rank - writers,
                            blocks - writers);
  if (thread_index() == 0) {
    std::uint32_t how;
    outgoing.where = await_told(block, told[1], how);
    outgoing.how = static_cast<Outgoing::How>(how);
  }
  __syncthreads();
  if (rank < writers) {
    auto *const data = reinterpret_cast<unsigned char *>(span.ring);
    if (outgoing.how == Outgoing::streamed)
      carry_stream_part<false>({data, outgoing.bytes, outgoing.peer, outgoing.where}, rank,
                               writers);
    else if (outgoing.how == Outgoing::stored)
      copy_share(reinterpret_cast<void *>(outgoing.where), data, outgoing.bytes,
                 rank * block_threads() + thread_index(), writers * block_threads());
  }
  return end_exchange_together();
}

} // namespace gmpi::device::peer
