// Bundles: the dense packets in which the lanes of a warp carry 48 bytes each (ring.hpp), where
// the data lies at an address for eight bytes and all of it is wanted.
//
// Invariant: a bundle's packets follow each other in the ring, so that all of a lane's packets and
// words follow from where its first are. Who carries one needs nothing of the other lanes.
#pragma once

#include "../../launch/participant_device.hpp"
#include "ring.hpp"

namespace gmpi::device::peer {

/// A dense packet: a word, and half of another.
struct DensePacket {
  std::uint64_t word, half; ///< with its lap above

  GMPI_DEVICE static DensePacket load(const std::uint64_t *from) {
    DensePacket packet;
    load_whole(from, packet.word, packet.half);
    return packet;
  }
  GMPI_DEVICE bool shows(std::uint32_t lap) const {
    return static_cast<std::uint32_t>(half >> 32) == lap;
  }
};
GMPI_DEVICE void store_dense(std::uint64_t *to, std::uint64_t word, std::uint32_t half,
                             std::uint32_t lap) {
  store_whole(to, word, half | std::uint64_t(lap) << 32);
}

/// Sixteen bytes of the user's.
struct alignas(16) Sixteen {
  std::uint64_t low, high;
};
GMPI_DEVICE bool is_in_sixteens(const void *data) {
  return (reinterpret_cast<std::uint64_t>(data) & 15) == 0;
}
/// At an address for sixteen bytes, `sixteens`, or for eight.
template <bool sixteens> GMPI_DEVICE Sixteen load_word(const unsigned char *from) {
  if constexpr (sixteens)
    return *reinterpret_cast<const Sixteen *>(from);
  auto *halves = reinterpret_cast<const unsigned long long *>(from);
  return {halves[0], halves[1]};
}
template <bool sixteens> GMPI_DEVICE void store_word(unsigned char *to, const Sixteen &word) {
  if constexpr (sixteens) {
    *reinterpret_cast<Sixteen *>(to) = word;
  } else {
    reinterpret_cast<unsigned long long *>(to)[0] = word.low;
    reinterpret_cast<unsigned long long *>(to)[1] = word.high;
  }
}

/// One lane's three words of a bundle, to its four packets, of which `place` is the first.
GMPI_DEVICE void store_words(std::uint64_t *place, const Sixteen *words, std::uint32_t lap) {
  constexpr std::size_t next = 32 * packet_words;
  GMPI_UNROLL
  for (std::uint32_t row = 0; row < 3; ++row)
    store_dense(place + row * next, words[row].low, static_cast<std::uint32_t>(words[row].high),
                lap);
  store_dense(place + 3 * next, words[0].high >> 32 | (words[1].high & 0xffffffff00000000u),
              static_cast<std::uint32_t>(words[2].high >> 32), lap);
}
/// One of the words that a lane's four packets carry.
GMPI_DEVICE Sixteen word_of(const DensePacket *packets, std::uint32_t row) {
  const DensePacket &its = packets[row], &rest = packets[3];
  const auto last = static_cast<std::uint32_t>(row == 0   ? rest.word
                                               : row == 1 ? rest.word >> 32
                                                          : rest.half);
  return {its.word, (its.half & 0xffffffffu) | std::uint64_t(last) << 32};
}

/// Waits for a lane's packets of a bundle or more, of which `place` is the first. `meanwhile` is
/// done, if `first`, while they are loaded for the first time.
template <std::uint32_t count, class Meanwhile>
GMPI_DEVICE void await_packets(const std::uint64_t *place, std::uint32_t lap,
                               DensePacket (&found)[count], bool first, Meanwhile meanwhile) {
  bool there;
  GMPI_NO_UNROLL
  do {
    GMPI_UNROLL
    for (std::uint32_t i = 0; i < count; ++i)
      found[i] = DensePacket::load(place + i * 32 * packet_words);
    if (first)
      meanwhile();
    first = false;
    there = true;
    GMPI_UNROLL
    for (std::uint32_t i = 0; i < count; ++i)
      there = there & found[i].shows(lap);
  } while (!there && (relax(), true));
}

/// A message's whole bundles.
struct Bundles {
  std::uint64_t *ring; ///< where the first one's first packet is
  unsigned char *data;
  std::uint32_t count, lap;
};

/// A stretch of `each` bundles, as one lane carries it. `sixteens`: the data is at an address for
/// sixteen bytes; else, for eight.
template <std::uint32_t each, bool sixteens> struct Stretch {
  static constexpr std::uint32_t rows = 3;
  std::uint64_t *place; ///< of the lane's first packet
  unsigned char *data;  ///< its first word
  std::uint32_t lap;

  /// From bundle `first` on.
  GMPI_DEVICE Stretch(const Bundles &bundles, std::uint32_t first, std::uint32_t lane)
      : place(bundles.ring + (first * bundle_packets + lane) * packet_words),
        data(bundles.data + first * bundle_bytes + lane * sizeof(Sixteen)), lap(bundles.lap) {}

  GMPI_DEVICE std::uint64_t *packet(std::uint32_t i) const { return place + i * 32 * packet_words; }
  GMPI_DEVICE unsigned char *word(std::uint32_t i) const { return data + i * 32 * sizeof(Sixteen); }
  GMPI_DEVICE void load(Sixteen (&words)[each * rows]) const {
    GMPI_UNROLL
    for (std::uint32_t i = 0; i < each * rows; ++i)
      words[i] = load_word<sixteens>(word(i));
  }
  GMPI_DEVICE void store(const Sixteen (&words)[each * rows]) const {
    GMPI_UNROLL
    for (std::uint32_t k = 0; k < each; ++k)
      store_words(packet(k * 4), words + k * rows, lap);
  }

  /// `meanwhile` is done while the `first` words, or packets, are on their way.
  template <class Meanwhile> GMPI_DEVICE void write(bool first, Meanwhile meanwhile) const {
    Sixteen words[each * rows];
    load(words);
    if (first)
      meanwhile();
    store(words);
  }
  template <class Meanwhile> GMPI_DEVICE void read(bool first, Meanwhile meanwhile) const {
    DensePacket found[each * 4];
    await_packets(place, lap, found, first, meanwhile);
    GMPI_UNROLL
    for (std::uint32_t i = 0; i < each * rows; ++i)
      store_word<sixteens>(word(i), word_of(found + i / rows * 4, i % rows));
  }
  template <bool reads, class Meanwhile>
  GMPI_DEVICE void carry(bool first, Meanwhile meanwhile) const {
    if constexpr (reads)
      read(first, meanwhile);
    else
      write(first, meanwhile);
  }
};

/// A member's part of writing or reading bundles; each 32 of the `size` carry theirs together. (A
/// function's registers are those that its caller does not keep, half of all: so two bundles at a
/// time.) `meanwhile` is done by the first 32, while they wait for memory, if there is a bundle.
template <std::uint32_t each, bool sixteens, bool reads, class Meanwhile>
GMPI_DEVICE void carry_stretches(const Bundles &bundles, std::uint32_t rank, std::uint32_t size,
                                 Meanwhile meanwhile) {
  const std::uint32_t warp = rank / 32, warps = size / 32, lane = rank % 32;
  const std::uint32_t end = warp < warps ? bundles.count : 0; // the last 32 may not be whole
  GMPI_NO_UNROLL
  for (std::uint32_t i = warp * each; i + each <= end; i += warps * each)
    Stretch<each, sixteens>(bundles, i, lane).template carry<reads>(i == 0, meanwhile);
  if (end % each != 0 && warp + 1 == warps) // the last, for who has done least
    Stretch<1, sixteens>(bundles, end - 1, lane).template carry<reads>(end == 1, meanwhile);
}
template <bool reads, class Meanwhile>
GMPI_DEVICE void carry_bundles(const Bundles &bundles, std::uint32_t rank, std::uint32_t size,
                               Meanwhile meanwhile) {
  const bool sixteens = is_in_sixteens(bundles.data);
  const bool many = bundles.count > size / 32;
  if (sixteens)
    many ? carry_stretches<2, true, reads>(bundles, rank, size, meanwhile)
         : carry_stretches<1, true, reads>(bundles, rank, size, meanwhile);
  else
    many ? carry_stretches<2, false, reads>(bundles, rank, size, meanwhile)
         : carry_stretches<1, false, reads>(bundles, rank, size, meanwhile);
}

} // namespace gmpi::device::peer
