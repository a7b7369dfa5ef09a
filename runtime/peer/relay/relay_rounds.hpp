// Collective calls on a communicator whose ranks run on several hosts: each rank's rounds lie in
// page-locked memory of its own. Its kernels write their part there, the relay writes the others',
// as they would.
//
// Invariant: that a rank has begun a round is told to all, in order. Its part follows when it is
// whole, and only then the round's first packet says how many it has. A part whose place a later
// round has taken is one that nobody has waited for: that round could not have begun else.
#pragma once

#include "../collectives/places.hpp"
#include "host_packets.hpp"
#include "relay_message.hpp"

namespace gmpi::peer {

class RelayRounds {
public:
  /// `memory`: [round_places][size][round_packets] packets, zeroed at first; `rank`: this one.
  RelayRounds(std::uint64_t *memory, std::uint32_t context, int size, int rank)
      : memory_(memory), context_(context), size_(size), rank_(rank) {}

  /// Adds what is new to the outboxes of all the others; false where nothing is.
  bool collect(const std::vector<RelayOutbox *> &others);
  void deliver(const RelayRecord &record, const std::uint64_t *data);
  /// Rounds that this rank has begun, as the others have been told; modulo 2^32.
  std::uint32_t begun() const { return begun_; }

private:
  enum class Part { none, some, whole, gone };
  Part copy_part();
  void tell(const std::vector<RelayOutbox *> &others, bool with_part);
  std::uint64_t *part_of(std::uint32_t round, std::uint32_t rank) const {
    return part_of_round(memory_, round, size_, rank);
  }

  std::uint64_t *memory_;
  std::uint32_t context_, size_, rank_;
  std::uint32_t begun_ = 0;  ///< rounds of which that was told
  std::uint32_t done_ = 0;   ///< and the part
  std::uint64_t follow_ = 0; ///< packets of the part of round begun_
  std::vector<std::uint64_t> part_;
};

} // namespace gmpi::peer
