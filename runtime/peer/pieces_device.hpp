// Collective calls of more than one round between ranks of one host. The data goes in pieces, each
// owned by one rank: all others send it their parts, it makes of them what the piece becomes, and
// sends them that. So each rank sends and receives its data about twice, however many ranks there
// are.
//
// Invariant: every other rank sends a piece's owner its part, and gets the result of it: of either,
// only a packet, where there is no data, or it is not wanted. The owner sends results when it has
// all parts, and a rank sends its next part for the same place when it has the result. So who has a
// result knows that its part has been read, and who has all parts knows that of its results: no
// place has to be asked for, from one call to the next neither, and whoever has made such a call
// knows that all have begun it. (A packet that is no data is written when all of the carrier have
// read.)
// The owner combines in the order of ranks: all get the same bits.
#pragma once

#include "carriers_device.hpp"

namespace gmpi::device::peer {

/// The three words that a lane carries of a piece.
struct PieceWords {
  static constexpr std::uint32_t rows = 3, row_bytes = 32 * sizeof(Sixteen);
  Sixteen word[rows];

  /// From `data` on, `left` bytes of the call's, which may be none.
  GMPI_DEVICE void load(const unsigned char *data, std::int64_t left) {
    if (are_whole(data, left)) {
      GMPI_UNROLL
      for (std::uint32_t row = 0; row < rows; ++row)
        word[row] = *reinterpret_cast<const Sixteen *>(data + row * row_bytes);
      return;
    }
    GMPI_NO_UNROLL
    for (std::uint32_t row = 0; row < rows; ++row) {
      const std::int64_t its = left - row * row_bytes;
      const unsigned char *from = data + row * row_bytes;
      const Sixteen value = {its > 0 ? load_data(from, its) : 0,
                             its > 8 ? load_data(from + 8, its - 8) : 0};
      GMPI_UNROLL
      for (std::uint32_t i = 0; i < rows; ++i)
        if (i == row)
          word[i] = value;
    }
  }
  GMPI_DEVICE void store(unsigned char *data, std::int64_t left) const {
    if (are_whole(data, left)) {
      GMPI_UNROLL
      for (std::uint32_t row = 0; row < rows; ++row)
        *reinterpret_cast<Sixteen *>(data + row * row_bytes) = word[row];
      return;
    }
    GMPI_NO_UNROLL
    for (std::uint32_t row = 0; row < rows; ++row) {
      const std::int64_t its = left - row * row_bytes;
      unsigned char *to = data + row * row_bytes;
      Sixteen value{};
      GMPI_UNROLL
      for (std::uint32_t i = 0; i < rows; ++i)
        if (i == row)
          value = word[i];
      if (its > 0)
        store_data(to, its, value.low);
      if (its > 8)
        store_data(to + 8, its - 8, value.high);
    }
  }
  GMPI_DEVICE static bool are_whole(const unsigned char *data, std::int64_t left) {
    return left >= std::int64_t(bundle_bytes - row_bytes + sizeof(Sixteen)) &&
           (reinterpret_cast<std::uint64_t>(data) & 15) == 0;
  }

  /// From a lane's four packets, the first of them at `place`, when they have come; `wait`: as
  /// await_part() has it.
  GMPI_DEVICE void await(const std::uint64_t *place, std::uint32_t number, Wait *wait) {
    constexpr std::size_t next = 32 * packet_words;
    DensePacket found[rows + 1];
    if (wait != nullptr)
      await_part<DensePacket>(place, number, wait);
    bool there;
    GMPI_NO_UNROLL
    do {
      GMPI_UNROLL
      for (std::uint32_t i = 0; i <= rows; ++i)
        found[i] = DensePacket::load(place + i * next);
      there = true;
      GMPI_UNROLL
      for (std::uint32_t i = 0; i <= rows; ++i)
        there = there & found[i].shows(number);
    } while (!there && (relax(), true));
    GMPI_UNROLL
    for (std::uint32_t row = 0; row < rows; ++row)
      word[row] = word_of(found, row);
  }
  template <bool common>
  GMPI_DEVICE void combine(const PieceWords &with, const Combine<common> &combine) {
    GMPI_UNROLL
    for (std::uint32_t row = 0; row < rows; ++row) {
      word[row].low = combine(word[row].low, with.word[row].low);
      word[row].high = combine(word[row].high, with.word[row].high);
    }
  }
};

/// A call as one of its carriers sees it, in registers.
struct CallInPieces {
  const Round &round;
  Carrier carrier;
  Turn turn;
  const unsigned char *in;
  unsigned char *out;
  std::uint64_t length;
  std::uint64_t *memory; ///< of this rank's rounds
  std::uint32_t low, high, owners, window;
  int rank, size, root;

