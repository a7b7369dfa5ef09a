// What there is to do for whoever has found it, for all of its team: messages, or parts of them, on
// their way. Host and device.
//
// Invariant: who has found it holds what it needs, a request or channels, until it is done.
#pragma once

#include "channel/header.hpp"

namespace gmpi::peer {

/// A message on its way through a channel.
struct Transfer {
  std::uint64_t *ring;
  std::uint32_t *freed;     ///< where the receiver tells that it has freed slots
  unsigned long long first; ///< its first slot
  unsigned char *data;
  unsigned long long room; ///< bytes at `data`; what is beyond is read and dropped
  Header header;

  GMPI_HOST_DEVICE unsigned long long readable() const {
    return room < header.bytes ? room : header.bytes;
  }
};

/// What a thread has found to do, for all of its team.
enum class WorkKind : std::uint32_t {
  none,
  over,     ///< what was waited for has come
  keep,     ///< read a message's data into its place; lock and channel are held meanwhile
  read,     ///< the same of one that a posted receive, `index`, has been found for
  carry_on, ///< a request, which is now held
  copies,   ///< those of block.copies, for requests that are held
  replies,  ///< read what has come with Replies, as block.copies says
};
struct Work {
  WorkKind kind;
  std::uint32_t index;
};

/// Slots of a message that are to be written or read now, or bytes that are to be stored.
struct Step {
  enum Kind : std::uint32_t { none, write, read, store, over } kind; ///< over: nothing is left
  bool check; ///< whether the slots to be written are free is not known yet
  unsigned long long low, high;
  Transfer transfer;
  unsigned char *target; ///< where the message is stored
};

/// A long message that the blocks of a grid carry together: each takes the next portion, and waits
/// until that can be written or read. The block that makes the grid's call sees to the rest.
struct SharedTransfer {
  Step step;                ///< of all slots that are left
  std::uint32_t request;    ///< held meanwhile
  unsigned long long next;  ///< no block has taken those from here on
  unsigned long long limit; ///< those below can be carried without waiting
  unsigned long long done;  ///< how many have been
};

struct SharedTransfers {
  static constexpr std::uint32_t most = 4, stop = 1u << 31;
  std::uint32_t count; ///< so many are there, and stay until the blocks are told to stop; with
                       ///< `stop` no limit grows any more
  SharedTransfer transfer[most];
};

} // namespace gmpi::peer
