// Where ranks' packets of collective calls lie: of rounds, and of the pieces of longer calls. Host
// and device.
//
// Invariant: a rank writes a round's packets where nobody reads those of another round any more: see
// rounds_ahead.
#pragma once

#include "../channel/ring.hpp"

namespace gmpi::peer {

/// One round of a collective call moves so much from each rank to each.
constexpr std::uint32_t round_bytes = 65536;
/// The first says hello, and how many of the others this rank has written.
constexpr std::uint32_t round_packets = round_bytes / packet_bytes + 1;
/// Of a call of several rounds across hosts, as much as a warp carries at once.
constexpr std::uint32_t section_packets = 32;
constexpr std::uint32_t section_bytes = section_packets * packet_bytes;
constexpr std::uint32_t round_sections = round_bytes / section_bytes;
/// So many rounds have memory of their own (a power of two), and so many may be written before one
/// has been read: of a call's first, so many before it is known that the others have begun it.
constexpr std::uint32_t round_places = 8, rounds_ahead = round_places / 2,
                        rounds_unasked = rounds_ahead - 1;
/// Longer calls go between ranks of one host in pieces of a bundle each, which one rank owns. All
/// ranks send it their parts, and it sends all of them the result (pieces_device.hpp): for either,
/// there are so many places of each owner.
GMPI_HOST_DEVICE constexpr std::uint32_t piece_places(std::uint32_t ranks) { return 2048 / ranks; }
enum class PiecePlace {
  part,   ///< in the owner's memory, by the rank that sends it
  result, ///< in each rank's, by owner
};

/// Where rank `from` of `size` puts its packets of collective round number `round`, in the memory
/// of a rank's rounds: [round_places][size][round_packets].
GMPI_HOST_DEVICE inline std::uint64_t *part_of_round(std::uint64_t *memory, std::uint32_t round,
                                                     int size, int from) {
  const auto place = round % round_places * static_cast<std::uint32_t>(size) +
                     static_cast<std::uint32_t>(from);
  return memory + place * (round_packets * packet_words); // (in 32 bits: kernels take their time)
}
GMPI_HOST_DEVICE constexpr std::size_t words_of_rounds(std::uint32_t ranks) {
  return std::size_t(round_places) * ranks * round_packets * packet_words;
}
static_assert(words_of_rounds(max_peers) < 1ull << 32);
/// And the places of pieces, which lie behind that: [PiecePlace][ranks][piece_places] bundles.
GMPI_HOST_DEVICE constexpr std::size_t words_of_pieces(std::uint32_t ranks) {
  return 2 * std::size_t(ranks) * piece_places(ranks) * bundle_packets * packet_words;
}

} // namespace gmpi::peer
