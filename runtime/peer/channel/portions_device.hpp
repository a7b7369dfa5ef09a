// Portions: how data goes through a channel as it is, that of announced messages, and to ranks on
// other hosts also of eager ones. Packets would be twice as much to carry as what they bring; so a
// portion's data lies as it is behind the first packets, which are written last. Between ranks of
// several hosts it lies at the same place of memory behind the ring, from where MPI takes it, and
// to where MPI brings it; or, of a wide message, in its token's place.
//
// Invariant: where a portion's first packet is there, so is its data, for those who acquire. What
// was read in a ring is cleared before its slots are given back: no packet ever shows a lap that
// nobody has written there. (Who writes a slot has seen that it is free, and stores are not made
// ahead.) All slots of a portion are given back at once, so who has come to one of them in the next
// lap, and looks for a message there, finds either the portion's first packet or what has been
// cleared.
#pragma once

#include "channel_device.hpp"

namespace gmpi::device::peer {

/// One portion, from the message's slot number `low` on. Its data, in the ring, are `count`
/// packets' places of 16 bytes, of which the last may be used in part.
struct Portion {
  static constexpr std::uint32_t ring_places = channel_slots * slot_packets;
  static_assert((ring_places & (ring_places - 1)) == 0);
  static_assert(far_wide_bytes / sizeof(uint4) <= ring_places);

  std::uint64_t *ring;
  uint4 *places;            ///< where the data is: the ring, or what lies behind it
  bool is_apart;            ///< the latter
  unsigned long long first; ///< slot number
  std::uint32_t base;       ///< of the data's first place in the ring
  std::uint32_t bytes, count;
  unsigned long long at; ///< where they belong in the message

