// How far a call has come that the first warp of a block has begun for all its threads. Host and
// device.
#pragma once

#include <cstdint>

namespace gmpi {

enum class Begun : std::uint32_t {
  behind,    ///< calls of the grid that have been left to it are to be made first
  singly,    ///< the same, those that have not been made yet one by one
  posted,    ///< there are none, but those made last may be the ones that it waits for
  unmet,     ///< nobody has looked: some of the block's threads are missing, or it is one thread's
  elsewhere, ///< it is the proxy's, which does not know of it yet
  numbered,  ///< the same, and block.ticket is its Attribute's
  writing,   ///< the proxy is to know of it, or has asked for its data: all of the block write
             ///< that, see block.moving
  asked,     ///< the proxy knows of it, and its Reply is yet to be awaited
  reading,   ///< the Reply is there: all of the block read the data, see block.moving
  replied,   ///< the Reply is in the block's state; what it says is yet to be done
  nothing,
  sending,    ///< its slots have been taken
  receiving,  ///< its message has been found, and is its own (of MPI_Sendrecv: and sent is the
              ///< other)
  matched,    ///< it receives a long message, and waits for the request that this has matched
  announced,  ///< it sends one, which block.peer.long_call has announced, and awaits the answer
  landing,    ///< it receives one, has answered, and awaits the data
  left,       ///< of either, others of the rank have a say in what is left
  found,      ///< what it receives is there, see block.peer.arrived, but not yet looked at; of
              ///< MPI_Sendrecv: and sent is the other
  offered,    ///< the same, and it is a long message for it
  longer,     ///< what it receives may be longer than what it has been ready to look for
  sent,       ///< of MPI_Sendrecv: sent is its message, and the other yet to be received
  received,   ///< the other way round
  spanning,   ///< all of the block are to write, or read, block.peer.span
  bundling,   ///< the same, in bundles
  sharing,    ///< the same, all blocks of the grid
  exchanging, ///< all that is left is to write, as the step says, and to receive; of a collective
              ///< call, a round of the first warp's
  carrying,   ///< all that is left is to write or read, as the step says
  storing,    ///< all that is left is to store a long message where the step says
  working,    ///< it waits, and all of the block are to do some work before it goes on
  answered,   ///< all that is left is to give the threads what the call returns
  over,       ///< nothing is left
  led,        ///< another block makes the grid's call
  made,    ///< another block has made it: all that is left is to give the threads what lies in the
           ///< launch's state
  helping, ///< the same, and this one is to help with a copy, see block.task
};

} // namespace gmpi
