// A channel's two ends as kernels use them: taking slots, writing and reading packets, giving slots
// back.
//
// Invariant: the order of a sender's slot numbers is MPI's order of messages. Who has taken slots
// writes them, sooner or later; who has found a message frees its slots when all of its packets
// have been read.
#pragma once

#include "bundles_device.hpp"

namespace gmpi::device::peer {

/// A packet, as it was loaded or is to be stored.
struct Packet {
  std::uint64_t low, high;

  GMPI_DEVICE static Packet of(std::uint64_t data, std::uint32_t lap) {
    const std::uint64_t mark = std::uint64_t(lap) << 32;
    return {(data & 0xffffffffu) | mark, data >> 32 | mark};
  }

  GMPI_DEVICE static Packet load(const std::uint64_t *from) {
    Packet packet;
    load_system(from, packet.low, packet.high);
    return packet;
  }
  GMPI_DEVICE static Packet load_if(bool is, const std::uint64_t *from) {
    Packet packet;
    load_system_if(is, from, packet.low, packet.high);
    return packet;
  }
  GMPI_DEVICE bool shows(std::uint32_t lap) const {
    return static_cast<std::uint32_t>(low >> 32) == lap &&
           static_cast<std::uint32_t>(high >> 32) == lap;
  }
  /// Whether it shows that lap or a later one.
  GMPI_DEVICE bool shows_since(std::uint32_t lap) const {
    const auto its = static_cast<std::uint32_t>(low >> 32);
    return its == high >> 32 && static_cast<std::int32_t>(its - lap) >= 0;
  }
  GMPI_DEVICE std::uint64_t data() const { return (low & 0xffffffffu) | high << 32; }
};

GMPI_DEVICE void store_packet(std::uint64_t *to, std::uint64_t data, std::uint32_t lap) {
  const Packet packet = Packet::of(data, lap);
  store_system(to, packet.low, packet.high);
}

/// Stores the header of a message whose first slot is number `first`. One thread.
GMPI_DEVICE void store_header_alone(std::uint64_t *ring, unsigned long long first,
                                    const Header &header) {
  GMPI_UNROLL
  for (std::uint32_t p = 0; p < header_packets; ++p)
    store_packet(packet_at(ring, first, p), pack_header(header, p), lap_of(first));
}

/// Up to eight bytes of the `left` that there are at `from`.
GMPI_DEVICE std::uint64_t load_data(const unsigned char *from, unsigned long long left) {
  if (left >= 8 && (reinterpret_cast<std::uint64_t>(from) & 7) == 0)
    return *reinterpret_cast<const unsigned long long *>(from);
  auto some = left < 8 ? static_cast<std::int32_t>(left) : 8;
  return load_up_to_4(from, some) | std::uint64_t(load_up_to_4(from + 4, some - 4)) << 32;
}

GMPI_DEVICE void store_data(unsigned char *to, unsigned long long left, std::uint64_t data) {
  if (left >= 8 && (reinterpret_cast<std::uint64_t>(to) & 7) == 0) {
    *reinterpret_cast<unsigned long long *>(to) = data;
    return;
  }
  int i = 0;
  if (left >= 4 && (reinterpret_cast<std::uint64_t>(to) & 3) == 0) {
    reinterpret_cast<std::uint32_t *>(to)[0] = static_cast<std::uint32_t>(data);
    i = 4;
    if (left >= 8) {
      reinterpret_cast<std::uint32_t *>(to)[1] = static_cast<std::uint32_t>(data >> 32);
      return;
    }
  }
  GMPI_NO_UNROLL
  for (; i < 8; ++i)
    if (static_cast<unsigned long long>(i) < left)
      to[i] = static_cast<unsigned char>(data >> 8 * i);
}

/// Consecutive packets of a channel's ring, counted from the first of a message's slot number `low`
/// on.
struct Window {
  std::uint64_t *ring;
  std::uint32_t base, lap, count;

  GMPI_DEVICE Window(const Transfer &t, unsigned long long low, unsigned long long high)
      : ring(t.ring),
        base(static_cast<std::uint32_t>(t.first + low) % channel_slots * slot_packets),
        lap(lap_of(t.first + low)) {
    unsigned long long all = packets_of(t.header);
    unsigned long long end = high * slot_packets < all ? high * slot_packets : all;
    count = static_cast<std::uint32_t>(end - low * slot_packets);
  }
  static constexpr std::uint32_t packets = channel_slots * slot_packets;
  GMPI_DEVICE std::uint64_t *place(std::uint32_t p) const {
    return ring + std::size_t((base + p) % packets) * packet_words;
  }
  GMPI_DEVICE std::uint32_t lap_at(std::uint32_t p) const { return lap + (base + p) / packets; }
};

/// The data of a window's packet, as it lies in the user's memory.
struct DataWindow {
  unsigned char *base;        ///< of packet 0; before the data where that is a header
  unsigned long long skipped; ///< bytes of the message before it, modulo 2^64
  unsigned long long bytes;
  bool aligned;

