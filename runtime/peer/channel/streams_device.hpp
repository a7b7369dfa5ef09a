// Streams: how all blocks of a grid write a long message that all blocks of another are reading,
// where it cannot be stored where it belongs: bundle by bundle through a ring of its own, in which
// each waits for its place, or its packets, by itself. Between hosts it is chunk by chunk, each as
// it is, through a ring in either host's memory: MPI carries what is there from one to the other.
//
// Invariant: a stream is agreed on before it begins. The sender's grid has announced the message
// in a blocking call of all its blocks, and waits for nothing else before it has written it, but
// may read one meanwhile (exchange_device.hpp); the receiver has answered that its blocks read, and
// from which bundle on. So each waits only for what the other does without waiting for anything
// else. One stream at a time leads from a rank to another: the receiver says whose it is, and
// counts the bundles.
#pragma once

#include "span_device.hpp"

namespace gmpi::device::peer {

using gmpi::peer::chunk_bytes;
using gmpi::peer::stream_slots;

GMPI_DEVICE std::uint32_t stream_bundles(std::uint64_t bytes) {
  return static_cast<std::uint32_t>((bytes + bundle_bytes - 1) / bundle_bytes);
}
/// Longer messages are not streamed: a span counts bytes in 32 bits.
constexpr std::uint64_t most_streamed = 1ull << 31;

/// A lane's three words of a bundle, of which `left` bytes from the lane's first on are the
/// message's: all, but for the last bundle. `sixteens`: they are at an address for sixteen bytes.
GMPI_DEVICE void load_lanes_words(const unsigned char *data, std::uint32_t left, bool sixteens,
                                  Sixteen (&words)[3]) {
  constexpr std::uint32_t apart = 32 * sizeof(Sixteen);
  GMPI_UNROLL
  for (std::uint32_t row = 0; row < 3; ++row) {
    const unsigned char *const from = data + row * apart;
    const std::uint32_t its = row * apart < left ? left - row * apart : 0;
    if (its >= sizeof(Sixteen))
      words[row] = sixteens ? load_word<true>(from) : load_word<false>(from);
    else
      words[row] = {load_data(from, its), its > 8 ? load_data(from + 8, its - 8) : 0};
  }
}
GMPI_DEVICE void store_lanes_words(unsigned char *data, std::uint32_t left, bool sixteens,
                                   const DensePacket *packets) {
  constexpr std::uint32_t apart = 32 * sizeof(Sixteen);
  GMPI_UNROLL
  for (std::uint32_t row = 0; row < 3; ++row) {
    unsigned char *const to = data + row * apart;
    const std::uint32_t its = row * apart < left ? left - row * apart : 0;
    const Sixteen word = word_of(packets, row);
    if (its >= sizeof(Sixteen)) {
      sixteens ? store_word<true>(to, word) : store_word<false>(to, word);
    } else if (its != 0) {
      store_data(to, its, word.low);
      if (its > 8)
        store_data(to + 8, its - 8, word.high);
    }
  }
}

/// A message that is streamed, from that bundle on.
struct Stream {
  unsigned char *data;
  std::uint32_t bytes, peer;
  unsigned long long first;
};
/// This block's part of one, as number `block` of so many, all of it: a warp a bundle, block by
/// block.
template <bool reads>
GMPI_DEVICE void carry_stream_part(const Stream &its, std::uint32_t block, std::uint32_t blocks) {
  const std::uint32_t warp = thread_index() / 32, warps = block_threads() / 32;
  const std::uint32_t lane = lane_index(), all = blocks * warps;
  const std::uint32_t bytes = its.bytes, count = warp < warps ? stream_bundles(bytes) : 0;
  const unsigned long long first = its.first;
  const bool sixteens = is_in_sixteens(its.data);
  const Channel &stream = context.peer->streams[its.peer];
  std::uint64_t *const ring = (reads ? stream.in : stream.out) + lane * packet_words;
  std::uint32_t *const freed = reads ? stream.in_freed : stream.out_freed;
  unsigned char *const begin = its.data + lane * sizeof(Sixteen);
  GMPI_NO_UNROLL
  for (std::uint32_t i = warp * blocks + block; i < count; i += all) {
    const auto place = static_cast<std::uint32_t>((first + i) % stream_slots);
    const auto lap = static_cast<std::uint32_t>((first + i) / stream_slots) + 1;
    std::uint64_t *const packets = ring + std::size_t(place) * bundle_packets * packet_words;
    unsigned char *const data = begin + std::size_t(i) * bundle_bytes;
    const std::uint32_t before = i * bundle_bytes + lane * sizeof(Sixteen);
    const std::uint32_t left = before < bytes ? bytes - before : 0;
    if constexpr (reads) {
      DensePacket found[4];
      await_packets(packets, lap, found, false, [] {});
      store_lanes_words(data, left, sixteens, found);
      __syncwarp();
      if (lane == 0)
        store_relaxed_system(freed + place, lap);
    } else {
      Sixteen words[3];
      load_lanes_words(data, left, sixteens, words);
      GMPI_NO_UNROLL
      while (load_relaxed_system(freed + place) != lap - 1)
        relax();
      store_words(packets, words, lap);
    }
  }
}

/// All of block.peer.span.
template <bool reads> GMPI_DEVICE void carry_stream_part(const Span &span) {
  carry_stream_part<reads>({span.data, span.bytes, span.peer, span.first}, block_index(),
                           grid_blocks());
}

/// The same of one from another host, or to there: a block a chunk.
template <bool reads> GMPI_DEVICE void carry_far_stream_part(const Span &span) {
  const Channel &stream = context.peer->streams[span.peer];
  const std::uint32_t count = gmpi::peer::chunks_for(span.bytes), thread = thread_index();
  std::uint64_t *const ring = reads ? stream.in : stream.out;
  GMPI_NO_UNROLL
  for (std::uint32_t i = block_index(); i < count; i += grid_blocks()) {
    const unsigned long long number = span.first + i;
    const std::uint32_t lap = gmpi::peer::lap_of_chunk(number), left = span.bytes - i * chunk_bytes;
    const std::uint32_t bytes = left < chunk_bytes ? left : chunk_bytes;
    unsigned char *const chunk = gmpi::peer::chunk_at(ring, number);
    unsigned char *const data = span.data + i * chunk_bytes;
    std::uint64_t *const packet = gmpi::peer::packet_of_chunk(ring, number);
    std::uint32_t *const freed =
        (reads ? stream.in_freed : stream.out_freed) + gmpi::peer::place_of_chunk(number);
    if (thread == 0) {
      if constexpr (reads) {
        await_packet(packet, lap);
        acquire_system();
      } else {
        GMPI_NO_UNROLL
        while (load_relaxed_system(freed) != lap - 1)
          relax();
      }
    }
    __syncthreads();
    copy_share(reads ? data : chunk, reads ? chunk : data, bytes, thread, block_threads());
    __syncthreads();
    if (thread == 0) {
      if constexpr (reads) {
        store_relaxed_system(freed, lap);
      } else {
        release_system(); // what all of the block have stored is there before that
        store_packet(packet, bytes, lap);
      }
    }
  }
}

} // namespace gmpi::device::peer
