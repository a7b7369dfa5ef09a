// What a rank does in one round of a collective call, and what it can calculate with. Host and
// device.
#pragma once

#include "../state.hpp"
#include "places.hpp"

namespace gmpi {

/// What a datatype's elements are, where kernels can calculate with them.
enum class Number : std::uint32_t {
  none,
  int8,
  uint8,
  int16,
  uint16,
  int32,
  uint32,
  int64,
  uint64,
  float32,
  float64,
};

namespace peer {

enum class Reduction : std::uint32_t {
  none,
  max,
  min,
  sum,
  prod,
  land,
  band,
  lor,
  bor,
  lxor,
  bxor
};

/// How a block, or a grid, sets about a collective call.
enum class Way : std::uint32_t {
  elsewhere,  ///< by the proxy
  general,    ///< in steps that nobody hurries
  by_warp,    ///< a warp carries its only round, with a packet in each lane
  by_block,   ///< or all of the block
  all_blocks, ///< or all blocks of the grid, if they are all there
};

/// One rank's part in a round of a collective call, or in all its rounds.
struct Round {
  /// The call that this was made from, by a block that then makes the same one again; comm is 0
  /// where it was not made so.
  struct Of {
    MPI_Comm comm;
    MPI_Datatype datatype;
    MPI_Op op;
    const void *in;
    void *out;
    std::int32_t count, root;
    std::uint32_t function; ///< and scope
  } of;
  Way way;
  /// Of so many ranks the memory is known without a look at the communicator, which lies far away.
  static constexpr std::uint32_t near_ranks = 8;

  Comm *comm;
  std::int32_t rank, size;           ///< as it says
  bool near;                         ///< all on this host
  std::uint64_t *memory[near_ranks]; ///< its rounds[]
  std::uint32_t number;
  std::uint32_t soon;      ///< all have begun it
  bool shared;             ///< all blocks of a grid carry it, each packets of its own
  bool met;                ///< and have met for it: each makes the call by itself
  const unsigned char *in; ///< null: nothing but that it has begun
  unsigned char *out;      ///< null: the result is not wanted
  std::uint32_t bytes;     ///< of a call's only round
  std::uint64_t length;    ///< the same of all of a call's rounds, of which `number` is the first
  std::uint32_t low, high; ///< of a call in pieces, those that `in` and `out` begin with and end at
  int root;                ///< of MPI_Bcast: the only part; else below 0
  int wants;               ///< of MPI_Reduce: the only rank that gets a result; else below 0
  Reduction reduction;
  Number datatype;
  bool common;     ///< kernels combine such without a call
  bool by_each;    ///< a grid's blocks may wait for it each by itself
  bool short_near; ///< a packet of data at most, of near_ranks at most, all on this host
};

GMPI_HOST_DEVICE constexpr std::uint32_t pieces_of(std::uint64_t bytes) {
  return static_cast<std::uint32_t>((bytes + bundle_bytes - 1) / bundle_bytes);
}
/// So many ranks own pieces of a call, from rank number first_owner() on; `root`: as Round has it.
GMPI_HOST_DEVICE constexpr std::uint32_t owners_of(int size, int root) {
  return static_cast<std::uint32_t>(root < 0 || size == 1 ? size : size - 1);
}
GMPI_HOST_DEVICE constexpr int first_owner(int size, int root) {
  return root < 0 ? 0 : (root + 1) % size;
}
/// So many a call takes: one at least. Of one in pieces, each is as many as have places.
GMPI_HOST_DEVICE inline std::uint32_t rounds_of(const Round &round) {
  if (round.length <= round_bytes)
    return 1;
  if (!round.near)
    return static_cast<std::uint32_t>((round.length + round_bytes - 1) / round_bytes);
  const std::uint32_t window =
      piece_places(static_cast<std::uint32_t>(round.size)) * owners_of(round.size, round.root);
  return (pieces_of(round.length) + window - 1) / window;
}
/// Whether it goes in more than one round, or in pieces.
GMPI_HOST_DEVICE inline bool is_long(const Round &round) { return round.length > round_bytes; }
/// Whether `rank` has data for the others; `root`: as Round has it.
GMPI_HOST_DEVICE inline bool sends_data(int root, int rank) { return root < 0 || root == rank; }
GMPI_HOST_DEVICE constexpr std::uint64_t packets_of_data(std::uint64_t bytes) {
  return (bytes + packet_bytes - 1) / packet_bytes;
}
/// The packets of a call's only round.
GMPI_HOST_DEVICE inline std::uint32_t data_packets(const Round &round) {
  return static_cast<std::uint32_t>(packets_of_data(round.bytes));
}

} // namespace peer
} // namespace gmpi