  GMPI_DEVICE Portion(const Transfer &t, unsigned long long low)
      : ring(t.ring), places(reinterpret_cast<uint4 *>(t.ring)),
        is_apart(t.header.form == Form::apart), first(t.first + low),
        base(static_cast<std::uint32_t>(first % channel_slots) * slot_packets + header_packets),
        bytes(portion_bytes(t.header, low)), count((bytes + 15) / 16),
        at(low / portion_slots * plain_bytes) {
    if (is_placed(t.header)) {
      places += first % channel_slots * (far_wide_bytes / sizeof(uint4));
      base = 0;
    } else if (is_apart) {
      places += ring_places;
    }
  }
  GMPI_DEVICE uint4 &place(std::uint32_t i) const { return places[(base + i) % ring_places]; }
  /// Somebody may look there meanwhile for what comes next: he makes nothing of it.
  GMPI_DEVICE void store(std::uint32_t i, std::uint64_t low, std::uint64_t high) const {
    store_system(reinterpret_cast<std::uint64_t *>(&place(i)), low, high);
  }
  GMPI_DEVICE void clear(std::uint32_t i) const {
    if (!is_apart)
      store(i, 0, 0);
  }
  GMPI_DEVICE std::uint64_t *packet(std::uint32_t i) const { return packet_at(ring, first, i); }
};

/// How many of a portion's places are moved as 16 bytes: of `readable` bytes at an address for
/// such.
GMPI_DEVICE std::uint32_t whole_places(const unsigned char *data, std::uint32_t readable) {
  return (reinterpret_cast<std::uint64_t>(data) & 15) == 0 ? readable / 16 : 0;
}
/// One member's share of moving the places before `whole`, each by what `load(place)` returns and
/// `store(place, value)` does with it: several loads are under way together.
template <class Load, class Store>
GMPI_DEVICE void move_places(std::uint32_t whole, std::uint32_t rank, std::uint32_t size, Load load,
                             Store store) {
  constexpr std::uint32_t at_once = 4;
  GMPI_NO_UNROLL
  for (std::uint32_t i = rank; i < whole; i += at_once * size) {
    uint4 values[at_once];
    GMPI_UNROLL
    for (std::uint32_t k = 0; k < at_once; ++k)
      if (i + k * size < whole)
        values[k] = load(i + k * size);
    GMPI_UNROLL
    for (std::uint32_t k = 0; k < at_once; ++k)
      if (const std::uint32_t its = apart(i + k * size); its < whole)
        store(its, values[k]);
  }
}

/// One member's share of writing a portion's data.
GMPI_DEVICE void write_portion(const Transfer &t, const Portion &portion, std::uint32_t rank,
                               std::uint32_t size) {
  const unsigned char *const data = t.data + portion.at;
  const std::uint32_t whole = whole_places(data, portion.bytes);
  move_places(
      whole, rank, size, [&](std::uint32_t i) { return reinterpret_cast<const uint4 *>(data)[i]; },
      [&](std::uint32_t i, const uint4 &value) {
        portion.store(i, value.x | std::uint64_t(value.y) << 32,
                      value.z | std::uint64_t(value.w) << 32);
      });
  GMPI_NO_UNROLL
  for (std::uint32_t i = first_from(whole, rank, size); i < portion.count; i += size) {
    const std::uint32_t left = portion.bytes - 16 * i;
    const std::uint64_t low = load_data(data + 16 * i, left);
    const std::uint64_t high = left > 8 ? load_data(data + 16 * i + 8, left - 8) : 0;
    portion.store(i, low, high);
  }
}

/// One member's share of telling that portions are there; a barrier lies between.
GMPI_DEVICE void tell_portions(const Transfer &t, unsigned long long low, unsigned long long high,
                               std::uint32_t rank, std::uint32_t size) {
  const unsigned long long each = slots_of_portion(t.header);
  low += rank * each;
  if (low >= high)
    return;
  release_system();
  GMPI_NO_UNROLL
  for (; low < high; low += size * each) {
    const Portion portion(t, low);
    GMPI_NO_UNROLL
    for (std::uint32_t i = low == 0 ? header_packets : 1; i-- > 0;)
      store_packet(portion.packet(i), pack_header(t.header, i), lap_of(portion.first));
  }
}

/// One member's share of acquiring what portions bring that have been seen; a barrier is to follow.
/// (Who has found an eager message has seen its first, before the team has met.)
GMPI_DEVICE void acquire_portions(const Transfer &t, unsigned long long low,
                                  unsigned long long high, std::uint32_t rank, std::uint32_t size) {
  const unsigned long long each = slots_of_portion(t.header);
  low += rank * each;
  if (low >= high)
    return;
  GMPI_NO_UNROLL
  for (; low < high; low += size * each) {
    const Portion portion(t, low);
    if (low != 0 || t.header.kind == MessageKind::data)
      await_packet(portion.packet(0), lap_of(portion.first));
  }
  acquire_system();
}

/// One member's share of reading a portion's data, and of clearing it. What there is no room for is
/// dropped.
GMPI_DEVICE void read_portion(const Transfer &t, const Portion &portion, std::uint32_t rank,
                              std::uint32_t size) {
  unsigned char *const data = t.data + portion.at;
  const unsigned long long room = t.room > portion.at ? t.room - portion.at : 0;
  const std::uint32_t readable =
      room < portion.bytes ? static_cast<std::uint32_t>(room) : portion.bytes;
  const std::uint32_t whole = whole_places(data, readable);
  move_places(
      whole, rank, size, [&](std::uint32_t i) { return portion.place(i); },
      [&](std::uint32_t i, const uint4 &value) {
        reinterpret_cast<uint4 *>(data)[i] = value;
        portion.clear(i);
      });
  GMPI_NO_UNROLL
  for (std::uint32_t i = first_from(whole, rank, size); i < portion.count; i += size) {
    const uint4 value = portion.place(i);
    const std::uint32_t left = 16 * i < readable ? readable - 16 * i : 0;
    store_data(data + 16 * i, left, value.x | std::uint64_t(value.y) << 32);
    store_data(data + 16 * i + 8, left > 8 ? left - 8 : 0, value.z | std::uint64_t(value.w) << 32);
    portion.clear(i);
  }
}

/// One member's share of reading a message that is all on its way, with nobody to wait for: each
/// finds out by itself that a portion is there.
GMPI_OUT_OF_LINE void read_portions(const Transfer &t, unsigned long long low,
                                    unsigned long long high, std::uint32_t rank,
                                    std::uint32_t size) {
  const unsigned long long each = slots_of_portion(t.header);
  GMPI_NO_UNROLL
  for (; low < high; low += each) {
    const Portion portion(t, low);
    if (!is_placed(t.header)) // else who has found its header has acquired it
      await_packet(portion.packet(0), lap_of(portion.first));
    acquire_system();
    read_portion(t, portion, rank, size);
  }
}

/// So many slots are written, or read, between two barriers: whoever waits for them sees them soon.
constexpr std::uint32_t together_slots = 4 * portion_slots;
static_assert(slots_in_portion(eager_bytes) <= together_slots);

/// As carry() does. (It calls no function: behind an acquire a register that was saved takes as
/// long to restore as memory does.)
template <class Team>
GMPI_NOINLINE void carry_portions(Team team, const Step &step, unsigned long long low,
                                  unsigned long long high, std::uint32_t rank, std::uint32_t size) {
  const Transfer &t = step.transfer;
  const bool writes = step.kind == Step::write;
  std::uint32_t *const freed = t.freed;
  const unsigned long long first = t.first, each = slots_of_portion(t.header);
  GMPI_NO_UNROLL
  for (unsigned long long next; low < high; low = next) {
    next = high - low < together_slots ? high : low + together_slots;
    if (!writes) {
      acquire_portions(t, low, next, rank, size);
      team.sync();
    }
    GMPI_NO_UNROLL
    for (unsigned long long its = low; its < next; its += each)
      if (writes)
        write_portion(t, Portion(t, its), rank, size);
      else
        read_portion(t, Portion(t, its), rank, size);
    team.sync(); // where it is the last, the step may be another's behind that
    if (writes) {
      tell_portions(t, low, next, rank, size);
    } else {
      if (t.header.form == Form::plain && rank < next - low)
        release_system(); // what has been cleared
      free_share(freed, first + low, first + next, rank, size);
    }
  }
  if (writes)
    team.sync();
}

/// One member's share of reading a message, whatever its form. The header has been read.
GMPI_DEVICE void read_packets(const Transfer &t, unsigned long long low, unsigned long long high,
                              std::uint32_t rank, std::uint32_t size) {
  if (t.header.form == Form::dense)
    return read_dense(t, low, high, rank, size);
  if (t.header.form != Form::packets)
    return read_portions(t, low, high, rank, size);
  const Window window(t, low, high);
  const DataWindow data(t.data, low, t.readable());
  const std::uint32_t headers = low == 0 ? header_packets : 0;
  const std::uint32_t whole = data.whole(window.count), begin = first_from(headers, rank, size);
  if (whole <= few_at_once * size)
    read_whole<few_at_once>(window, data, begin, whole, size);
  else
    read_whole<many_at_once>(window, data, begin, whole, size);
  const std::uint32_t p = first_from(whole > headers ? whole : headers, rank, size);
  if (p < window.count)
    read_any(t, low, high, p, size);
}
GMPI_OUT_OF_LINE void read_share(const Transfer &t, unsigned long long low, unsigned long long high,
                                 std::uint32_t rank, std::uint32_t size) {
  read_packets(t, low, high, rank, size);
}

/// Carries the message's slots from number `low` to before `high`, as `step` says; all of a team's
/// members. Ends with their barrier, but for what is given back.
template <class Team>
GMPI_DEVICE void carry(const Team &team, const Step &step, unsigned long long low,
                       unsigned long long high, std::uint32_t rank, std::uint32_t size) {
  const Transfer &t = step.transfer;
  if (is_in_portions(t.header))
    return carry_portions(team, step, low, high, rank, size);
  if (step.kind == Step::write) {
    write_share(t, low, high, rank, size);
    team.sync();
    return;
  }
  std::uint32_t *const freed = t.freed;
  const unsigned long long first = t.first;
  read_share(t, low, high, rank, size);
  team.sync(); // the step may be another's behind that
  free_share(freed, first + low, first + high, rank, size);
}

} // namespace gmpi::device::peer
