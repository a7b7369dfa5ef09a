// Rounds from memory to records, and back.
#include "relay_rounds.hpp"

#include <algorithm>

namespace gmpi::peer {

/// This rank's part of the round after done_.
RelayRounds::Part RelayRounds::copy_part() {
  const std::uint32_t round = done_ + 1;
  std::uint64_t *from = part_of(round, rank_);
  if (begun_ != round && !load_packet(from, round, follow_))
    return Part::none;
  part_.resize(follow_);
  for (std::uint64_t p = follow_; p-- > 0;) {
    std::uint64_t *at = from + (1 + p) * packet_words;
    if (load_packet(at, round, part_[p]))
      continue;
    const auto shown = static_cast<std::uint32_t>(__atomic_load_n(at, __ATOMIC_RELAXED) >> 32);
    return static_cast<std::int32_t>(shown - round) > 0 ? Part::gone : Part::some;
  }
  return Part::whole;
}

void RelayRounds::tell(const std::vector<RelayOutbox *> &others, bool with_part) {
  const auto count = static_cast<std::uint32_t>(with_part ? part_.size() : 0);
  for (RelayOutbox *outbox : others) {
    std::copy_n(part_.begin(), count, outbox->room(count, true));
    outbox->add({RelayRecord::round, context_, done_ + 1, count, rank_});
  }
}

bool RelayRounds::collect(const std::vector<RelayOutbox *> &others) {
  const Part part = copy_part();
  if (part == Part::none || (part == Part::some && begun_ != done_))
    return false;
  const bool told = begun_ != done_;
  begun_ = done_ + 1;
  if (part == Part::whole || !told)
    tell(others, part == Part::whole);
  if (part != Part::some)
    done_ = begun_;
  return true;
}

void RelayRounds::deliver(const RelayRecord &record, const std::uint64_t *data) {
  const auto round = static_cast<std::uint32_t>(record.first);
  std::uint64_t *to = part_of(round, record.more);
  store_packets(to + packet_words, record.count, round, data);
  store_packet(to, record.count, round);
}

} // namespace gmpi::peer
