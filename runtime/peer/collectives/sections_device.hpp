// Collective calls of more than one round on communicators whose ranks run on several hosts: by
// rounds one behind the other, which the relays carry.
//
// Invariant: packets are carried in sections, each by a warp or by one thread, which writes a
// section of round n + rounds_ahead when it has read that of round n from all ranks. They had
// written it when they had read that of round n - rounds_ahead, whose memory it takes. So a rank
// that has nothing to send writes one packet a section, and one that wants nothing reads one.
// Who begins a call has, of the last call's last round but one, read all, so all have read all of
// the round rounds_ahead before that one, and its first rounds_unasked rounds take the memory of
// none that is later. (Of the last round there may have been but some sections.)
#pragma once

#include "carriers_device.hpp"

namespace gmpi::device::peer {

/// Section number `section` of a call.
struct Section {
  std::uint64_t byte;         ///< of the data, its first
  std::uint32_t round;        ///< the round's number
  std::uint32_t first_packet; ///< of a part, where it is data
  std::uint32_t mark;         ///< of a part, where it is none: the section's only packet

  GMPI_DEVICE Section(std::uint32_t first_round, std::uint32_t section)
      : byte(std::uint64_t(section) * section_bytes), round(first_round + section / round_sections),
        first_packet(1 + section % round_sections * section_packets),
        mark(1 + section % round_sections) {}
  GMPI_DEVICE bool begins_round() const { return mark == 1; }
};

/// Tells the other ranks that this one has begun the round that begins with `section`, and how many
/// packets follow, for relays.
GMPI_DEVICE void begin_round(const Round &call, const Section &section) {
  const std::uint64_t left = call.length - section.byte;
  const std::uint32_t bytes = left < round_bytes ? static_cast<std::uint32_t>(left) : round_bytes;
  const std::uint32_t each = sends_data(call.root, call.rank) ? packet_bytes : section_bytes;
  say_hello(call, section.round, (bytes + each - 1) / each);
}

/// A call as one of its carriers sees it, in registers.
struct CallInSections {
  const Round &round;
  Carrier carrier;
  std::uint32_t sections;
  Turn turn;
  const unsigned char *in;
  unsigned char *out;
  std::uint64_t length;
  std::uint64_t *memory; ///< of this rank's rounds
  std::uint32_t number;
  int rank, size, root;
  bool sends; ///< data

