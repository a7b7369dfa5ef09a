// From memory to records, and back.
#include "relay_link.hpp"

#include <algorithm>

namespace gmpi::peer {

namespace {

/// Slots that are looked at each time, of those that have been delivered and not freed: the first
/// ones, and as many of the others in turn.
constexpr unsigned long long slots_at_once = 256;

/// Calls on(ring, first, count, lap) for those of `count` packets, from number `from` on, that are
/// in one slot, slot by slot, until that returns false: packet `first` of all lies at `ring`.
/// Packets are counted from slot number `slot` on.
template <class On>
bool for_each_slot(std::uint64_t *ring, unsigned long long slot, std::uint64_t from,
                   std::uint64_t count, On on) {
  for (const std::uint64_t end = from + count; from != end;) {
    const std::uint64_t in_slot = std::min(end - from, slot_packets - from % slot_packets);
    if (!on(packet_at(ring, slot, from), from, in_slot, lap_of(slot + from / slot_packets)))
      return false;
    from += in_slot;
  }
  return true;
}

/// Copies the first `count` packets from slot number `first` on; false where not all are there.
bool copy_packets(std::uint64_t *ring, unsigned long long first, std::uint64_t count,
                  std::uint64_t *to) {
  auto copy = [to](const std::uint64_t *from, std::uint64_t p, std::uint64_t in_slot,
                   std::uint32_t lap) { return load_packets(from, in_slot, lap, to + p); };
  return for_each_slot(ring, first, count - 1, 1, copy) && // most often the last that is missing
         for_each_slot(ring, first, 0, count, copy);
}

/// Writes these, the first ones last.
void write_packets(std::uint64_t *ring, unsigned long long first, std::uint64_t count,
                   const std::uint64_t *data) {
  auto store = [data](std::uint64_t *to, std::uint64_t p, std::uint64_t in_slot,
                      std::uint32_t lap) {
    store_packets(to, in_slot, lap, data + p);
    return true;
  };
  const std::uint64_t headers = std::min<std::uint64_t>(count, header_packets);
  for_each_slot(ring, first, headers, count - headers, store);
  for (std::uint64_t p = headers; p-- > 0;)
    for_each_slot(ring, first, p, 1, store);
}

constexpr std::uint32_t wants_answer = 1u << 31;
constexpr std::uint32_t words_for(std::size_t bytes) {
  return static_cast<std::uint32_t>((bytes + sizeof(std::uint64_t) - 1) / sizeof(std::uint64_t));
}

/// So much goes out together at most: it is to be read while more is on its way.
constexpr std::size_t most_together = 2 << 20;
constexpr unsigned long long portions_together = most_together / (portion_slots * raw_slot_bytes),
                             chunks_together = most_together / chunk_bytes;
constexpr std::size_t ring_bytes = Shared::channel_bytes;
/// A message's last portion, or only one, of so much at most, is copied into the records: that is
/// sooner done than one more MPI message.
constexpr std::size_t most_copied = 8192;
static_assert(most_copied < plain_bytes);

/// Where such data lies behind a channel's ring, from slot number `first` on.
std::array<RelayRun, 2> runs_behind(std::uint64_t *ring, std::uint32_t channel,
                                    unsigned long long first, std::size_t bytes) {
  unsigned char *const begin = reinterpret_cast<unsigned char *>(ring) + ring_bytes;
  const std::size_t at = first % channel_slots * raw_slot_bytes + plain_head;
  const std::size_t before = std::min(bytes, ring_bytes - at);
  const unsigned long long behind = first + slots_in_portion(bytes);
  return {RelayRun{begin + at, before, channel, first, behind},
          RelayRun{begin, bytes - before, channel, first, behind}};
}

void copy_from(const std::array<RelayRun, 2> &runs, void *to) {
  for (const RelayRun &run : runs)
    to = std::copy_n(run.data, run.bytes, static_cast<unsigned char *>(to));
}
void copy_to(const std::array<RelayRun, 2> &runs, const void *from) {
  auto *its = static_cast<const unsigned char *>(from);
  for (const RelayRun &run : runs) {
    std::copy_n(its, run.bytes, run.data);
    its += run.bytes;
  }
}

RelayRun run_of_place(std::uint64_t *places, const Header &header) {
  const WideUse use = WideUse::of(header.serial);
  return {place_at(places, use.token), header.bytes, RelayRecord::places, use.slot(),
          use.slot() + 1};
}
constexpr std::size_t places_bytes = std::size_t(far_tokens) * far_wide_bytes;
constexpr std::size_t places_freed_bytes = 64; ///< a cache line
static_assert(far_tokens * sizeof(std::uint32_t) <= places_freed_bytes);

RelayRun run_of_chunks(std::uint64_t *ring, unsigned long long first, std::size_t bytes) {
  return {chunk_at(ring, first), bytes, 0, first, first + chunks_for(bytes)};
}
constexpr std::size_t chunks_freed_bytes = stream_chunks * sizeof(std::uint32_t);

} // namespace

std::size_t RelayLink::bytes() {
  return 8 * ring_bytes + 4 * Shared::freed_bytes + 2 * (chunk_ring_bytes + chunks_freed_bytes) +
         2 * (places_bytes + places_freed_bytes) + Shared::acks_bytes;
}

RelayLink::RelayLink(unsigned char *memory, std::uint64_t *far_acks, std::uint64_t *far_news)
    : far_acks_(far_acks), far_news_(far_news) {
  auto take = [&](std::size_t bytes) { return std::exchange(memory, memory + bytes); };
  auto ring = [&] { // and the memory behind it
    return reinterpret_cast<std::uint64_t *>(take(2 * ring_bytes));
  };
  auto freed = [&] { return reinterpret_cast<std::uint32_t *>(take(Shared::freed_bytes)); };
  for (End &end : ends_) {
    end.channel.out = ring();
    end.channel.in = ring();
    end.channel.out_freed = freed();
    end.channel.in_freed = freed();
    end.told.resize(channel_slots);
  }
  auto take_channel = [&](std::size_t ring, std::size_t counts) {
    auto words = [&] { return reinterpret_cast<std::uint64_t *>(take(ring)); };
    auto numbers = [&] { return reinterpret_cast<std::uint32_t *>(take(counts)); };
    return Channel{words(), numbers(), words(), numbers()}; // in this order
  };
  stream_ = take_channel(chunk_ring_bytes, chunks_freed_bytes);
  places_ = take_channel(places_bytes, places_freed_bytes);
  acks_ = reinterpret_cast<std::uint64_t *>(take(Shared::acks_bytes));
}

Channel RelayLink::channel(bool owned) const { return ends_[owned].channel; }

bool RelayLink::collect(RelayOutbox &outbox) {
  bool any = false;
  for (End &end : ends_) {
    any |= collect_freed(end, outbox);
    any |= collect_messages(end, outbox);
  }
  any |= collect_chunks(outbox);
  any |= collect_places(outbox);
  return collect_answers(outbox) || any;
}

bool RelayLink::collect_messages(End &end, RelayOutbox &outbox) {
  bool any = false;
  for (Portions &portions : end.portions)
    any |= collect_portions(end, portions, outbox);
  for (;;) {
    std::uint64_t words[header_packets];
    if (!copy_packets(end.channel.out, end.next, header_packets, words))
      break;
    const Header header = unpack_header(words[0], words[1], words[2]);
    if (is_placed(header)) {
      if (!collect_placed(end, header, outbox))
        break;
      any = true;
    } else if (is_in_portions(header)) {
      end.portions.push_back({end.next, header});
      counts_.messages += header.kind == MessageKind::eager;
      counts_.bytes += header.bytes;
      any |= collect_portions(end, end.portions.back(), outbox);
    } else if (!collect_message(end, header, outbox)) {
      break;
    } else {
      any = true;
    }
    end.next += carried_slots(header);
  }
  std::erase_if(end.portions, [](const Portions &p) { return p.collected == p.slots(); });
  return any;
}

/// A message that is not long, as a whole.
bool RelayLink::collect_message(End &end, const Header &header, RelayOutbox &outbox) {
  const auto packets = static_cast<std::uint32_t>(packets_of(header));
  std::uint64_t *words = outbox.room(packets);
  if (words == nullptr || !copy_packets(end.channel.out, end.next, packets, words))
    return false;
  const std::uint32_t awaited =
      header.kind == MessageKind::eager
          ? 0
          : wants_answer | std::uint32_t(header.request) << 16 | header.serial;
  outbox.add({RelayRecord::packets, is_owned(end), end.next, packets, awaited});
  ++counts_.messages;
  counts_.bytes += header.kind == MessageKind::announced ? 0 : header.bytes;
  return true;
}

/// A wide message: its data is there, in its token's place.
bool RelayLink::collect_placed(const End &end, const Header &header, RelayOutbox &outbox) {
  std::uint64_t *words = outbox.takes_runs(RunsOf::channel) ? outbox.room(header_packets) : nullptr;
  if (words == nullptr)
    return false;
  for (std::uint32_t p = 0; p < header_packets; ++p) // once more: this acquires the data
    load_packet<__ATOMIC_ACQUIRE>(packet_at(end.channel.out, end.next, p), lap_of(end.next),
                                  words[p]);
  outbox.add({RelayRecord::placed, is_owned(end), end.next, header_packets,
              static_cast<std::uint32_t>(header.bytes)});
  outbox.add_run(RunsOf::channel, run_of_place(places_.out, header));
  ++counts_.messages;
  counts_.bytes += header.bytes;
  return true;
}

/// Uses of places from there that are over.
bool RelayLink::collect_places(RelayOutbox &outbox) {
  bool any = false;
  for (std::uint32_t token = 0; token < far_tokens; ++token) {
    const std::uint32_t number = __atomic_load_n(places_.in_freed + token, __ATOMIC_ACQUIRE);
    if (number == returned_[token] || outbox.room(0) == nullptr)
      continue;
    returned_[token] = number;
    outbox.add({RelayRecord::freed, RelayRecord::places, WideUse{token, number}.slot(), 1, 0});
    any = true;
  }
  return any;
}

bool RelayLink::collect_portions(End &end, Portions &portions, RelayOutbox &outbox) {
  const Header &header = portions.header;
  const unsigned long long all = portions.slots(), each = slots_of_portion(header);
  auto is_there = [&](unsigned long long low) {
    const unsigned long long slot = portions.first + low;
    std::uint64_t word;
    return low < all &&
           load_packet<__ATOMIC_ACQUIRE>(packet_at(end.channel.out, slot, 0), lap_of(slot), word);
  };
  bool any = false;
  while (portions.collected != all) {
    const unsigned long long low = portions.collected;
    const bool copies = portion_bytes(header, low) <= most_copied; // it is the last
    if (!copies && !outbox.takes_runs(RunsOf::channel))
      break;
    unsigned long long last = low;
    while (last - low < portions_together * portion_slots && is_there(last))
      last += each;
    if (last == low)
      break;
    last -= each;
    const std::size_t bytes = (last - low) * raw_slot_bytes + portion_bytes(header, last);
    const std::uint32_t packets = low == 0 ? header_packets : 1;
    const std::uint32_t count = packets + (copies ? words_for(bytes) : 0);
    std::uint64_t *words = outbox.room(count);
    if (words == nullptr)
      break;
    for (std::uint32_t p = 0; p < packets; ++p)
      words[p] = pack_header(header, p);
    const unsigned long long first = portions.first + low;
    const auto runs = runs_behind(end.channel.out, is_owned(end), first, bytes);
    if (copies)
      copy_from(runs, words + packets);
    outbox.add({copies ? RelayRecord::portion : RelayRecord::portions, is_owned(end), first, count,
                static_cast<std::uint32_t>(bytes)});
    for (const RelayRun &run : runs)
      if (run.bytes != 0 && !copies)
        outbox.add_run(RunsOf::channel, run);
    portions.collected = std::min(all, last + each);
    any = true;
  }
  return any;
}

bool RelayLink::collect_freed(End &end, RelayOutbox &outbox) {
  const unsigned long long near = std::min(end.end, end.front + slots_at_once);
  bool any = collect_freed(end, end.front, near, outbox);
  if (near != end.end) {
    end.looked = end.looked < near || end.looked >= end.end ? near : end.looked;
    const unsigned long long to = std::min(end.end, end.looked + slots_at_once);
    any |= collect_freed(end, end.looked, to, outbox);
    end.looked = to;
  }
  while (end.front != end.end && end.told[end.front % channel_slots] == lap_of(end.front))
    ++end.front;
  return any;
}

bool RelayLink::collect_freed(End &end, unsigned long long from, unsigned long long to,
                              RelayOutbox &outbox) {
  auto is_new = [&](unsigned long long slot) {
    const std::size_t place = slot % channel_slots;
    return end.told[place] != lap_of(slot) &&
           __atomic_load_n(end.channel.in_freed + place, __ATOMIC_ACQUIRE) == lap_of(slot);
  };
  bool any = false;
  while (from != to) {
    if (!is_new(from)) {
      ++from;
      continue;
    }
    if (outbox.room(0) == nullptr)
      break;
    const unsigned long long first = from;
    for (; from != to && is_new(from); ++from)
      end.told[from % channel_slots] = lap_of(from);
    outbox.add(
        {RelayRecord::freed, is_owned(end), first, static_cast<std::uint32_t>(from - first), 0});
    any = true;
  }
  return any;
}

bool RelayLink::collect_answers(RelayOutbox &outbox) {
  const std::size_t before = awaited_.size();
  std::erase_if(awaited_, [&](const Awaited &awaited) {
    std::uint64_t *at = ack_at(acks_, awaited.request);
    std::uint64_t word = 0;
    if (!load_packet(at, lap_of_serial(awaited.serial), word))
      return false;
    Match match = unpack_match(word);
    const bool streams = match.number == 0 && match.place == streamed_place;
    std::uint64_t second = 0; // the first chunk, or how far behind an offer's begin
    if ((streams || match.number != 0) &&
        !load_packet(at + packet_words, lap_of_serial(awaited.serial), second))
      return false;
    const std::uint32_t words = streams ? 2 : 1;
    std::uint64_t *to = outbox.room(words);
    if (to == nullptr)
      return false;
    if (!streams)
      match.place = match.number = 0; // the sender's kernels do not reach this host's memory
    to[0] = pack_match(match);
    if (streams)
      to[1] = second;
    outbox.add({RelayRecord::match, awaited.request, awaited.serial, words, 0});
    for (std::uint32_t i = 0; i < ack_packets; ++i)
      store_packet(at + i * packet_words, 0, 0);
    return true;
  });
  return awaited_.size() != before;
}

bool RelayLink::collect_chunks(RelayOutbox &outbox) {
  bool any = false;
  while (outbox.takes_runs(RunsOf::stream)) {
    const unsigned long long first = next_chunk_;
    const unsigned long long end =
        std::min(first + chunks_together, (first / stream_chunks + 1) * stream_chunks);
    std::size_t bytes = 0;
    std::uint64_t its = chunk_bytes; // the last of a message is shorter
    while (next_chunk_ != end && its == chunk_bytes &&
           load_packet<__ATOMIC_ACQUIRE>(packet_of_chunk(stream_.out, next_chunk_),
                                         lap_of_chunk(next_chunk_), its)) {
      bytes += its;
      ++next_chunk_;
    }
    if (bytes == 0 || outbox.room(0) == nullptr) {
      next_chunk_ = first;
      break;
    }
    outbox.add({RelayRecord::chunks, 0, first, 0, static_cast<std::uint32_t>(bytes)});
    outbox.add_run(RunsOf::stream, run_of_chunks(stream_.out, first, bytes));
    counts_.bytes += bytes;
    any = true;
  }
  return any;
}

void RelayLink::note_sent(const RelayRun &chunks) {
  for (unsigned long long number = chunks.first; number != chunks.behind; ++number)
    __atomic_store_n(stream_.out_freed + place_of_chunk(number), lap_of_chunk(number),
                     __ATOMIC_RELEASE);
}

bool RelayLink::has_room(const RelayRecord &record) const {
  if (record.what != RelayRecord::chunks)
    return true; // whoever has sent them knows
  const unsigned long long behind = record.first + chunks_for(record.more);
  for (unsigned long long number = record.first; number != behind; ++number)
    if (__atomic_load_n(stream_.in_freed + place_of_chunk(number), __ATOMIC_ACQUIRE) !=
        lap_of_chunk(number) - 1)
      return false;
  return true;
}

void RelayLink::deliver_chunks(const RelayRecord &record) {
  std::size_t left = record.more;
  for (unsigned long long number = record.first; left != 0; ++number) {
    const std::size_t its = std::min<std::size_t>(left, chunk_bytes);
    store_packet<__ATOMIC_RELEASE>(packet_of_chunk(stream_.in, number), its, lap_of_chunk(number));
    left -= its;
  }
}

void RelayLink::deliver(const RelayRecord &record, const std::uint64_t *data) {
  if (record.what == RelayRecord::chunks)
    return deliver_chunks(record);
  if (record.what == RelayRecord::match) {
    for (std::uint32_t i = record.count; i-- > 0;)
      store_packet(ack_at(far_acks_, record.where) + i * packet_words, data[i],
                   lap_of_serial(static_cast<std::uint32_t>(record.first)));
    return;
  }
  if (record.what == RelayRecord::freed) {
    const Channel &channel =
        record.where == RelayRecord::places ? places_ : ends_[record.where].channel;
    for (unsigned long long slot = record.first; slot != record.first + record.count; ++slot)
      __atomic_store_n(channel.out_freed + slot % channel_slots, lap_of(slot), __ATOMIC_RELEASE);
    return;
  }
  End &end = ends_[record.where];
  if (record.what == RelayRecord::portions || record.what == RelayRecord::placed)
    return deliver_portions(end, record, data);
  if (record.what == RelayRecord::portion)
    return deliver_portion(end, record, data);
  if ((record.more & wants_answer) != 0)
    awaited_.push_back({record.more >> 16 & (max_requests - 1), record.more & 0xffff});
  write_packets(end.channel.in, record.first, record.count, data);
  note_delivered(end, record.first + (record.count + slot_packets - 1) / slot_packets);
}

void RelayLink::deliver_portion(End &end, RelayRecord record, const std::uint64_t *words) {
  record.count -= words_for(record.more);
  copy_to(runs_behind(end.channel.in, record.where, record.first, record.more),
          words + record.count);
  deliver_portions(end, record, words);
}

void RelayLink::deliver_portions(End &end, const RelayRecord &record, const std::uint64_t *header) {
  const unsigned long long slots =
      record.what == RelayRecord::placed ? 1 : slots_in_portion<std::size_t>(record.more);
  const unsigned long long behind = record.first + slots;
  const bool is_one = unpack_header(header[0], 0, 0).kind == MessageKind::eager;
  for (unsigned long long first = record.first; first < behind;
       first += is_one ? slots : portion_slots)
    for (std::uint32_t p = first == record.first ? record.count : 1; p-- > 0;)
      store_packet<__ATOMIC_RELEASE>(packet_at(end.channel.in, first, p), header[p], lap_of(first));
  note_delivered(end, behind);
}

std::array<RelayRun, 2> RelayLink::runs_of(const RelayRecord &record,
                                           const std::uint64_t *data) const {
  if (record.what == RelayRecord::placed)
    return {run_of_place(places_.in, unpack_header(data[0], data[1], data[2])), RelayRun{}};
  if (record.what == RelayRecord::chunks)
    return {run_of_chunks(stream_.in, record.first, record.more), RelayRun{}};
  return runs_behind(ends_[record.where].channel.in, record.where, record.first, record.more);
}

/// All slots before `behind` may have been, that is.
void RelayLink::note_delivered(End &end, unsigned long long behind) {
  end.end = std::max(end.end, behind);
  __atomic_store_n(far_news_, *far_news_ + 1, __ATOMIC_RELEASE); // nobody else writes there
}

} // namespace gmpi::peer