  GMPI_DEVICE DataWindow(unsigned char *data, unsigned long long low, unsigned long long bytes)
      : skipped((low * slot_packets - header_packets) * packet_bytes), bytes(bytes),
        aligned((reinterpret_cast<std::uint64_t>(data) & 7) == 0) {
    base = data + skipped;
  }
  /// How many bytes there are from packet `p` on; none beyond the end.
  GMPI_DEVICE unsigned long long left(std::uint32_t p) const {
    unsigned long long at = skipped + std::uint64_t(p) * packet_bytes;
    return at < bytes ? bytes - at : 0;
  }
  GMPI_DEVICE unsigned char *at(std::uint32_t p) const {
    return base + std::size_t(p) * packet_bytes;
  }
  /// Of the window's `count` packets, those before this one have eight bytes at an address for
  /// such.
  GMPI_DEVICE std::uint32_t whole(std::uint32_t count) const {
    const auto packets = static_cast<long long>(bytes - skipped) / packet_bytes;
    return !aligned || packets < 0 ? 0 : packets < count ? std::uint32_t(packets) : count;
  }
};

/// The first of a member's packets that is not before `lowest`: each takes every size-th.
GMPI_DEVICE std::uint32_t first_from(std::uint32_t lowest, std::uint32_t rank, std::uint32_t size) {
  return rank < lowest ? rank + (lowest - rank + size - 1) / size * size : rank;
}

/// Writes packets from `p` on whose data is wherever it may be, or not all there.
GMPI_OUT_OF_LINE void write_any(const Transfer &t, unsigned long long low, unsigned long long high,
                                std::uint32_t p, std::uint32_t size) {
  constexpr int at_once = 4;
  const Window window(t, low, high);
  const DataWindow data(t.data, low, t.header.bytes);
  GMPI_NO_UNROLL
  for (; p < window.count; p += at_once * size) {
    std::uint64_t values[at_once];
    GMPI_UNROLL
    for (int i = 0; i < at_once; ++i)
      if (p + i * size < window.count)
        values[i] = load_data(data.at(p + i * size), data.left(p + i * size));
    GMPI_UNROLL
    for (int i = 0; i < at_once; ++i)
      if (p + i * size < window.count)
        store_packet(window.place(p + i * size), values[i], window.lap_at(p + i * size));
  }
}

/// So many packets of a member's are under way together: where it has few, more would be
/// instructions for nothing.
constexpr std::uint32_t few_at_once = 4, many_at_once = 6;

/// Writes every size-th packet from `p` on of those before `whole`.
template <std::uint32_t at_once>
GMPI_DEVICE void write_whole(const Window &window, const DataWindow &data, std::uint32_t p,
                             std::uint32_t whole, std::uint32_t size) {
  GMPI_NO_UNROLL
  for (; p < whole; p += at_once * size) {
    std::uint64_t values[at_once];
    GMPI_UNROLL
    for (std::uint32_t i = 0; i < at_once; ++i)
      if (p + i * size < whole)
        values[i] = *reinterpret_cast<const unsigned long long *>(data.at(p + i * size));
    GMPI_UNROLL
    for (std::uint32_t i = 0; i < at_once; ++i) {
      const std::uint32_t q = at_once > few_at_once ? apart(p + i * size) : p + i * size;
      if (q < whole)
        store_packet(window.place(q), values[i], window.lap_at(q));
    }
  }
}

/// One member's share of writing the message's slots from number `low` to before `high`.
GMPI_DEVICE void write_packets(const Transfer &t, unsigned long long low, unsigned long long high,
                               std::uint32_t rank, std::uint32_t size) {
  const Window window(t, low, high);
  const DataWindow data(t.data, low, t.header.bytes);
  const std::uint32_t headers = low == 0 ? header_packets : 0;
  GMPI_NO_UNROLL
  for (std::uint32_t p = rank; p < headers; p += size)
    store_packet(window.place(p), pack_header(t.header, p), window.lap_at(p));
  const std::uint32_t whole = data.whole(window.count), begin = first_from(headers, rank, size);
  if (whole <= few_at_once * size)
    write_whole<few_at_once>(window, data, begin, whole, size);
  else
    write_whole<many_at_once>(window, data, begin, whole, size);
  const std::uint32_t p = first_from(whole > headers ? whole : headers, rank, size);
  if (p < window.count)
    write_any(t, low, high, p, size);
}

GMPI_OUT_OF_LINE void write_share(const Transfer &t, unsigned long long low,
                                  unsigned long long high, std::uint32_t rank, std::uint32_t size) {
  write_packets(t, low, high, rank, size);
}

/// Waits for a packet of a message that is under way: its sender has all it needs to write it.
GMPI_DEVICE std::uint64_t await_packet(const std::uint64_t *from, std::uint32_t lap) {
  for (;;) {
    Packet packet = Packet::load(from);
    if (packet.shows(lap))
      return packet.data();
    relax();
  }
}

/// Reads packets from `p` on whose data goes wherever it may, or not all of it.
GMPI_OUT_OF_LINE void read_any(const Transfer &t, unsigned long long low, unsigned long long high,
                               std::uint32_t p, std::uint32_t size) {
  constexpr int at_once = 4;
  const Window window(t, low, high);
  const DataWindow data(t.data, low, t.readable());
  GMPI_NO_UNROLL
  for (; p < window.count; p += at_once * size) {
    Packet packets[at_once];
    GMPI_UNROLL
    for (int i = 0; i < at_once; ++i)
      if (p + i * size < window.count)
        packets[i] = Packet::load(window.place(p + i * size));
    GMPI_UNROLL
    for (int i = 0; i < at_once; ++i) {
      const std::uint32_t q = p + i * size;
      if (q >= window.count)
        break;
      const std::uint32_t lap = window.lap_at(q);
      std::uint64_t value =
          packets[i].shows(lap) ? packets[i].data() : await_packet(window.place(q), lap);
      store_data(data.at(q), data.left(q), value);
    }
  }
}

/// Reads the same.
template <std::uint32_t at_once>
GMPI_DEVICE void read_whole(const Window &window, const DataWindow &data, std::uint32_t p,
                            std::uint32_t whole, std::uint32_t size) {
  GMPI_NO_UNROLL
  for (; p < whole; p += at_once * size) {
    Packet packets[at_once];
    GMPI_UNROLL
    for (std::uint32_t i = 0; i < at_once; ++i)
      if (p + i * size < whole)
        packets[i] = Packet::load(window.place(p + i * size));
    GMPI_UNROLL
    for (std::uint32_t i = 0; i < at_once; ++i) {
      const std::uint32_t q = at_once > few_at_once ? apart(p + i * size) : p + i * size;
      if (q >= whole)
        break;
      const std::uint32_t lap = window.lap_at(q);
      *reinterpret_cast<unsigned long long *>(data.at(q)) =
          packets[i].shows(lap) ? packets[i].data() : await_packet(window.place(q), lap);
    }
  }
}

/// What the packets of a dense message bring, wherever it goes, and if not all of it does.
struct DenseData {
  unsigned char *to;
  unsigned long long bytes; ///< that there is room for
  std::uint32_t bundles;    ///< of the message

