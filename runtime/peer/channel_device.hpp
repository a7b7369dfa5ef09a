// A channel's two ends as kernels use them: taking slots, writing and reading packets, giving slots back.
//
// Invariant: the order of a sender's slot numbers is MPI's order of messages. Who has taken slots writes
// them, sooner or later; who has found a message frees its slots when all of its packets have been read.
#pragma once

#include "../launch/participant_device.hpp"
#include "layout.hpp"

namespace gmpi::device::peer {

using namespace gmpi::peer;

#ifdef PEER_CLOCK
__device__ __forceinline__ unsigned long long *stamps() { __shared__ unsigned long long s[33]; return s; }
__device__ __forceinline__ void stamp(int i) { if (thread_index() == 0) { auto now = clock64(); stamps()[i] += now - stamps()[32]; stamps()[32] = now; } }
__device__ __forceinline__ void reset_stamps() { if (thread_index() < 33) stamps()[thread_index()] = 0; __syncthreads(); if (thread_index() == 0) stamps()[32] = clock64(); }
__device__ __forceinline__ void save_stamps(unsigned long long *out) { __syncthreads(); if (blockIdx.x == 0 && thread_index() < 32) out[thread_index()] = stamps()[thread_index()]; }
#else
#define stamp(i)
#endif
/// What the packets of slot number `slot` carry.
GMPI_DEVICE std::uint32_t lap_of(unsigned long long slot) {
  return static_cast<std::uint32_t>(slot / channel_slots) + 1;
}

GMPI_DEVICE std::uint64_t *packet_at(std::uint64_t *ring, unsigned long long first,
                                     unsigned long long packet) {
  unsigned long long place =
      (first * slot_packets + packet) & (std::uint64_t(channel_slots) * slot_packets - 1);
  return ring + place * packet_words;
}

GMPI_DEVICE void store_packet(std::uint64_t *to, std::uint64_t data, std::uint32_t lap) {
  std::uint64_t mark = std::uint64_t(lap) << 32;
  store_system(to, (data & 0xffffffffu) | mark, data >> 32 | mark);
}

/// A packet as it was loaded.
struct Packet {
  std::uint64_t low, high;

  GMPI_DEVICE static Packet load(const std::uint64_t *from) {
    Packet packet;
    load_system(from, packet.low, packet.high);
    return packet;
  }
  GMPI_DEVICE bool shows(std::uint32_t lap) const {
    return static_cast<std::uint32_t>(low >> 32) == lap &&
           static_cast<std::uint32_t>(high >> 32) == lap;
  }
  GMPI_DEVICE std::uint64_t data() const { return (low & 0xffffffffu) | high << 32; }
};

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
  if (left >= 8 && (reinterpret_cast<std::uint64_t>(to) & 3) == 0) {
    reinterpret_cast<std::uint32_t *>(to)[0] = static_cast<std::uint32_t>(data);
    reinterpret_cast<std::uint32_t *>(to)[1] = static_cast<std::uint32_t>(data >> 32);
    return;
  }
  GMPI_NO_UNROLL
  for (int i = 0; i < 8; ++i)
    if (static_cast<unsigned long long>(i) < left)
      to[i] = static_cast<unsigned char>(data >> 8 * i);
}

/// One member's share of writing the message's slots from number `low` to before `high`.
GMPI_OUT_OF_LINE void write_share(const Transfer &t, unsigned long long low,
                                  unsigned long long high, std::uint32_t rank,
                                  std::uint32_t size) {
  unsigned long long end = high * slot_packets, all = packets_for(t.header.bytes);
  if (t.header.kind == MessageKind::announced)
    all = header_packets;
  if (end > all)
    end = all;
  GMPI_NO_UNROLL
  for (unsigned long long p = low * slot_packets + rank; p < end; p += size) {
    std::uint64_t value;
    if (p < header_packets) {
      value = pack_header(t.header, static_cast<std::uint32_t>(p));
    } else {
      unsigned long long at = (p - header_packets) * packet_bytes;
      value = load_data(t.data + at, t.header.bytes - at);
    }
    store_packet(packet_at(t.ring, t.first, p), value, lap_of(t.first + p / slot_packets));
  }
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

/// One member's share of reading the same.
GMPI_OUT_OF_LINE void read_share(const Transfer &t, unsigned long long low,
                                 unsigned long long high, std::uint32_t rank,
                                 std::uint32_t size) {
  constexpr int at_once = 4;
  unsigned long long end = high * slot_packets, all = packets_for(t.header.bytes);
  if (end > all)
    end = all;
  unsigned long long p = low * slot_packets + rank;
  if (p < header_packets) // they have been read
    p += (header_packets - p + size - 1) / size * size;
  GMPI_NO_UNROLL
  for (; p < end; p += at_once * size) {
    Packet packets[at_once];
    GMPI_UNROLL
    for (int i = 0; i < at_once; ++i)
      if (p + i * size < end)
        packets[i] = Packet::load(packet_at(t.ring, t.first, p + i * size));
    GMPI_UNROLL
    for (int i = 0; i < at_once; ++i) {
      unsigned long long q = p + i * size;
      if (q >= end)
        break;
      std::uint32_t lap = lap_of(t.first + q / slot_packets);
      std::uint64_t value = packets[i].shows(lap)
                                ? packets[i].data()
                                : await_packet(packet_at(t.ring, t.first, q), lap);
      unsigned long long at = (q - header_packets) * packet_bytes;
      if (at < t.room)
        store_data(t.data + at, (t.room < t.header.bytes ? t.room : t.header.bytes) - at, value);
    }
  }
}

/// One member's share of giving slots back; all have been read, and a barrier lies between.
GMPI_DEVICE void free_share(std::uint32_t *freed, unsigned long long first, unsigned long long end,
                            std::uint32_t rank, std::uint32_t size) {
  GMPI_NO_UNROLL
  for (unsigned long long slot = first + rank; slot < end; slot += size)
    store_relaxed_system(freed + slot % channel_slots, lap_of(slot));
}

/// The next `slots` slots of the channel to `peer`; they may not be free yet.
GMPI_DEVICE unsigned long long take_slots(State &state, std::uint32_t peer,
                                          unsigned long long slots) {
  return add_relaxed_device(&state.sending[peer].next, slots);
}

/// Up to which slot number the channel to `peer` is free, `needed` or a little more at most.
GMPI_OUT_OF_LINE unsigned long long look_for_free(State &state, std::uint32_t peer,
                                                  unsigned long long needed) {
  constexpr int at_once = 8;
  constexpr unsigned long long ahead = 64;
  Line &line = state.sending[peer];
  const std::uint32_t *freed = state.peer[peer].out_freed;
  unsigned long long slot = load_relaxed_device(&line.free_until);
  unsigned long long known = slot;
  bool more = true;
  GMPI_NO_UNROLL
  while (more && slot < needed + ahead) {
    std::uint32_t laps[at_once];
    GMPI_UNROLL
    for (int i = 0; i < at_once; ++i)
      laps[i] = load_relaxed_system(freed + (slot + i) % channel_slots);
    GMPI_UNROLL
    for (int i = 0; i < at_once; ++i) {
      more = more && laps[i] >= lap_of(slot) - 1; // so far all were free: laps[i] is this slot's
      slot += more;
    }
  }
  if (slot != known)
    atomicMax(&line.free_until, slot);
  return slot;
}

} // namespace gmpi::device::peer
