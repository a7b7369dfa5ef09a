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
// read.) Whoever sees that the others have begun a call with as much as this rank has waits for
// nothing that does not come by itself.
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
    if (are_whole(left) && is_in_eights(data)) {
      is_in_sixteens(data) ? load_whole<true>(data) : load_whole<false>(data);
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
    if (are_whole(left) && is_in_eights(data)) {
      is_in_sixteens(data) ? store_whole<true>(data) : store_whole<false>(data);
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

  /// From a lane's four packets, the first of them at `place`, when they have come.
  GMPI_DEVICE void await(const std::uint64_t *place, std::uint32_t number) {
    DensePacket found[rows + 1];
    await_packets(place, number, found, false, [] {});
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

private:
  GMPI_DEVICE static bool are_whole(std::int64_t left) {
    return left >= std::int64_t((rows - 1) * row_bytes + sizeof(Sixteen));
  }
  template <bool sixteens> GMPI_DEVICE void load_whole(const unsigned char *data) {
    GMPI_UNROLL
    for (std::uint32_t row = 0; row < rows; ++row)
      word[row] = load_word<sixteens>(data + row * row_bytes);
  }
  template <bool sixteens> GMPI_DEVICE void store_whole(unsigned char *data) const {
    GMPI_UNROLL
    for (std::uint32_t row = 0; row < rows; ++row)
      store_word<sixteens>(data + row * row_bytes, word[row]);
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
  std::uint64_t *memory;  ///< of this rank's rounds
  std::uint64_t inverse;  ///< of the number of owners, times 2^32 and rounded up
  std::size_t rank_words; ///< what the places of one rank take
  std::uint32_t low, high, owners, window;
  int rank, size, root;

  GMPI_DEVICE CallInPieces(const Round &call, const Carrier &its)
      : round(call), carrier(its), turn(call, its, call.high - call.low), in(call.in),
        out(call.out), length(call.length), memory(memory_of(call, call.rank)), low(call.low),
        high(call.high), owners(owners_of(call.size, call.root)), rank(call.rank), size(call.size),
        root(call.root) {
    const std::uint32_t places = piece_places(static_cast<std::uint32_t>(size));
    window = places * owners;
    inverse = std::uint64_t(~0u / owners) + 1;
    rank_words = std::size_t(places) * bundle_packets * packet_words;
  }

  /// Whether it sends data of its own, or gets any.
  GMPI_DEVICE bool sends(int its) const { return sends_data(root, its); }
  GMPI_DEVICE bool wants(int its) const {
    return round.wants >= 0 ? its == round.wants : its != root;
  }
};

/// One piece of it: that in place number `in_window` of its `window`-th window.
struct Piece {
  const CallInPieces &call;
  std::uint32_t index, number; ///< what its packets show
  int owner;
  std::size_t place; ///< of its packets, in words, behind the first place of a rank's
  std::size_t at;    ///< of its first byte, behind call.in and call.out

  GMPI_DEVICE Piece(const CallInPieces &its, std::uint32_t window, std::uint32_t in_window)
      : call(its), index(window * its.window + in_window), number(its.round.number + window) {
    const auto divided = [&](std::uint32_t by_owners) {
      return static_cast<std::uint32_t>(by_owners * its.inverse >> 32);
    };
    const std::uint32_t group = divided(in_window), shift = group / shifted_groups;
    std::uint32_t nth = in_window - group * its.owners + shift - divided(shift) * its.owners;
    if (nth >= its.owners)
      nth -= its.owners;
    owner = first_owner(its.size, its.root) + static_cast<int>(nth);
    if (owner >= its.size)
      owner -= its.size;
    place = std::size_t(group) * bundle_packets * packet_words;
    at = std::size_t(index - its.low) * bundle_bytes;
  }
  GMPI_DEVICE bool is_owned() const { return owner == call.rank; }

  /// This rank's lane's own words, and where they go to.
  GMPI_DEVICE void load(PieceWords &words, std::uint32_t lane) const {
    words.load(call.in + at + lane * sizeof(Sixteen), left(lane));
  }
  GMPI_DEVICE void store(const PieceWords &words, std::uint32_t lane) const {
    words.store(call.out + at + lane * sizeof(Sixteen), left(lane));
  }

  /// This rank's part, to the owner, if that is another.
  GMPI_DEVICE void send_part() const {
    if (is_owned())
      return;
    const Carrier &carrier = call.carrier;
    std::uint64_t *const to = packet(memory_of(call.round, owner), PiecePlace::part, call.rank);
    if (!call.sends(call.rank)) {
      if (carrier.lane == 0)
        store_dense(to, 0, 0, number);
      return;
    }
    GMPI_NO_UNROLL
    for (std::uint32_t lane = carrier.lane; lane < 32; lane += carrier.lanes) {
      PieceWords words;
      load(words, lane);
      store_words(to + lane * packet_words, words.word, number);
    }
  }
  /// What becomes of a piece that this rank owns, to itself and all others.
  template <bool common> GMPI_DEVICE void send_results(const Combine<common> &combine) const {
    const Carrier &carrier = call.carrier;
    if (call.root >= 0) { // those that send none of the data
      if (carrier.lane == 0)
        GMPI_NO_UNROLL
      for (int from = 0; from < call.size; ++from)
        if (from != call.rank && !call.sends(from))
          await_one(packet(call.memory, PiecePlace::part, from));
      carrier.sync();
    }
    const int first = call.root < 0 ? 0 : call.root;
    const int last = call.root < 0 ? call.size - 1 : call.root;
    GMPI_NO_UNROLL
    for (std::uint32_t lane = carrier.lane; lane < 32; lane += carrier.lanes) {
      PieceWords own{}, value{};
      if (call.sends(call.rank))
        load(own, lane);
      GMPI_NO_UNROLL
      for (int from = first; from <= last; ++from) {
        PieceWords its = own;
        if (from != call.rank)
          its.await(packet(call.memory, PiecePlace::part, from) + lane * packet_words, number);
        if (from == first)
          value = its;
        else
          value.combine(its, combine);
      }
      GMPI_NO_UNROLL
      for (int to = 0; to < call.size; ++to)
        if (to != call.rank && call.wants(to))
          store_words(result_at(to) + lane * packet_words, value.word, number);
      if (call.out != nullptr)
        store(value, lane);
    }
    carrier.sync();
    if (carrier.lane == 0 && (call.root >= 0 || call.round.wants >= 0))
      GMPI_NO_UNROLL
    for (int to = 0; to < call.size; ++to)
      if (to != call.rank && !call.wants(to))
        store_dense(result_at(to), 0, 0, number);
  }
  /// The result of one that another rank owns.
  GMPI_DEVICE void receive_result() const {
    const Carrier &carrier = call.carrier;
    const std::uint64_t *const from = packet(call.memory, PiecePlace::result, owner);
    if (call.out == nullptr) {
      if (carrier.lane == 0)
        await_one(from);
    } else {
      GMPI_NO_UNROLL
      for (std::uint32_t lane = carrier.lane; lane < 32; lane += carrier.lanes) {
        PieceWords words;
        words.await(from + lane * packet_words, number);
        store(words, lane);
      }
    }
    carrier.sync();
  }

private:
  /// Who owns a place's pieces moves on after so many: a carrier takes every so manyth piece, and
  /// would own all of them else, or none.
  static constexpr std::uint32_t shifted_groups = 4;

  /// Bytes of the call from a lane's first word on.
  GMPI_DEVICE std::int64_t left(std::uint32_t lane) const {
    return static_cast<std::int64_t>(call.length - std::uint64_t(index) * bundle_bytes) -
           static_cast<std::int64_t>(lane * sizeof(Sixteen));
  }
  /// The first packet, in a rank's memory, of what `its` sends, or owns.
  GMPI_DEVICE std::uint64_t *packet(std::uint64_t *memory, PiecePlace kind, int its) const {
    const int of = (kind == PiecePlace::part ? 0 : call.size) + its;
    return memory + words_of_rounds(static_cast<std::uint32_t>(call.size)) +
           static_cast<std::uint32_t>(of) * call.rank_words + place;
  }
  GMPI_DEVICE std::uint64_t *result_at(int to) const {
    return packet(memory_of(call.round, to), PiecePlace::result, call.rank);
  }
  GMPI_DEVICE void await_one(const std::uint64_t *from) const {
    while (!DensePacket::load(from).shows(number))
      relax();
  }
};

/// Does the carrier's share of a call's pieces from number `low` to before `high`, in order.
template <class Carry>
GMPI_DEVICE void carry_each(const CallInPieces &call, std::uint32_t high, Carry carry) {
  GMPI_NO_UNROLL
  for (std::uint32_t window = call.low / call.window; window * call.window < high; ++window)
    GMPI_NO_UNROLL
  for (std::uint32_t i = call.turn.first; i < call.window; i += call.turn.step)
    if (const std::uint32_t index = window * call.window + i; index >= high)
      break;
    else if (index >= call.low)
      carry(window, i);
}

/// A carrier's share of the first parts: all that have a place, which needs nobody else.
GMPI_DEVICE void send_first_parts(const CallInPieces &call) {
  const std::uint32_t placed = call.low + call.window;
  carry_each(call, placed < call.high ? placed : call.high,
             [&](std::uint32_t window, std::uint32_t i) { Piece(call, window, i).send_part(); });
}
/// And of all the rest.
template <bool common> GMPI_DEVICE void carry_pieces(const CallInPieces &call) {
  const Combine<common> combine{call.round.reduction, call.round.datatype};
  carry_each(call, call.high, [&](std::uint32_t window, std::uint32_t i) {
    const Piece piece(call, window, i);
    piece.is_owned() ? piece.send_results(combine) : piece.receive_result();
    if (call.high - piece.index > call.window)
      Piece(call, window + 1, i).send_part();
  });
}
/// The same as functions that call none, where nothing uncommon is reduced: they save no registers.
GMPI_OUT_OF_LINE void send_first_parts_of(const Round &round, const Carrier &carrier) {
  send_first_parts(CallInPieces(round, carrier));
}
template <bool common>
GMPI_NOINLINE void carry_pieces_of(const Round &round, const Carrier &carrier) {
  carry_pieces<common>(CallInPieces(round, carrier));
}

} // namespace gmpi::device::peer