  /// Up to `most` bytes of `value`, 4 or 8, for place `at` of the data.
  GMPI_DEVICE void store(unsigned long long at, std::uint32_t most, std::uint64_t value) const {
    if (at >= bytes)
      return;
    const unsigned long long left = bytes - at < most ? bytes - at : most;
    if (left == 4 && (reinterpret_cast<std::uint64_t>(to + at) & 3) == 0)
      *reinterpret_cast<std::uint32_t *>(to + at) = static_cast<std::uint32_t>(value);
    else
      store_data(to + at, left, value);
  }
  /// What packet `number`, counted from the first bundle's first, brings.
  GMPI_DEVICE void store(std::uint32_t number, const DensePacket &packet) const {
    const std::uint32_t row = number / 32 % 4;
    const unsigned long long at = number / bundle_packets * bundle_bytes + number % 32 * 16;
    if (row < 3) {
      store(at + row * 512, 8, packet.word);
      store(at + row * 512 + 8, 4, packet.half);
    } else {
      store(at + 12, 4, packet.word);
      store(at + 512 + 12, 4, packet.word >> 32);
      store(at + 1024 + 12, 4, packet.half);
    }
  }
};

/// Reads the packets of a dense message, wherever its data goes, and if not all of it does.
GMPI_OUT_OF_LINE void read_dense_any(const Transfer &t, unsigned long long low,
                                     unsigned long long high, std::uint32_t p, std::uint32_t size) {
  constexpr std::uint32_t at_once = 4;
  const Window window(t, low, high);
  const auto skipped = static_cast<std::uint32_t>(low * slot_packets); // packets before `low`
  const DenseData data{t.data, t.readable(),
                       static_cast<std::uint32_t>(t.header.bytes / bundle_bytes)};
  const std::uint32_t in_bundles = data.bundles * bundle_packets;
  GMPI_NO_UNROLL
  for (; p < window.count; p += at_once * size) {
    DensePacket found[at_once];
    GMPI_UNROLL
    for (std::uint32_t i = 0; i < at_once; ++i)
      if (p + i * size < window.count)
        found[i] = DensePacket::load(window.place(p + i * size));
    GMPI_UNROLL
    for (std::uint32_t i = 0; i < at_once; ++i) {
      const std::uint32_t q = p + i * size;
      if (q >= window.count)
        break;
      if (skipped + q < dense_head)
        continue;
      const std::uint32_t number = skipped + q - dense_head, lap = window.lap_at(q);
      if (number >= in_bundles) {
        data.store(data.bundles * bundle_bytes + (number - in_bundles) * packet_bytes, packet_bytes,
                   await_packet(window.place(q), lap));
        continue;
      }
      while (!found[i].shows(lap)) {
        relax();
        found[i] = DensePacket::load(window.place(q));
      }
      data.store(number, found[i]);
    }
  }
}

/// One member's share of reading a dense message: in bundles, if that can be done.
GMPI_OUT_OF_LINE void read_dense(const Transfer &t, unsigned long long low, unsigned long long high,
                                 std::uint32_t rank, std::uint32_t size) {
  const Window window(t, low, high);
  if (size < 32 || low != 0 || window.count != dense_packets_for(t.header.bytes) ||
      t.room < t.header.bytes || !is_in_eights(t.data))
    return read_dense_any(t, low, high, rank, size);
  const Bundles bundles{window.place(dense_head), t.data,
                        static_cast<std::uint32_t>(t.header.bytes / bundle_bytes), window.lap};
  carry_bundles<true>(bundles, rank, size, [] {});
  const std::uint32_t behind = dense_head + bundles.count * bundle_packets;
  const std::uint32_t at = bundles.count * bundle_bytes;
  GMPI_NO_UNROLL
  for (std::uint32_t p = behind + rank; p < window.count; p += size) {
    const std::uint32_t place = at + (p - behind) * packet_bytes;
    store_data(t.data + place, t.header.bytes - place,
               await_packet(window.place(p), window.lap_at(p)));
  }
}

/// One member's share of giving slots back; all have been read, and a barrier lies between.
GMPI_DEVICE void free_share(std::uint32_t *freed, unsigned long long first, unsigned long long end,
                            std::uint32_t rank, std::uint32_t size) {
  GMPI_NO_UNROLL
  for (unsigned long long slot = first + rank; slot < end; slot += size)
    store_relaxed_system(freed + slot % channel_slots, lap_of(slot));
}

/// Slots of a channel that a message has: from number `first` on; `after`: as in its header.
struct Slots {
  unsigned long long first, after;
};

/// The next `slots` slots of the common channel to `peer`; they may not be free yet.
GMPI_DEVICE Slots take_slots(State &state, std::uint32_t peer, unsigned long long slots) {
  unsigned long long word = add_relaxed_device(&state.sending[peer].next, slots);
  return {common_of(word), owned_of(word)};
}

/// Whether the receiver has freed slot number `slot` as often as its next use needs.
GMPI_DEVICE bool is_free(const std::uint32_t *freed, unsigned long long slot) {
  return load_relaxed_system(freed + slot % channel_slots) >= lap_of(slot) - 1;
}

/// Whether all slots from `first` to before `end` are free; one thread looks.
GMPI_OUT_OF_LINE bool are_free(const std::uint32_t *freed, unsigned long long first,
                               unsigned long long end) {
  constexpr int at_once = 8;
  bool all = true;
  GMPI_NO_UNROLL
  for (unsigned long long slot = first; all && slot < end; slot += at_once) {
    bool free[at_once];
    GMPI_UNROLL
    for (int i = 0; i < at_once; ++i)
      free[i] = is_free(freed, slot + i < end ? slot + i : slot);
    GMPI_UNROLL
    for (int i = 0; i < at_once; ++i)
      all = all && free[i];
  }
  return all;
}

/// Slots from `first` to before `end` have been found free. Others look from there on, unless
/// earlier ones are not known to be: they may have been taken.
GMPI_DEVICE void note_free(Line &line, unsigned long long first, unsigned long long end) {
  if (load_relaxed_device(&line.free_until) >= first)
    atomicMax(&line.free_until, end);
}

/// The same, for what is taken next: looks a little ahead from what is known, and notes that.
GMPI_OUT_OF_LINE bool find_free(State &state, std::uint32_t channel, unsigned long long end) {
  constexpr int at_once = 8;
  constexpr unsigned long long ahead = 8;
  Line &line = state.sending[channel];
  const std::uint32_t *freed = state.channels[channel].out_freed;
  const unsigned long long known = load_relaxed_device(&line.free_until);
  unsigned long long slot = known;
  bool more = true;
  GMPI_NO_UNROLL
  while (more && slot < end + ahead) {
    bool free[at_once];
    GMPI_UNROLL
    for (int i = 0; i < at_once; ++i)
      free[i] = is_free(freed, slot + i);
    GMPI_UNROLL
    for (int i = 0; i < at_once; ++i) {
      more = more && free[i];
      slot += more;
    }
  }
  if (slot != known)
    atomicMax(&line.free_until, slot);
  return slot >= end;
}

/// Four slots' words that say how often they have been freed.
struct FreedFour {
  std::uint64_t low, high;