  GMPI_DEVICE CallInSections(const Round &call, const Carrier &its)
      : round(call), carrier(its),
        sections(static_cast<std::uint32_t>((call.length + section_bytes - 1) / section_bytes)),
        turn(call, its, sections), in(call.in), out(call.out), length(call.length),
        memory(memory_of(call, call.rank)), number(call.number), rank(call.rank), size(call.size),
        root(call.root), sends(sends_data(call.root, call.rank)) {}
  /// Of the part that `from` has sent to this rank, and this one to another.
  GMPI_DEVICE const std::uint64_t *arrived(const Section &section, int from,
                                           std::uint32_t packet) const {
    return part_of_round(memory, section.round, size, from) + packet * packet_words;
  }
  GMPI_DEVICE std::uint64_t *place(const Section &section, int to, std::uint32_t packet) const {
    return part_of_round(memory_of(round, to), section.round, size, rank) + packet * packet_words;
  }
};

/// This rank's part, to all others.
GMPI_DEVICE void write_section(const CallInSections &call, const Section &section) {
  const Carrier &carrier = call.carrier;
  if (section.begins_round() && carrier.lane == 0)
    begin_round(call.round, section);
  const std::uint32_t first = call.sends ? section.first_packet : section.mark;
  const std::uint32_t packets = call.sends ? section_packets : 1;
  GMPI_NO_UNROLL
  for (std::uint32_t p = carrier.lane; p < packets; p += carrier.lanes) {
    const std::uint64_t byte = section.byte + p * packet_bytes;
    if (byte >= call.length)
      break;
    const std::uint64_t value =
        call.sends ? load_data(call.in + byte, call.length - byte) : std::uint64_t(0);
    GMPI_NO_UNROLL
    for (int to = 0; to < call.size; ++to)
      if (to != call.rank)
        store_packet(call.place(section, to, first + p), value, section.round);
  }
}

/// The same for a packet.
GMPI_OUT_OF_LINE void await_part_and_tell(const std::uint64_t *from, std::uint32_t round,
                                          Wait &wait) {
  await_and_tell(wait, [&] { return Packet::load(from).shows(round); });
}

/// Waits for a packet; `wait`: of the thread that sees to what is told of the call, else null.
GMPI_DEVICE std::uint64_t await_part(const std::uint64_t *from, std::uint32_t round, Wait *wait) {
  constexpr unsigned soon = 4096; // turns that nobody is told of
  GMPI_NO_UNROLL
  for (unsigned turns = 1;; ++turns) {
    const Packet packet = Packet::load(from);
    if (packet.shows(round))
      return packet.data();
    if (turns == soon && wait != nullptr)
      await_part_and_tell(from, round, *wait);
    relax();
  }
}

/// The others' parts, combined where this rank wants them.
template <bool common>
GMPI_DEVICE void read_section(const CallInSections &call, const Section &section, Wait *wait,
                              Combine<common> combine) {
  const Carrier &carrier = call.carrier;
  const int first_rank = call.root < 0 ? 0 : call.root;
  const int last_rank = call.root < 0 ? call.size - 1 : call.root;
  if (carrier.lane == 0 && (call.out == nullptr || call.root >= 0))
    GMPI_NO_UNROLL
  for (int from = 0; from < call.size; ++from) {
    const bool wanted = call.out != nullptr && from == call.root;
    if (from != call.rank && !wanted) {
      const bool data = sends_data(call.root, from);
      const std::uint64_t *place =
          call.arrived(section, from, data ? section.first_packet : section.mark);
      await_part(place, section.round, wait);
    }
  }
  GMPI_NO_UNROLL
  for (std::uint32_t p = carrier.lane; p < section_packets; p += carrier.lanes) {
    const std::uint64_t byte = section.byte + p * packet_bytes, left = call.length - byte;
    if (call.out == nullptr || byte >= call.length)
      break;
    const std::uint64_t own = call.root < 0 ? load_data(call.in + byte, left) : std::uint64_t(0);
    std::uint64_t value = 0;
    GMPI_NO_UNROLL
    for (int from = first_rank; from <= last_rank; ++from) {
      std::uint64_t part = own;
      if (from != call.rank)
        part =
            await_part(call.arrived(section, from, section.first_packet + p), section.round, wait);
      value = from == first_rank ? part : combine(value, part);
    }
    store_data(call.out + byte, left, value);
  }
  carrier.sync();
}

/// Writes this carrier's sections of the call's first rounds, as many as nobody needs to be asked
/// for.
GMPI_DEVICE void write_unasked(const CallInSections &call) {
  GMPI_NO_UNROLL
  for (std::uint32_t s = call.turn.first; s < rounds_unasked * round_sections && s < call.sections;
       s += call.turn.step)
    write_section(call, {call.number, s});
}

/// Waits until all other ranks have begun the call, and writes this carrier's sections of the other
/// rounds that may be ahead of what is read.
GMPI_DEVICE void write_ahead(const CallInSections &call) {
  bool begun = false;
  GMPI_NO_UNROLL
  for (std::uint32_t s = call.turn.first; s < rounds_ahead * round_sections && s < call.sections;
       s += call.turn.step) {
    if (s < rounds_unasked * round_sections)
      continue;
    while (!begun) {
      begun = all_have_begun(call.round);
      relax();
    }
    write_section(call, {call.number, s});
  }
}

/// All that follows write_unasked(): this carrier reads its sections, and writes those of later
/// rounds, in turn.
template <bool common> GMPI_DEVICE void carry_on(const CallInSections &call, Wait *wait) {
  const Combine<common> combine{call.round.reduction, call.round.datatype};
  constexpr std::uint32_t ahead = rounds_ahead * round_sections;
  write_ahead(call);
  GMPI_NO_UNROLL
  for (std::uint32_t base = 0; base < call.sections; base += ahead)
    GMPI_NO_UNROLL
  for (std::uint32_t s = base + call.turn.first; s < base + ahead && s < call.sections;
       s += call.turn.step) {
    read_section(call, {call.number, s}, wait, combine);
    if (call.sections - s > ahead)
      write_section(call, {call.number, s + ahead});
  }
}

} // namespace gmpi::device::peer