  GMPI_DEVICE CallInPieces(const Round &call, const Carrier &its)
      : round(call), carrier(its), turn(call, its), in(call.in), out(call.out), length(call.length),
        memory(memory_of(call, call.rank)), low(call.low), high(call.high),
        owners(owners_of(call.size, call.root)), window(piece_window(call.size, call.root)),
        rank(call.rank), size(call.size), root(call.root) {}

  /// Whether it sends data of its own, or gets any.
  GMPI_DEVICE bool sends(int its) const { return root < 0 || its == root; }
  GMPI_DEVICE bool wants(int its) const {
    return round.wants >= 0 ? its == round.wants : its != root;
  }
};

/// One piece of it.
struct Piece {
  const CallInPieces &call;
  std::uint32_t place, number; ///< where its packets go, and what they show
  int owner;
  std::size_t at;    ///< of its first byte, behind call.in and call.out
  std::int64_t left; ///< bytes of the call from there on

  GMPI_DEVICE Piece(const CallInPieces &its, std::uint32_t index) : call(its) {
    const std::uint32_t round = index / its.window, in_round = index - round * its.window;
    place = in_round / its.owners;
    number = its.round.number + round;
    owner = first_owner(its.size, its.root) + static_cast<int>(in_round - place * its.owners);
    if (owner >= its.size)
      owner -= its.size;
    at = std::size_t(index - its.low) * bundle_bytes;
    left = static_cast<std::int64_t>(its.length - std::uint64_t(index) * bundle_bytes);
  }
  GMPI_DEVICE bool is_owned() const { return owner == call.rank; }

  /// Of the part that `from` sends, where its owner finds it, the first packet of a lane.
  GMPI_DEVICE const std::uint64_t *part_of(int from, std::uint32_t lane) const {
    return packet(call.memory, PiecePlace::part, from, lane);
  }
  /// This rank's lane's own words, and where they go to.
  GMPI_DEVICE void load(PieceWords &words, std::uint32_t lane) const {
    words.load(call.in + at + lane * sizeof(Sixteen), left - lane * std::int64_t(sizeof(Sixteen)));
  }
  GMPI_DEVICE void store(const PieceWords &words, std::uint32_t lane) const {
    words.store(call.out + at + lane * sizeof(Sixteen),
                left - lane * std::int64_t(sizeof(Sixteen)));
  }