  GMPI_DEVICE static FreedFour load(const std::uint32_t *from) {
    FreedFour words;
    load_whole(reinterpret_cast<const std::uint64_t *>(from), words.low, words.high);
    return words;
  }
  GMPI_DEVICE std::uint32_t word(std::uint32_t i) const {
    return static_cast<std::uint32_t>((i < 2 ? low : high) >> i % 2 * 32);
  }
  /// How many have been as often as `lap`, one behind the other.
  GMPI_DEVICE std::uint32_t count(std::uint32_t lap) const {
    std::uint32_t all = 0;
    GMPI_UNROLL
    for (std::uint32_t i = 0; i < 4; ++i)
      all += all == i && word(i) >= lap;
    return all;
  }
  GMPI_DEVICE bool are_all(std::uint32_t lap) const {
    return (word(0) >= lap) & (word(1) >= lap) & (word(2) >= lap) & (word(3) >= lap);
  }
  /// Those before number `i` are not asked about.
  GMPI_DEVICE void pass(std::uint32_t i) {
    low |= i == 0 ? 0 : i == 1 ? 0xffffffffu : ~std::uint64_t(0);
    high |= i == 3 ? 0xffffffffu : 0;
  }
};

/// The same by a warp, whole; the answer is for all its lanes.
GMPI_OUT_OF_LINE bool find_free_as_warp(State &state, std::uint32_t channel, unsigned long long end,
                                        std::uint32_t lane) {
  constexpr std::uint32_t most = 8;    // looks of each lane, which are under way together,
  constexpr std::uint32_t at_once = 4; // at so many slots
  constexpr std::uint32_t row = 32 * at_once;
  static_assert(channel_slots % at_once == 0);
  Line &line = state.sending[channel];
  const std::uint32_t *freed = state.channels[channel].out_freed;
  const unsigned long long known =
      __shfl_sync(0xffffffffu, load_relaxed_device(&line.free_until), 0);
  unsigned long long slot = known / at_once * at_once, until;
  GMPI_NO_UNROLL
  for (;;) {
    const std::uint32_t looks = slot + row < end ? most : 1;
    const unsigned long long own = slot + lane * at_once;
    FreedFour found[most];
    GMPI_UNROLL
    for (std::uint32_t i = 0; i < most; ++i)
      if (i < looks)
        found[i] = FreedFour::load(freed + (own + i * row) % channel_slots);
    if (own < known) // the first lane's in the first turn
      found[0].pass(static_cast<std::uint32_t>(known - own));
    until = slot; // so far they are free
    GMPI_UNROLL
    for (std::uint32_t i = 0; i < most; ++i) {
      const std::uint32_t lap = lap_of(own + i * row) - 1;
      const unsigned taken = ~__ballot_sync(0xffffffffu, i < looks && found[i].are_all(lap));
      if (until != slot + i * row)
        continue;
      if (taken == 0) {
        until += row;
      } else if (i < looks) {
        const std::uint32_t first = static_cast<std::uint32_t>(__ffs(static_cast<int>(taken))) - 1;
        until += first * at_once + __shfl_sync(0xffffffffu, found[i].count(lap), first);
      }
    }
    if (until < slot + looks * row || until >= end)
      break;
    slot = until;
  }
  if (lane == 0 && until > known)
    atomicMax(&line.free_until, until);
  return until >= end;
}

/// For statistics. `bytes`: sent.
GMPI_DEVICE void count_call(State &state, unsigned long long bytes) {
  increase_relaxed_device(&state.calls, 1);
  increase_relaxed_device(&state.bytes, bytes);
}

} // namespace gmpi::device::peer
