// What follows a call's Attribute in the general way: the Replies to it, and the copies that these
// ask for, until the last.
//
// Invariant: each Reply is awaited once, and what it asks for is done, and said, before the next.
#pragma once

#include "alone_device.hpp"
#include "quick_device.hpp"
#include "team_device.hpp"

namespace gmpi::device {

/// Carries one thread's call through to its last Reply, whose meaning it returns; flag 0: the
/// request is not done yet. `head`: of the first Reply, which is there.
GMPI_OUT_OF_LINE CallResult drain_alone(Waiting waiting, ReplyHead head, const void *in,
                                        void *out) {
  for (bool first = true;; first = false) {
    if (!first)
      head = await_head(waiting, Scope::thread);
    Reply reply = read_reply(context, waiting.slot, head, waiting.want_status);
    ++waiting.turn;
    CallResult result = result_of(reply);
    auto *to = static_cast<unsigned char *>(out) + reply.offset;
    if (reply.kind == ReplyKind::done_here)
      store_head_data(reply, out);
    else if (reply.kind == ReplyKind::done_beside)
      read_beside(context, waiting.slot, static_cast<std::uint32_t>(reply.bytes), to);
    else if (reply.kind == ReplyKind::done && reply.bytes != 0)
      read_alone(out, context.payload + std::size_t(waiting.slot) * inline_bytes, reply.bytes);
    if (!asks_for_copy(reply.kind))
      return result;
    if (asks_to_send(reply.kind))
      copy_share(reply.address, static_cast<const unsigned char *>(in) + reply.offset, reply.bytes,
                 0, 1);
    else
      read_alone(to, reply.address, reply.bytes);
    say_made(reply.kind, waiting.slot, Scope::thread);
    if (reply.kind == ReplyKind::copy_out_last)
      return result;
    if (reply.kind == ReplyKind::copy_in_last) {
      result.flag = 0;
      return result;
    }
  }
}

/// Moves the data that the block's last Reply is about. The team ends it together.
template <class Team> GMPI_NOINLINE void move_data(Team team, const void *in, void *out) {
  BlockState &block = block_state();
  Reply reply = unpack_reply(block.reply);
  if (asks_to_send(reply.kind))
    team.send(reply.address, static_cast<const unsigned char *>(in) + reply.offset, reply.bytes);
  else if (asks_for_copy(reply.kind))
    team.receive(out, reply.offset, reply.address, reply.bytes,
                 reply.kind == ReplyKind::copy_out_last);
  else if (reply.kind == ReplyKind::done)
    team.receive(out, 0, context.payload + std::size_t(block.waiting.slot) * inline_bytes,
                 reply.bytes, true);
  else
    team.receive(out, 0, block.small, reply.bytes, true);
}

/// The same as drain_alone(), for all of a team, as block.waiting says; the meaning is in
/// block.reply. `replied`: the first Reply is there already.
template <class Team>
GMPI_DEVICE void drain_together(Team team, const void *in, void *out, bool replied) {
  BlockState &block = block_state();
  for (;; replied = false) {
    if (!replied)
      await_together(team);
    Reply reply = unpack_reply_head(block.reply);
    if (asks_for_copy(reply.kind) || (is_done(reply.kind) && reply.bytes != 0 && !block.stored))
      move_data(team, in, out);
    if (!asks_for_copy(reply.kind))
      return;
    if (team.leads()) {
      ++block.waiting.turn;
      say_made(reply.kind, block.waiting.slot, Team::scope);
    }
    if (reply.kind == ReplyKind::copy_out_last || reply.kind == ReplyKind::copy_in_last)
      return;
  }
}

/// What remains of a block's call that the proxy knows of, as block.waiting says. `replied`: the
/// first Reply is there already.
template <class Team>
GMPI_DEVICE CallResult drain_rest(const Team &team, const void *in, void *out, bool replied) {
  drain_together(team, in, out, replied);
  Reply last = unpack_reply(block_state().reply);
  CallResult result = result_of(last);
  if (last.kind == ReplyKind::copy_in_last)
    result.flag = 0;
  return result;
}

/// Carries a call through to its last Reply, whose meaning it returns; flag 0: the request is not
/// done yet. `waiting` is the leader's.
template <class Team>
GMPI_DEVICE CallResult drain(const Team &team, const Waiting &waiting, const void *in, void *out) {
  if constexpr (Team::scope == Scope::thread) {
    return drain_alone(waiting, await_head(waiting, Scope::thread), in, out);
  } else {
    if (team.leads()) {
      block_state().waiting = waiting;
      block_state().waiting.out = is_local(out) ? nullptr : out;
    }
    return drain_rest(team, in, out, false);
  }
}

} // namespace gmpi::device