  /// This rank's part, to the owner, if that is another.
  GMPI_DEVICE void send_part() const {
    if (is_owned())
      return;
    const Carrier &carrier = call.carrier;
    std::uint64_t *const memory = memory_of(call.round, owner);
    if (!call.sends(call.rank)) {
      if (carrier.lane == 0)
        store_dense(packet(memory, PiecePlace::part, call.rank, 0), 0, 0, number);
      return;
    }
    GMPI_NO_UNROLL
    for (std::uint32_t lane = carrier.lane; lane < 32; lane += carrier.lanes) {
      PieceWords words;
      load(words, lane);
      store_words(packet(memory, PiecePlace::part, call.rank, lane), words.word, number);
    }
  }
  /// What becomes of a piece that this rank owns, to itself and all others.
  template <bool common>
  GMPI_DEVICE void send_results(Wait *wait, const Combine<common> &combine) const {
    const Carrier &carrier = call.carrier;
    if (call.root >= 0) { // those that send none of the data
      if (carrier.lane == 0)
        GMPI_NO_UNROLL
      for (int from = 0; from < call.size; ++from)
        if (from != call.rank && !call.sends(from))
          await_part<DensePacket>(part_of(from, 0), number, wait);
      carrier.sync();
    }
    const int first = call.root < 0 ? 0 : call.root;
    const int last = call.root < 0 ? call.size - 1 : call.root;
    GMPI_NO_UNROLL
    for (std::uint32_t lane = carrier.lane; lane < 32; lane += carrier.lanes) {
      PieceWords value{};
      GMPI_NO_UNROLL
      for (int from = first; from <= last; ++from) {
        PieceWords its;
        if (from == call.rank)
          load(its, lane);
        else
          its.await(part_of(from, lane), number, lane == 0 ? wait : nullptr);
        if (from == first)
          value = its;
        else
          value.combine(its, combine);
      }
      GMPI_NO_UNROLL
      for (int to = 0; to < call.size; ++to)
        if (to != call.rank && call.wants(to))
          store_words(result_at(to, lane), value.word, number);
      if (call.out != nullptr)
        store(value, lane);
    }
    carrier.sync();
    if (carrier.lane == 0 && (call.root >= 0 || call.round.wants >= 0))
      GMPI_NO_UNROLL
    for (int to = 0; to < call.size; ++to)
      if (to != call.rank && !call.wants(to))
        store_dense(result_at(to, 0), 0, 0, number);
  }
  /// The result of one that another rank owns.
  GMPI_DEVICE void receive_result(Wait *wait) const {
    const Carrier &carrier = call.carrier;
    const auto from = static_cast<std::uint32_t>(owner);
    if (call.out == nullptr) {
      if (carrier.lane == 0)
        await_part<DensePacket>(packet(call.memory, PiecePlace::result, from, 0), number, wait);
    } else {
      GMPI_NO_UNROLL
      for (std::uint32_t lane = carrier.lane; lane < 32; lane += carrier.lanes) {
        PieceWords words;
        words.await(packet(call.memory, PiecePlace::result, from, lane), number,
                    lane == 0 ? wait : nullptr);
        store(words, lane);
      }
    }
    carrier.sync();
  }

private:
  GMPI_DEVICE std::uint64_t *packet(std::uint64_t *memory, PiecePlace kind, std::uint32_t its,
                                    std::uint32_t lane) const {
    const auto size = static_cast<std::uint32_t>(call.size);
    return piece_place(memory, size, kind, its, place) + lane * packet_words;
  }
  GMPI_DEVICE std::uint64_t *result_at(int to, std::uint32_t lane) const {
    return packet(memory_of(call.round, to), PiecePlace::result,
                  static_cast<std::uint32_t>(call.rank), lane);
  }
};

/// A carrier's share of the first parts: all that have a place, which needs nobody else.
GMPI_DEVICE void send_first_parts(const CallInPieces &call) {
  GMPI_NO_UNROLL
  for (std::uint32_t i = call.turn.first; i < call.window && i < call.high - call.low;
       i += call.turn.step)
    Piece(call, call.low + i).send_part();
}
/// And of all the rest.
template <bool common> GMPI_DEVICE void carry_pieces(const CallInPieces &call, Wait *wait) {
  const Combine<common> combine{call.round.reduction, call.round.datatype};
  GMPI_NO_UNROLL
  for (std::uint32_t base = call.low; base < call.high; base += call.window)
    GMPI_NO_UNROLL
  for (std::uint32_t i = call.turn.first; i < call.window && i < call.high - base;
       i += call.turn.step) {
    const Piece piece(call, base + i);
    if (piece.is_owned())
      piece.send_results(wait, combine);
    else
      piece.receive_result(wait);
    if (call.high - base - i > call.window)
      Piece(call, base + i + call.window).send_part();
  }
}

} // namespace gmpi::device::peer
